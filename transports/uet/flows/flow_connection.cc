#include "transports/uet/flows/flow_connection.h"

#include <algorithm>

#include "dataplane/base/assert.h"

namespace railyard::uet {
namespace {

constexpr ProtectionDomain kDomain{1};
constexpr std::uint64_t kEndless = std::uint64_t{1} << 62;  // octets of a stream without end
constexpr std::uint32_t kMostLanes = 1u << 23;              // half of the numbers that 24 bits have

}  // namespace

FlowConnection::Places FlowConnection::make(const FlowConfig& flow, const FlowEnd& source, const FlowEnd& sink) {
  const Places places{add_flow(flow, *source.nic, true), add_flow(flow, *sink.nic, false)};
  for (std::uint32_t q = 0; q < flow.qps; ++q) {
    const std::uint32_t at_source = add_lane(source, places.at_source, q);
    const std::uint32_t at_sink = add_lane(sink, places.at_sink, q);
    FlowEndpoint::Lane& from = source.nic->lanes_[at_source];
    FlowEndpoint::Lane& to = sink.nic->lanes_[at_sink];
    from.peer_name = sink.nic->name_of(at_sink);
    to.peer_name = source.nic->name_of(at_source);
    from.peer_key = to.own_key;
    to.peer_key = from.own_key;
    from.messages = to.messages = flow.messages_of(q);
    FlowEndpoint& asker = flow.asks(true) ? *source.nic : *sink.nic;
    FlowEndpoint::Lane& asks = flow.asks(true) ? from : to;
    asks.slots.resize(flow.outstanding);
    for (std::uint32_t s = flow.outstanding; s-- > 0;) asks.free.push_back(s);
    if (asks.messages > 0) {
      ++asker.asking_;
      if (flow.start != Instant::never())
        asker.push_due({flow.start, flow.asks(true) ? at_source : at_sink, FlowEndpoint::kStarts});
    }
    if (flow.operation != FlowOperation::kSend) continue;
    for (std::uint32_t r = 0; r < flow.receives; ++r) sink.nic->post_receive(Instant{}, at_sink, r);
  }
  return places;
}

std::size_t FlowConnection::add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source) {
  FlowEndpoint::Flow& made = nic.flows_.emplace_back();
  made.config = flow;
  made.received.until = flow.stop;
  made.is_source = is_source;
  nic.has_datagrams_ |= flow.mode == DeliveryMode::kUud;
  return nic.flows_.size() - 1;
}

std::uint32_t FlowConnection::add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q) {
  FlowEndpoint& nic = *end.nic;
  Engine& engine = nic.uet_.engine();
  const auto number = static_cast<std::uint32_t>(nic.lanes_.size());
  RAILYARD_ASSERT(number < kMostLanes, "a NIC has enough names for its lanes");
  FlowEndpoint::Lane& made = nic.lanes_.emplace_back();
  made.flow = static_cast<std::uint32_t>(place);
  made.q = q;
  made.gaps = engine.config().pacing.jitter_of(number, nic.flows_[place].config.rate / nic.flows_[place].config.qps);
  made.peer = engine.peer(end.av);
  made.data_class = end.data_class;
  const std::uint32_t name = nic.name_of(number);
  made.context = engine.create_context({.job_id = kFlowsJob,
                                        .pid_on_fep = static_cast<std::uint16_t>(name >> 12),
                                        .resource_index = static_cast<std::uint16_t>(name & 0xFFF),
                                        .domain = kDomain,
                                        .cq = nic.cq_});
  nic.lane_by_context_.resize(std::max<std::size_t>(nic.lane_by_context_.size(), made.context.index() + 1));
  nic.lane_by_context_[made.context.index()] = number + 1;
  nic.flows_[place].lanes.push_back(number);
  register_memory(nic, made);
  if (nic.flows_[place].is_source) {
    const std::size_t slot = made.own_key >> 8;  // the rest says how often it was used before
    nic.lane_by_key_.resize(std::max(nic.lane_by_key_.size(), slot + 1));
    nic.lane_by_key_[slot] = number + 1;
  }
  return number;
}

void FlowConnection::register_memory(FlowEndpoint& nic, FlowEndpoint::Lane& lane) {
  const FlowEndpoint::Flow& flow = nic.flows_[lane.flow];
  const FlowConfig& c = flow.config;
  const std::uint64_t stream = c.total.n > 0 ? static_cast<std::uint64_t>(c.total.n) : kEndless;
  MemoryRegion region{.domain = kDomain};
  if (flow.is_source) {
    region.octets = stream;
    region.access = Access::kRemoteRead;
    region.stream = c.id;
  } else if (c.mode == DeliveryMode::kRudi && c.operation == FlowOperation::kWrite) {
    // What comes twice may come when its slot is long another message's: here each has a place for ever, and octets are
    // looked at as they come.
    region.octets = stream;
    region.access = Access::kLocalWrite | Access::kRemoteWrite;
  } else {
    region.octets = std::uint64_t{c.slots()} * c.message;
    region.access = Access::kLocalWrite | Access::kRemoteWrite;
    if (nic.has_real_payload()) {
      lane.memory.resize(region.octets);
      region.memory = lane.memory.data();
    }
  }
  lane.own_address = region.address;
  const auto key = nic.uet_.engine().memory().add(region);
  RAILYARD_ASSERT(key.has_value(), "a flow's memory can be registered");
  lane.own_key = *key;
}

}  // namespace railyard::uet
