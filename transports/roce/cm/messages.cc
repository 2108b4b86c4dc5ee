#include "transports/roce/cm/messages.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace railyard::roce::cm {
namespace {

template <std::size_t octet, std::size_t width, std::size_t bit = 0>
using At = wire::Field<8 * octet + bit, width>;
template <std::size_t octet, class Octets>
using OctetsAt = wire::OctetField<8 * octet, Octets>;
using Gid = wire::IpAddress;

// `step(field, member)` for each field of a message.
template <std::size_t at, class Step>
void fields_of_path(auto& p, Step step) {
  step(At<at, 16>{}, p.local_lid);
  step(At<at + 2, 16>{}, p.remote_lid);
  step(OctetsAt<at + 4, Gid>{}, p.local_gid);
  step(OctetsAt<at + 20, Gid>{}, p.remote_gid);
  step(At<at + 36, 20>{}, p.flow_label);
  step(At<at + 39, 6, 2>{}, p.packet_rate);
  step(At<at + 40, 8>{}, p.traffic_class);
  step(At<at + 41, 8>{}, p.hop_limit);
  step(At<at + 42, 4>{}, p.sl);
  step(At<at + 42, 1, 4>{}, p.subnet_local);
  step(At<at + 43, 5>{}, p.local_ack_timeout);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, Req>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<8, 64>{}, m.service_id);
  step(At<16, 64>{}, m.local_ca_guid);
  step(At<28, 32>{}, m.local_q_key);
  step(At<32, 24>{}, m.local_qpn);
  step(At<35, 8>{}, m.responder_resources);
  step(At<36, 24>{}, m.local_eecn);
  step(At<39, 8>{}, m.initiator_depth);
  step(At<40, 24>{}, m.remote_eecn);
  step(At<43, 5>{}, m.remote_cm_response_timeout);
  step(At<43, 2, 5>{}, m.transport);
  step(At<43, 1, 7>{}, m.end_to_end_flow_control);
  step(At<44, 24>{}, m.starting_psn);
  step(At<47, 5>{}, m.local_cm_response_timeout);
  step(At<47, 3, 5>{}, m.retry_count);
  step(At<48, 16>{}, m.p_key);
  step(At<50, 4>{}, m.path_mtu);
  step(At<50, 1, 4>{}, m.rdc_exists);
  step(At<50, 3, 5>{}, m.rnr_retry_count);
  step(At<51, 4>{}, m.max_cm_retries);
  step(At<51, 1, 4>{}, m.srq);
  step(At<51, 3, 5>{}, m.extended_transport);
  fields_of_path<52>(m.primary, step);
  fields_of_path<96>(m.alternate, step);
  step(OctetsAt<140, PrivateData<92>>{}, m.private_data);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, Mra>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<4, 32>{}, m.remote_comm_id);
  step(At<8, 2>{}, m.message);
  step(At<9, 5>{}, m.service_timeout);
  step(OctetsAt<10, PrivateData<222>>{}, m.private_data);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, Rej>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<4, 32>{}, m.remote_comm_id);
  step(At<8, 2>{}, m.message);
  step(At<9, 7>{}, m.info_length);
  step(At<10, 16>{}, m.reason);
  step(OctetsAt<12, PrivateData<72>>{}, m.ari);
  step(OctetsAt<84, PrivateData<148>>{}, m.private_data);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, Rep>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<4, 32>{}, m.remote_comm_id);
  step(At<8, 32>{}, m.local_q_key);
  step(At<12, 24>{}, m.local_qpn);
  step(At<16, 24>{}, m.local_eecn);
  step(At<20, 24>{}, m.starting_psn);
  step(At<24, 8>{}, m.responder_resources);
  step(At<25, 8>{}, m.initiator_depth);
  step(At<26, 5>{}, m.target_ack_delay);
  step(At<26, 2, 5>{}, m.failover_accepted);
  step(At<26, 1, 7>{}, m.end_to_end_flow_control);
  step(At<27, 3>{}, m.rnr_retry_count);
  step(At<27, 1, 3>{}, m.srq);
  step(At<28, 64>{}, m.local_ca_guid);
  step(OctetsAt<36, PrivateData<196>>{}, m.private_data);
}
template <class M, class Step>
requires(std::is_same_v<std::remove_const_t<M>, Rtu> ||
         std::is_same_v<std::remove_const_t<M>, Drep>) void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<4, 32>{}, m.remote_comm_id);
  step(OctetsAt<8, PrivateData<224>>{}, m.private_data);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, Dreq>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.local_comm_id);
  step(At<4, 32>{}, m.remote_comm_id);
  step(At<8, 24>{}, m.remote_qpn);
  step(OctetsAt<12, PrivateData<220>>{}, m.private_data);
}

