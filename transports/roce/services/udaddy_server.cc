#include "transports/roce/services/udaddy_server.h"

#include <utility>

#include "dataplane/base/assert.h"
#include "transports/roce/wire/grh.h"

namespace railyard::roce {
namespace {

// What a completion is of: a place's datagram that went; else one that came.
constexpr std::uint64_t kWent = std::uint64_t{1} << 32;

constexpr ProtectionDomain kDomain{1};

}  // namespace

UdaddyServer::UdaddyServer(ServiceContext& context, std::uint16_t port)
    : context_(context),
      port_(port),
      room_(static_cast<std::uint32_t>(kGrhOctets + octets(context.defaults.path_mtu))),
      memory_(context.engine, kDomain, kPlaces * room_, Access::kLocalWrite) {
  const auto made = context_.engine.create_qp({.type = QpType::kUd,
                                               .domain = kDomain,
                                               .send_cq = context_.cq,
                                               .recv_cq = context_.cq,
                                               .max_send_wr = kPlaces,
                                               .max_recv_wr = kPlaces});
  RAILYARD_ASSERT(made.has_value(), "a NIC has as many QPs as its services need");
  qp_ = *made;
  using enum QpAttribute;
  const QpAttributes a{.q_key = cm::kUdpQKey};
  for (const auto& [to, given] : {std::pair{QpState::kInit, QpAttributeSet{kPKeyIndex, kPort, kQKey}},
                                  {QpState::kRtr, QpAttributeSet{}},
                                  {QpState::kRts, QpAttributeSet{kSqPsn}}}) {
    const auto modified = context_.engine.modify_qp({}, qp_, to, given, a);
    RAILYARD_ASSERT(modified.has_value(), "a UD QP goes to RTS");
  }
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    ways_.push_back(context_.engine.create_ah({}));
    post_receive({}, place);
  }
  context_.connections.serve_datagrams(port_, qp_, cm::kUdpQKey);
}

ServiceCounters UdaddyServer::counters() const noexcept {
  ServiceCounters c = counters_;
  if (const auto* const service = context_.connections.datagram_service(port_)) c.connections = service->asked;
  return c;
}

void UdaddyServer::post_receive(Instant now, std::uint64_t place) {
  static_cast<void>(
      context_.engine.post_recv(now, qp_, {.wr_id = place, .sges = {memory_.piece(place * room_, room_)}}));
}

bool UdaddyServer::on_completion(Instant now, const Completion& c) {
  if (c.qp != qp_) return false;
  if (c.wr_id >= kWent) {
    post_receive(now, c.wr_id - kWent);
  } else if (!c.ok()) {
    if (counters_.failed++ == 0) counters_.status = c.status;
    post_receive(now, c.wr_id);
  } else if (answer(now, c)) {
    ++counters_.rounds;
    counters_.octets += c.octets - kGrhOctets;
    counters_.last = now;
  } else {
    ++counters_.violations;
    post_receive(now, c.wr_id);
  }
  return true;
}

// From where it lies: the place is free again when it has gone.
bool UdaddyServer::answer(Instant now, const Completion& c) {
  if (!c.with_immediate || c.octets < kGrhOctets) return false;
  const auto place = memory_.octets().subspan(c.wr_id * room_, room_);
  const auto addresses = read_grh(place.first<kGrhOctets>());
  if (!addresses) return false;
  const auto way = context_.connections.way(addresses->destination, addresses->source);
  if (!way) return false;
  context_.engine.modify_ah(ways_[c.wr_id], *way);
  return context_.engine
      .post_send(now, qp_,
                 {.wr_id = c.wr_id + kWent,
                  .opcode = SendOpcode::kSendImm,
                  .sges = {memory_.piece(c.wr_id * room_ + kGrhOctets, c.octets - std::uint32_t{kGrhOctets})},
                  .immediate = qp_.value,
                  .ah = ways_[c.wr_id],
                  .remote_qp = QpNumber{c.immediate & 0xFF'FFFF},
                  .remote_q_key = cm::kUdpQKey})
      .has_value();
}

}  // namespace railyard::roce
