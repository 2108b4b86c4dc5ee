#include "transports/roce/flows/flow_connection.h"

#include <algorithm>

#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"
#include "transports/roce/connect_rc.h"

namespace railyard::roce {
namespace {

constexpr ProtectionDomain kDomain{1};
constexpr std::uint64_t kStreamAt = std::uint64_t{1} << 62;  // address of a source's stream
constexpr std::uint64_t kEndless = std::uint64_t{1} << 62;   // octets of one without end
constexpr std::uint64_t kSlotsAt = std::uint64_t{1} << 32;   // address of a sink's slots

template <class T>
auto expect(const T& result) {
  RAILYARD_ASSERT(result.has_value(), "a flow's settings are in range");
  if constexpr (!std::is_void_v<typename T::value_type>) return *result;
}

}  // namespace

// One end of one QP.
struct FlowConnection::Half {
  const FlowEnd* end;
  std::uint32_t lane;

  FlowEndpoint::Lane& operator*() const { return end->nic->lanes_[lane]; }
  FlowEndpoint::Flow& flow() const { return end->nic->flows_[(**this).flow]; }
  Engine& engine() const { return end->nic->roce_.engine(); }
};

FlowConnection::Places FlowConnection::make(const FlowConfig& flow, const FlowEnd& source, const FlowEnd& sink,
                                            std::uint64_t chance) {
  const Places places{add_flow(flow, *source.nic, true), add_flow(flow, *sink.nic, false)};
  for (std::uint32_t q = 0; q < flow.qps; ++q) {
    const Half from = add_lane(source, places.at_source, q);
    const Half to = add_lane(sink, places.at_sink, q);
    register_memory(from);
    register_memory(to);
    (*from).peer_address = (*to).own_address;
    (*from).peer_key = (*to).own_key;
    (*to).peer_address = (*from).own_address;
    (*to).peer_key = (*from).own_key;
    const auto port = static_cast<std::uint16_t>(0xC000 | (mix64(chance + q) & 0x3FFF));
    const auto forth = static_cast<std::uint32_t>(mix64(mix64(chance) + q) & Psn::kMax);
    const auto back = static_cast<std::uint32_t>(mix64(mix64(chance + 1) + q) & Psn::kMax);
    connect(from, to, port, forth, back);
    connect(to, from, port, back, forth);
    const Half& asker = flow.asks(true) ? from : to;
    (*asker).messages = flow.messages_of(q);
    asker.end->nic->push_due({flow.start, asker.lane, true});
    (*to).messages = flow.messages_of(q);
    if (flow.operation != FlowOperation::kSend) continue;
    for (std::uint32_t r = 0; r < flow.receives; ++r) to.end->nic->post_receive(Instant{}, *to);
  }
  return places;
}

std::size_t FlowConnection::add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source) {
  FlowEndpoint::Flow& made = nic.flows_.emplace_back();
  made.config = flow;
  made.is_source = is_source;
  return nic.flows_.size() - 1;
}

FlowConnection::Half FlowConnection::add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q) {
  FlowEndpoint& nic = *end.nic;
  FlowEndpoint::Flow& flow = nic.flows_[place];
  const FlowConfig& c = flow.config;
  const bool receives = c.operation == FlowOperation::kSend && !flow.is_source;
  const QpNumber qp = expect(nic.roce_.engine().create_qp({.type = QpType::kRc,
                                                           .domain = kDomain,
                                                           .send_cq = nic.cq_,
                                                           .recv_cq = nic.cq_,
                                                           .max_send_wr = c.asks(flow.is_source) ? c.outstanding : 1,
                                                           .max_recv_wr = receives ? c.receives : 1,
                                                           .rate_limit = flow.is_source ? c.rate / c.qps : BitRate{},
                                                           .selective_repeat = end.selective_repeat}));
  const auto lane = static_cast<std::uint32_t>(nic.lanes_.size());
  FlowEndpoint::Lane& made = nic.lanes_.emplace_back();
  made.flow = static_cast<std::uint32_t>(place);
  made.q = q;
  made.qp = qp;
  if (end.selective_repeat && !flow.is_source) {
    made.slots.resize(c.slots());
    for (std::size_t s = 0; s < made.slots.size(); ++s) made.slots[s].message = s;
  }
  flow.lanes.push_back(lane);
  nic.lane_by_qp_.resize(std::max<std::size_t>(nic.lane_by_qp_.size(), qp.value - nic.first_qpn_ + 1));
  nic.lane_by_qp_[qp.value - nic.first_qpn_] = lane + 1;
  return {&end, lane};
}

void FlowConnection::register_memory(const Half& half) {
  FlowEndpoint::Lane& lane = *half;
  const FlowEndpoint::Flow& flow = half.flow();
  const FlowConfig& c = flow.config;
  MemoryRegion region{.domain = kDomain};
  if (flow.is_source) {
    region.address = kStreamAt;
    region.octets = c.total.n > 0 ? static_cast<std::uint64_t>(c.total.n) : kEndless;
    region.access = Access::kRemoteRead;
    region.stream = c.id;
  } else {
    region.address = kSlotsAt;
    region.octets = std::uint64_t{c.slots()} * c.message;
    region.access = Access::kLocalWrite | Access::kRemoteWrite;
    if (half.end->nic->has_real_payload()) {
      lane.memory.resize(region.octets);
      region.memory = lane.memory.data();
    }
  }
  lane.own_address = region.address;
  lane.own_key = expect(half.engine().memory().add(region));
}

void FlowConnection::connect(const Half& half, const Half& peer, std::uint16_t port, std::uint32_t sq_psn,
                             std::uint32_t rq_psn) {
  QpAttributes a = half.end->attributes;
  a.access_flags = Access::kRemoteWrite | Access::kRemoteRead;
  a.av = half.end->av;
  a.av.source_port = port;
  a.dest_qpn = (*peer).qp.value;
  a.sq_psn = sq_psn;
  a.rq_psn = rq_psn;
  a.max_rd_atomic = a.max_dest_rd_atomic = std::min(a.max_rd_atomic, peer.end->attributes.max_rd_atomic);
  connect_rc(half.engine(), (*half).qp, a);
}

}  // namespace railyard::roce