template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, SidrReq>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.request_id);
  step(At<4, 16>{}, m.p_key);
  step(At<8, 64>{}, m.service_id);
  step(OctetsAt<16, PrivateData<216>>{}, m.private_data);
}
template <class M, class Step>
requires std::is_same_v<std::remove_const_t<M>, SidrRep>
void fields(M& m, Step step) {
  step(At<0, 32>{}, m.request_id);
  step(At<4, 8>{}, m.status);
  step(At<5, 8>{}, m.info_length);
  step(At<8, 24>{}, m.qpn);
  step(At<12, 64>{}, m.service_id);
  step(At<20, 32>{}, m.q_key);
  step(OctetsAt<24, PrivateData<72>>{}, m.info);
  step(OctetsAt<96, PrivateData<136>>{}, m.private_data);
}

struct Read {
  const std::byte* body;
  template <class F, class Member>
  void operator()(F, Member& member) const noexcept {
    static_assert(F::kEndOctet <= kMadOctets - Mad::kOctets);
    member = static_cast<Member>(wire::read<F>(body));
  }
};
struct Write {
  std::byte* body;
  template <class F, class Member>
  void operator()(F, const Member& member) const noexcept {
    wire::write<F>(body, static_cast<typename F::Value>(member));
  }
};

template <std::size_t i = 0>
bool read_message(std::uint16_t attribute, const std::byte* body, Message& message) noexcept {
  if constexpr (i == std::variant_size_v<Message>) {
    return false;
  } else {
    using M = std::variant_alternative_t<i, Message>;
    if (attribute != static_cast<std::uint16_t>(M::kAttribute)) return read_message<i + 1>(attribute, body, message);
    fields(message.emplace<M>(), Read{body});
    return true;
  }
}

}  // namespace

std::string_view name(RejReason reason) noexcept {
  switch (reason) {
    case RejReason::kNoQp:
      return "no QP available";
    case RejReason::kNoResources:
      return "no resources available";
    case RejReason::kTimeout:
      return "timeout";
    case RejReason::kUnsupported:
      return "unsupported request";
    case RejReason::kInvalidCommId:
      return "invalid communication ID";
    case RejReason::kInvalidServiceId:
      return "invalid service ID";
    case RejReason::kStaleConnection:
      return "stale connection";
    case RejReason::kInvalidPathMtu:
      return "invalid path MTU";
    case RejReason::kResponderResources:
      return "insufficient responder resources";
    case RejReason::kConsumer:
      return "consumer reject";
  }
  return "other";
}

std::string_view name(const Message& message) noexcept {
  constexpr std::array<std::string_view, std::variant_size_v<Message>> kNames{
      "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};
  return kNames[message.index()];
}

std::string_view name(Malformed reason) noexcept {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Malformed::kCount)> kNames{
      "length", "version", "class", "method", "status", "attribute"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::expected<Datagram, Malformed> decode(std::span<const std::byte> mad) noexcept {
  using wire::read;
  if (mad.size() != kMadOctets) return std::unexpected(Malformed::kLength);
  const std::byte* const at = mad.data();
  if (read<Mad::BaseVersion>(at) != kBaseVersion) return std::unexpected(Malformed::kVersion);
  if (read<Mad::MgmtClass>(at) != kCmClass) return std::unexpected(Malformed::kClass);
  if (read<Mad::ClassVersion>(at) != kCmClassVersion) return std::unexpected(Malformed::kVersion);
  if (read<Mad::Method>(at) != kMethodSend) return std::unexpected(Malformed::kMethod);
  if (read<Mad::Status>(at) != 0) return std::unexpected(Malformed::kStatus);
  Datagram datagram{.transaction_id = read<Mad::TransactionID>(at)};
  if (!read_message(read<Mad::AttributeID>(at), at + Mad::kOctets, datagram.message))
    return std::unexpected(Malformed::kAttribute);
  return datagram;
}

void encode(std::span<std::byte, kMadOctets> out, const Datagram& datagram) noexcept {
  using wire::write;
  std::ranges::fill(out, std::byte{0});
  std::byte* const at = out.data();
  write<Mad::BaseVersion>(at, kBaseVersion);
  write<Mad::MgmtClass>(at, kCmClass);
  write<Mad::ClassVersion>(at, kCmClassVersion);
  write<Mad::Method>(at, kMethodSend);
  write<Mad::TransactionID>(at, datagram.transaction_id);
  std::visit(
      [&](const auto& message) {
        write<Mad::AttributeID>(at, static_cast<std::uint16_t>(message.kAttribute));
        fields(message, Write{at + Mad::kOctets});
      },
      datagram.message);
}

}  // namespace railyard::roce::cm
