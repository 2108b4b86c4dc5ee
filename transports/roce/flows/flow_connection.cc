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
  const Places places{make_here(flow, source, true), make_here(flow, sink, false)};
  for (std::uint32_t q = 0; q < flow.qps; ++q) {
    const Draws drawn = draws(chance, q);
    connect_to({}, source, places.at_source, q, end_of(*sink.nic, places.at_sink, q), sink.attributes.max_rd_atomic,
               drawn);
    connect_to({}, sink, places.at_sink, q, end_of(*source.nic, places.at_source, q), source.attributes.max_rd_atomic,
               drawn);
    const bool at_source = flow.asks(true);
    FlowEndpoint& nic = at_source ? *source.nic : *sink.nic;
    if (flow.start != Instant::never()) nic.push_due({flow.start, nic.flows_[at_source ? places.at_source : places.at_sink].lanes[q], true});
  }
  return places;
}

std::size_t FlowConnection::make_here(const FlowConfig& flow, const FlowEnd& end, bool is_source) {
  const std::size_t place = add_flow(flow, *end.nic, is_source);
  end.nic->flows_[place].qp_type = end.qp_type;
  end.nic->has_unanswered_ |= end.qp_type == QpType::kUc;
  for (std::uint32_t q = 0; q < flow.qps; ++q) {
    const Half half = add_lane(end, place, q);
    register_memory(half);
    if (!is_source || flow.asks(is_source)) (*half).messages = flow.messages_of(q);
  }
  return place;
}

// What is due for lanes that have failed is left undone.
std::size_t FlowConnection::make_anew(const FlowEnd& end, std::size_t place) {
  FlowEndpoint& nic = *end.nic;
  FlowEndpoint::Flow& old = nic.flows_[place];
  for (const std::uint32_t l : old.lanes) {
    FlowEndpoint::Lane& lane = nic.lanes_[l];
    lane.failed = true;
    nic.lane_by_qp_[lane.qp.value - nic.first_qpn_] = 0;
    nic.found_ = {};
    nic.roce_.engine().destroy_qp(lane.qp);
    nic.roce_.engine().memory().remove(lane.own_key);
    lane.memory = {};
  }
  old.lanes.clear();
  const FlowConfig config = old.config;
  const bool is_source = old.is_source;
  return make_here(config, end, is_source);
}

FlowConnection::FarEnd FlowConnection::end_of(const FlowEndpoint& nic, std::size_t place, std::uint32_t q) {
  const FlowEndpoint::Lane& lane = nic.lanes_[nic.flows_[place].lanes[q]];
  return {lane.qp.value, lane.own_key, lane.own_address};
}

FlowConnection::Draws FlowConnection::draws(std::uint64_t chance, std::uint32_t q) noexcept {
  return {static_cast<std::uint16_t>(0xC000 | (mix64(chance + q) & 0x3FFF)),
          static_cast<std::uint32_t>(mix64(mix64(chance) + q) & Psn::kMax),
          static_cast<std::uint32_t>(mix64(mix64(chance + 1) + q) & Psn::kMax)};
}

void FlowConnection::connect_to(Instant now, const FlowEnd& end, std::size_t place, std::uint32_t q, const FarEnd& peer,
                                std::uint16_t peer_reads, const Draws& draws) {
  FlowEndpoint& nic = *end.nic;
  FlowEndpoint::Flow& flow = nic.flows_[place];
  FlowEndpoint::Lane& lane = nic.lanes_[flow.lanes[q]];
  lane.peer_address = peer.address;
  lane.peer_key = peer.key;
  QpAttributes a = end.attributes;
  a.access_flags = Access::kRemoteWrite | Access::kRemoteRead;
  a.av = end.av;
  a.av.source_port = draws.port;
  a.dest_qpn = peer.qpn;
  a.sq_psn = flow.is_source ? draws.source_psn : draws.sink_psn;
  a.rq_psn = flow.is_source ? draws.sink_psn : draws.source_psn;
  a.max_rd_atomic = a.max_dest_rd_atomic = std::min(a.max_rd_atomic, peer_reads);
  if (flow.qp_type == QpType::kUc)
    connect_uc(nic.roce_.engine(), lane.qp, a, now);
  else
    connect_rc(nic.roce_.engine(), lane.qp, a, now);
  if (flow.is_source) return;
  lane.first_psn = Psn(a.rq_psn);
  for (std::uint32_t r = 0; r < flow.config.receive_requests(); ++r) nic.post_receive(now, lane);
}

std::size_t FlowConnection::add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source) {
  FlowEndpoint::Flow& made = nic.flows_.emplace_back();
  nic.found_ = {};
  made.config = flow;
  made.received.until = flow.stop;
  made.is_source = is_source;
  return nic.flows_.size() - 1;
}

FlowConnection::Half FlowConnection::add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q) {
  FlowEndpoint& nic = *end.nic;
  FlowEndpoint::Flow& flow = nic.flows_[place];
  const FlowConfig& c = flow.config;
  const bool receives = c.receive_requests() > 0 && !flow.is_source;
  const QpNumber qp = expect(nic.roce_.engine().create_qp({.type = flow.qp_type,
                                                           .domain = kDomain,
                                                           .send_cq = nic.cq_,
                                                           .recv_cq = nic.cq_,
                                                           .max_send_wr = c.asks(flow.is_source) ? c.outstanding : 1,
                                                           .max_recv_wr = receives ? c.receive_requests() : 1,
                                                           .rate_limit = flow.is_source ? c.rate / c.qps : BitRate{},
                                                           .selective_repeat = end.selective_repeat}));
  const auto lane = static_cast<std::uint32_t>(nic.lanes_.size());
  FlowEndpoint::Lane& made = nic.lanes_.emplace_back();
  nic.found_ = {};
  made.flow = static_cast<std::uint32_t>(place);
  made.q = q;
  made.qp = qp;
  if (end.selective_repeat && !flow.is_source) {
    made.slots.resize(c.slots());
    for (std::size_t s = 0; s < made.slots.size(); ++s) made.slots[s].message = s;
  }
  if (flow.qp_type == QpType::kUc && !flow.is_source) made.come = std::make_unique<RecentNumbers>();
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

}  // namespace railyard::roce
