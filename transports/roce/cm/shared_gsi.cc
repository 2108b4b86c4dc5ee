#include "transports/roce/cm/shared_gsi.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "transports/roce/ids.h"
#include "transports/roce/path.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce::cm {
namespace {

// A frame for QP 1, as far as an answer needs it.
struct MadFrame {
  AddressVector back{};
  Datagram datagram{};
};

std::optional<MadFrame> read_frame(std::span<const std::byte> frame, bool icrc_pending) noexcept {
  const std::size_t whole = frame.size() + (icrc_pending ? wire::kIcrcOctets : 0);
  const auto view = wire::parse_frame(frame, whole);
  if (!view || !view->has_bth || view->trimmed || view->l4_offset == 0) return std::nullopt;
  const std::size_t begin = view->l4_offset + std::size_t{wire::Udp::kOctets};
  const std::size_t ip_end = view->l3_offset + std::size_t{view->ip_octets};
  if (ip_end > whole || ip_end < begin + wire::kIcrcOctets || ip_end - wire::kIcrcOctets > frame.size())
    return std::nullopt;
  if (!icrc_pending && !wire::icrc_matches(frame.subspan(view->l3_offset, view->ip_octets))) return std::nullopt;
  const auto packet = roce::decode(frame.subspan(begin, std::min(frame.size(), ip_end) - begin), ip_end - begin);
  if (!packet || packet->bth.opcode != opcode::kUdSendOnly || packet->deth.q_key != kGsiQKey ||
      packet->payload_octets != kMadOctets)
    return std::nullopt;
  const auto datagram = decode(frame.subspan(begin + packet->header_octets(), kMadOctets));
  if (!datagram) return std::nullopt;
  MadFrame read{.datagram = *datagram};
  read.back.source_mac = wire::read<wire::Ethernet::Destination>(frame.data());
  read.back.next_hop_mac = wire::read<wire::Ethernet::Source>(frame.data());
  read.back.source = view->destination;
  read.back.destination = view->source;
  read.back.dscp = 0;
  read.back.ect = false;
  return read;
}

std::vector<std::byte> write_frame(const AddressVector& way, const Datagram& datagram) {
  Packet packet;
  packet.bth.opcode = opcode::kUdSendOnly;
  packet.bth.dest_qp = kGsiQp.value;
  packet.deth = {.q_key = kGsiQKey, .source_qp = kGsiQp.value};
  packet.payload_octets = kMadOctets;
  std::array<std::byte, kMadOctets> mad;
  encode(std::span(mad), datagram);
  std::vector<std::byte> frame(Path::kMostOctets + packet.octets());
  const std::size_t front = Path(way).write(frame.data(), packet.octets());
  frame.resize(front + encode(std::span(frame).subspan(front), packet, mad));
  return frame;
}

// By which communication ID of the receiver's a message goes; nullopt: by its service ID.
std::optional<std::uint32_t> receivers_id(const Message& message) noexcept {
  return std::visit(
      []<class M>(const M& m) -> std::optional<std::uint32_t> {
        if constexpr (std::is_same_v<M, Req> || std::is_same_v<M, SidrReq>)
          return std::nullopt;
        else if constexpr (std::is_same_v<M, SidrRep>)
          return m.request_id;
        else
          return m.remote_comm_id;
      },
      message);
}

std::uint64_t service_of(const Message& message) noexcept {
  if (const auto* const req = std::get_if<Req>(&message)) return req->service_id;
  return std::get<SidrReq>(message).service_id;
}

}  // namespace

std::vector<std::vector<std::byte>> SharedGsi::leave(Owner owner) {
  std::vector<std::vector<std::byte>> frames;
  if (const auto found = owners_.find(owner); found != owners_.end()) {
    for (const auto& [way, dreq] : found->second.ends()) frames.push_back(write_frame(way, {dreq.local_comm_id, dreq}));
    owners_.erase(found);
  }
  claimed_.erase(owner);
  std::erase_if(ports_, [&](const auto& p) { return p.second == owner; });
  return frames;
}

