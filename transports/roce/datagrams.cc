#include "transports/roce/datagrams.h"

#include <array>

#include "dataplane/wire/ipv6.h"
#include "transports/roce/gather.h"
#include "transports/roce/wire/grh.h"

namespace railyard::roce {
namespace {

// With it in a send request the QP's own Q_Key goes out.
constexpr std::uint32_t kPrivilegedQKey = 0x80000000;

}  // namespace

std::expected<void, PostError> DatagramSender::post(const SendWr& wr) {
  if (wr.opcode != SendOpcode::kSend && wr.opcode != SendOpcode::kSendImm)
    return std::unexpected(PostError::kNotSupported);
  if (sq_.size() == most_wrs_) return std::unexpected(PostError::kQueueFull);
  if (wr.sges.octets() > nic_.config.port_mtu) return std::unexpected(PostError::kTooLong);
  if (wr.ah.index() >= handles_.size()) return std::unexpected(PostError::kUnknownAddress);
  sq_.push(wr);
  return {};
}

void DatagramSender::reset() noexcept {
  while (!sq_.empty()) sq_.pop();
  failed_ = false;
}

void DatagramSender::flush() noexcept {
  while (!sq_.empty()) complete_oldest(WcStatus::kWrFlushErr);
  failed_ = false;
}

void DatagramSender::complete_oldest(WcStatus status) noexcept {
  const SendWr& wr = sq_.front();
  if (wr.signaled || qp_.signal_all || status != WcStatus::kSuccess)
    qp_.send_cq->push({.wr_id = wr.wr_id, .status = status, .opcode = WcOpcode::kSend, .qp = qp_.number});
  sq_.pop();
}

bool DatagramSender::next(OutPacket& out) {
  if (!ready()) return false;
  const SendWr& wr = sq_.front();
  const auto octets = static_cast<std::uint32_t>(wr.sges.octets());
  const auto payload = gather(nic_.memory, qp_.domain, wr.sges, 0, octets, nic_.bounce);
  if (!payload) {
    complete_oldest(WcStatus::kLocProtErr);
    failed_ = true;
    return false;
  }
  out.path = &handles_[wr.ah.index()];
  out.payload = *payload;
  out.packet = Packet{};
  Packet& packet = out.packet;
  packet.bth = qp_.bth(wr.opcode == SendOpcode::kSendImm ? opcode::kUdSendOnlyImm : opcode::kUdSendOnly, next_);
  packet.bth.dest_qp = wr.remote_qp.value;
  packet.bth.solicited = wr.solicited;
  packet.bth.pad_cnt = pad_octets(octets);
  packet.payload_octets = octets;
  packet.deth = {.q_key = (wr.remote_q_key & kPrivilegedQKey) != 0 ? qp_.attributes.q_key : wr.remote_q_key,
                 .source_qp = qp_.number.value};
  packet.imm_dt.immediate = wr.immediate;
  ++next_;
  complete_oldest(WcStatus::kSuccess);
  return true;
}

std::optional<Drop> receive_datagram(NicState& nic, QpInfo& qp, const Packet& packet, std::span<const std::byte> ip,
                                     const PayloadRef& payload) noexcept {
  if (packet.deth.q_key != qp.attributes.q_key) return Drop::kQKey;
  const RecvWr* const wr = qp.receives->peek();
  if (wr == nullptr) return Drop::kNoReceive;
  const std::uint32_t octets = static_cast<std::uint32_t>(kGrhOctets) + payload.octets;
  if (wr->sges.octets() < octets || payload.octets > nic.config.port_mtu) return Drop::kTooLong;

  std::array<std::byte, kGrhOctets> grh{};
  write_grh(grh, ip);
  const auto wr_taken = *qp.receives->take();
  const ProtectionDomain domain = qp.receives->domain();
  const PayloadRef head{.octets = static_cast<std::uint32_t>(grh.size()), .bytes = grh.data()};
  const bool placed = scatter(nic.memory, domain, wr_taken.sges, 0, head) &&
                      scatter(nic.memory, domain, wr_taken.sges, kGrhOctets, payload);
  const bool immediate = packet.info().headers.has(Header::kImmDt);
  qp.recv_cq->push({.wr_id = wr_taken.wr_id,
                    .status = placed ? WcStatus::kSuccess : WcStatus::kLocProtErr,
                    .opcode = WcOpcode::kRecv,
                    .with_immediate = immediate,
                    .with_grh = true,
                    .ipv6 = wire::read<wire::Ipv6::Version>(ip.data()) == 6,
                    .solicited = packet.bth.solicited,
                    .qp = qp.number,
                    .source_qp = QpNumber{packet.deth.source_qp},
                    .octets = octets,
                    .immediate = packet.imm_dt.immediate,
                    .stream = payload.stream,
                    .offset = payload.offset});
  return placed ? std::nullopt : std::optional(Drop::kRefused);
}

}  // namespace railyard::roce