std::expected<std::uint16_t, SharedGsi::ClaimError> SharedGsi::claim(Owner owner, PortSpace space, std::uint16_t port) {
  std::size_t& has = claimed_[owner];
  if (has >= kMostPorts) return std::unexpected(ClaimError::kTooMany);
  constexpr int kPorts = kLastEphemeralPort - kFirstEphemeralPort + 1;
  for (int i = 0; port == 0 && i < kPorts; ++i) {
    if (!ports_.contains(service_id(space, next_port_))) port = next_port_;
    next_port_ = next_port_ == kLastEphemeralPort ? kFirstEphemeralPort : static_cast<std::uint16_t>(next_port_ + 1);
  }
  if (port == 0) return std::unexpected(ClaimError::kNoneFree);
  if (!ports_.try_emplace(service_id(space, port), owner).second) return std::unexpected(ClaimError::kTaken);
  ++has;
  return port;
}

void SharedGsi::release(Owner owner, PortSpace space, std::uint16_t port) {
  const auto found = ports_.find(service_id(space, port));
  if (found == ports_.end() || found->second != owner) return;
  ports_.erase(found);
  --claimed_[owner];
}

// What the peer is told where there is nobody, so that it need not wait: as a kernel does for which no program listens.
std::optional<Message> SharedGsi::refusal(const Message& message) const {
  if (const auto* const req = std::get_if<Req>(&message))
    return Rej{.remote_comm_id = req->local_comm_id,
               .reason = static_cast<std::uint16_t>(RejReason::kInvalidServiceId)};
  if (const auto* const req = std::get_if<SidrReq>(&message))
    return SidrRep{.request_id = req->request_id,
                   .status = static_cast<std::uint8_t>(SidrStatus::kUnsupportedServiceId),
                   .service_id = req->service_id};
  if (const auto* const rep = std::get_if<Rep>(&message))
    return Rej{.local_comm_id = rep->remote_comm_id,
               .remote_comm_id = rep->local_comm_id,
               .message = 1,
               .reason = static_cast<std::uint16_t>(RejReason::kInvalidCommId)};
  if (const auto* const dreq = std::get_if<Dreq>(&message))
    return Drep{.local_comm_id = dreq->remote_comm_id, .remote_comm_id = dreq->local_comm_id};
  return std::nullopt;
}

std::optional<SharedGsi::Owner> SharedGsi::receiver(const Message& message) const {
  if (const auto id = receivers_id(message)) {
    const Owner owner = *id >> kCommIdBits;
    return owners_.contains(owner) ? std::optional(owner) : std::nullopt;
  }
  const auto port = ports_.find(service_of(message));
  return port != ports_.end() ? std::optional(port->second) : std::nullopt;
}

SharedGsi::Verdict SharedGsi::for_frame(std::span<const std::byte> frame, bool icrc_pending) {
  const auto read = read_frame(frame, icrc_pending);
  if (!read) return {};
  const Message& message = read->datagram.message;
  if (const auto owner = receiver(message)) {
    owners_[*owner].came(read->back, message);
    return {.owner = owner, .answer = {}};
  }
  const auto answer = refusal(message);
  if (!answer) return {};
  return {.owner = std::nullopt, .answer = write_frame(read->back, {read->datagram.transaction_id, *answer})};
}

bool SharedGsi::may_send(Owner owner, std::span<const std::byte> frame, bool icrc_pending) {
  const auto read = read_frame(frame, icrc_pending);
  if (!read || !is_own(owner, read->back.source, read->datagram.message)) return false;
  if (const auto known = owners_.find(owner); known != owners_.end())
    known->second.went(read->back.source, read->datagram.message);
  return true;
}

bool SharedGsi::is_own(Owner owner, const wire::IpAddress& peer, const Message& message) const {
  const auto is_asked = [&](std::uint32_t id) {
    const auto known = owners_.find(owner);
    return known != owners_.end() && known->second.is_asked(peer, id);
  };
  const auto own = [&](std::uint32_t id) { return id >> kCommIdBits == owner; };
  return std::visit(
      [&]<class M>(const M& m) {
        if constexpr (std::is_same_v<M, SidrReq>) {
          return own(m.request_id);
        } else if constexpr (std::is_same_v<M, SidrRep>) {
          return is_asked(m.request_id);
        } else if constexpr (std::is_same_v<M, Rej>) {
          return m.local_comm_id == 0 ? is_asked(m.remote_comm_id) : own(m.local_comm_id);
        } else {
          return own(m.local_comm_id);
        }
      },
      message);
}

}  // namespace railyard::roce::cm
