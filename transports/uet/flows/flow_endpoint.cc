#include "transports/uet/flows/flow_endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard::uet {

FlowEndpoint::FlowEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
                           bool real_payload, std::size_t completions, std::uint16_t first_resource_index)
    : uet_(config, encapsulation, chance, real_payload),
      cq_(uet_.engine().create_cq(completions)),
      first_resource_index_(first_resource_index) {}

FlowEndpoint::~FlowEndpoint() = default;

// ---- The NIC asks --------------------------------------------------------------------------------------------------

Readiness FlowEndpoint::ready(Instant now) {
  run_due(now);
  Readiness r = uet_.ready(now);
  // A timer may have completed something, and that made room for something else.
  while (has_completions() && take_completions(now)) {
    run_due(now);
    r = uet_.ready(now);
  }
  r.until = std::min(r.until, due_in_host());
  told_ = r;
  return r;
}

// What completes meanwhile (timers) is taken when the NIC asks again: what follows from it may be of another class. But
// datagrams complete when they are sent: a NIC that got nothing would have no reason to ask again.
std::size_t FlowEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  run_due(now);
  std::size_t n = 0;
  do {
    Engine::Ahead ahead;
    while (n < frames.size() && uet_.send_one(now, priority, frames[n], out_, ahead)) {
      note_sent(now, out_);
      ++n;
    }
  } while (has_datagrams_ && n < frames.size() && take_completions(now));
  return n;
}

// Every NIC of a scale-up network was told when something would be due in it; now that may be earlier.
bool FlowEndpoint::receive(std::span<const RxFrame> frames) {
  const Instant due = scale_up() != nullptr ? scale_up()->next_due() : Instant::never();
  bool completed = false;
  for (const RxFrame& frame : frames) completed = receive_one(frame) || completed;
  if (scale_up() != nullptr && scale_up()->next_due() < due) scale_up()->note_change();
  if (completed || scale_up() != nullptr) return true;
  // Most packets of data change nothing: who only receives is not asked again for each.
  const Readiness now = engine().readiness();
  return now.classes != told_.classes || std::min(now.until, due_in_host()) < told_.until;
}

// Whether anything has completed.
bool FlowEndpoint::receive_one(const RxFrame& frame) {
  run_due(frame.at);
  if (!uet_.parse(frame, in_)) {
    const Of of = lane_of(in_);
    const Counter& out_of_order = engine().counters().placed_out_of_order;
    const std::uint64_t before = out_of_order.read();
    const std::optional<Drop> drop = uet_.engine().on_packet(frame.at, in_);
    const bool early = out_of_order.read() != before;
    if (of.lane != nullptr) {
      on_data(of, frame, in_, drop);
      if (early) ++flows_[of.lane->flow].received.reordered;
    } else {
      if (in_.ce || early) note_of_rank(in_, early);
      if (times_ranks_ && !in_.trimmed && in_.payload.octets > 0)
        rank_latency_.record(static_cast<std::uint64_t>(std::max(frame.at - frame.sent, Duration{}).ps));
    }
  }
  return has_completions() && take_completions(frame.at);
}

// A trimmed one's headers say it as well.
FlowEndpoint::Of FlowEndpoint::lane_of(const InPacket& in) noexcept {
  if (const auto* request = std::get_if<SesRequestValues>(&in.packet.ses)) {
    const std::uint32_t number = lane_named(std::uint32_t{request->pid_on_fep} << 12 | request->resource_index);
    if (request->job_id != kFlowsJob) return {};
    const bool data = request->opcode != SesOpcode::kRead && (in.payload.octets > 0 || in.trimmed);
    if (!data || number >= lanes_.size() || flows_[lanes_[number].flow].is_source) return {};
    return {&lanes_[number]};
  }
  const auto read = engine().read_of(in);
  if (!read || read->context.index() >= lane_by_context_.size() || lane_by_context_[read->context.index()] == 0)
    return {};
  Of of{&lanes_[lane_by_context_[read->context.index()] - 1]};
  if (read->wr_id) of.slot = static_cast<std::uint32_t>(*read->wr_id & ((1u << kSlotBits) - 1));
  of.tries = read->tries;
  return of;
}

void FlowEndpoint::note_of_rank(const InPacket& in, bool early) noexcept {
  const auto* request = std::get_if<SesRequestValues>(&in.packet.ses);
  if (request == nullptr || in.payload.octets == 0) return;
  const auto note = [&](UetRank& rank) {
    if (rank.job_id() != request->job_id || rank.pid_on_fep() != request->pid_on_fep) return;
    if (in.ce) rank.note_marked();
    if (early) rank.note_out_of_order();
  };
  for (UetRank& rank : ranks_) note(rank);
  for (UetRank* rank : carried_) note(*rank);
}

void FlowEndpoint::note_sent(Instant now, const OutPacket& out) noexcept {
  if (out.packet.payload_octets == 0) return;
  if (out.context && out.context->index() < rank_by_context_.size())
    if (UetRank* const rank = rank_by_context_[out.context->index()]) return rank->note_sent(out.again);
  std::uint32_t lane = 0;  // + 1
  if (out.context) {
    if (out.context->index() < lane_by_context_.size()) lane = lane_by_context_[out.context->index()];
  } else if (const std::size_t slot = out.read_from >> 8; slot < lane_by_key_.size()) {
    lane = lane_by_key_[slot];
  }
  if (lane == 0) return;
  FlowPackets& sent = flows_[lanes_[lane - 1].flow].sent;
  ++sent.packets;
  sent.octets += out.packet.payload_octets;
  if (out.again) ++sent.retransmitted;
  sent.first = std::min(sent.first, now);
}

// ---- Work ----------------------------------------------------------------------------------------------------------

UetRank& FlowEndpoint::add_rank(const CollectiveConfig& config, RankProgram program, const RankJob& job) {
  RAILYARD_ASSERT(job.job_id > kFlowsJob, "a collective is a job of its own");
  UetRank& rank = ranks_.emplace_back(uet_.engine(), config, std::move(program), has_real_payload(), job);
  note(rank);
  note_contexts(rank, 0);
  return rank;
}

std::uint32_t FlowEndpoint::carry_for(UetRank& rank, std::uint8_t data_class) {
  RAILYARD_ASSERT(scale_up() != nullptr, "NICs of one rank do what is due together");
  carried_.push_back(&rank);
  const std::uint32_t nic = rank.add_nic(uet_.engine(), data_class);
  note_contexts(rank, nic);
  return nic;
}

void FlowEndpoint::note_contexts(UetRank& rank, std::uint32_t nic) {
  for (const ContextId context : rank.contexts(nic)) {
    rank_by_context_.resize(std::max<std::size_t>(rank_by_context_.size(), context.index() + 1));
    rank_by_context_[context.index()] = &rank;
  }
}

void FlowEndpoint::push_due(const Due& due) {
  due_.push(due);
  set_other_due(due_.top().at);
}

void FlowEndpoint::run_other() {
  const Due due = due_.top();
  due_.pop();
  set_other_due(due_.empty() ? Instant::never() : due_.top().at);
  if (due.slot != kStarts) return post_receive(due.at, due.lane, due.slot);
  lanes_[due.lane].waits = false;
  post(due.at, due.lane);
}

// Each flow has a PDC of its own to a peer as long as there are lanes; then the one that fewest have.
void FlowEndpoint::take_pdc_lane(Instant now, Lane& lane, const Flow& flow) {
  if (lane.pdc_lane) return;
  if (flow.config.connection != 0)
    if (const auto with = shared_.find({lane.peer.index(), flow.config.connection}); with != shared_.end()) {
      ++with->second.users;
      lane.pdc_lane = with->second.lane;
      return;
    }
  if (lanes_in_use_.size() <= lane.peer.index()) lanes_in_use_.resize(lane.peer.index() + 1);
  std::vector<std::uint16_t>& used = lanes_in_use_[lane.peer.index()];
  auto least = std::ranges::min_element(used);
  if (used.size() < 256 && (used.empty() || *least > 0)) {
    used.push_back(0);
    least = used.end() - 1;
  }
  ++*least;
  lane.pdc_lane = static_cast<std::uint8_t>(least - used.begin());
  if (flow.config.connection != 0) shared_[{lane.peer.index(), flow.config.connection}] = {*lane.pdc_lane, 1};
  if (flow.config.has_pdc())
    uet_.engine().set_rate(now, lane.peer, flow.config.mode, *lane.pdc_lane, flow.config.rate / flow.config.qps,
                           lane.data_class);
}

void FlowEndpoint::give_pdc_lane(Lane& lane, const Flow& flow) {
  if (!lane.pdc_lane) return;
  if (flow.config.connection != 0) {
    const auto with = shared_.find({lane.peer.index(), flow.config.connection});
    if (--with->second.users > 0) return lane.pdc_lane.reset();
    shared_.erase(with);
  }
  --lanes_in_use_[lane.peer.index()][*lane.pdc_lane];
  lane.pdc_lane.reset();
}

void FlowEndpoint::post(Instant now, std::uint32_t number) {
  Lane& lane = lanes_[number];
  Flow& flow = flows_[lane.flow];
  const FlowConfig& c = flow.config;
  const bool paced = !c.has_pdc() && c.rate.bps > 0;
  while (!lane.failed && now < c.stop && lane.posted < lane.messages && !lane.free.empty()) {
    if (paced && now < lane.next_post) {
      if (!lane.waits) push_due({lane.next_post, number, kStarts});
      lane.waits = true;
      return;
    }
    take_pdc_lane(now, lane, flow);
    const std::uint32_t slot = lane.free.back();
    lane.free.pop_back();
    post_one(now, lane, flow, std::uint64_t{number} << kSlotBits | slot, slot);
    if (!paced) continue;
    const std::uint32_t mtu = engine().config().payload_mtu;
    const std::uint32_t octets = c.octets_of(lane.q, lane.posted - 1);
    const std::uint32_t full = octets / mtu;
    const std::size_t headers =
        (c.mode == DeliveryMode::kUud ? std::size_t{PdsUud::kOctets} : std::size_t{PdsRudi::kOctets}) + SesStd::kOctets;
    std::int64_t wire = full * engine().wire_octets(lane.peer, headers + mtu);
    if (octets % mtu != 0) wire += engine().wire_octets(lane.peer, headers + octets % mtu);
    const Duration takes = engine().config().pacing.slowed(Bytes{wire} / (c.rate / c.qps));
    lane.next_post =
        lane.gaps.on() ? lane.gaps.next(now, lane.next_post, takes) : std::max(lane.next_post, now) + takes;
  }
}

void FlowEndpoint::post_one(Instant now, Lane& lane, Flow& flow, std::uint64_t wr_id, std::uint32_t slot) {
  const FlowConfig& c = flow.config;
  const std::uint64_t k = lane.posted;
  const std::uint64_t stream = c.offset_of(lane.q, k);
  const std::uint64_t at_slot = std::uint64_t{slot} * c.message;
  const bool read = c.operation == FlowOperation::kRead;
  const bool write = c.operation == FlowOperation::kWrite;
  const bool idempotent = c.mode == DeliveryMode::kRudi;
  SendWr wr{.wr_id = wr_id,
            .operation = read                           ? Operation::kRead
                         : write                        ? Operation::kWrite
                         : c.mode == DeliveryMode::kUud ? Operation::kDatagram
                         : c.tagged                     ? Operation::kTaggedSend
                                                        : Operation::kSend,
            .mode = c.mode,
            .peer = lane.peer,
            .lane = *lane.pdc_lane,
            .local = {lane.own_address + (read ? at_slot : stream), c.octets_of(lane.q, k), lane.own_key},
            .pid_on_fep = static_cast<std::uint16_t>(lane.peer_name >> 12),
            .resource_index = static_cast<std::uint16_t>(lane.peer_name & 0xFFF),
            .match_bits = c.tagged ? c.tag(k) : 0,
            .memory_key = read || write ? std::uint64_t{lane.peer_key} | (idempotent ? kIdempotentSafe : 0) : 0,
            .buffer_offset = read || idempotent ? stream
                             : write            ? at_slot
                                                : 0};
  wr.data_class = lane.data_class;
  if (!read && !idempotent) wr.header_data = k | std::uint64_t{slot} << kMessageBits;
  const auto posted = uet_.engine().post(now, lane.context, wr);
  RAILYARD_ASSERT(posted.has_value(), "a flow posts what its delivery mode takes");
  lane.slots[slot] = {.message = k, .posted_at = now};
  ++lane.posted;
  ++flow.messages.posted;
}

void FlowEndpoint::post_receive(Instant now, std::uint32_t number, std::uint32_t slot) {
  const Lane& lane = lanes_[number];
  const FlowConfig& c = flows_[lane.flow].config;
  const auto posted = uet_.engine().post_receive(
      now, lane.context,
      {.wr_id = std::uint64_t{number} << kSlotBits | slot,
       .local = {lane.own_address + std::uint64_t{slot} * c.message, c.message, lane.own_key},
       .tagged = c.tagged,
       .match_bits = c.tagged ? c.tag(0) : 0,
       .ignore = c.tagged ? FlowConfig::kNumberOfTag : 0});
  RAILYARD_ASSERT(posted.has_value(), "a flow posts what its context takes");
}

bool FlowEndpoint::take_completions(Instant now) {
  if (ranks_.empty() && carried_.empty()) return take_flow_completions(now);
  const bool of_flows = take_flow_completions(now);
  bool of_ranks = false;
  const auto take = [&](UetRank& rank) {
    if (!rank.take_completions(now)) return;
    of_ranks = true;
    // What follows may go through another NIC.
    if (rank.has_several_nics()) scale_up()->note_change();
  };
  for (UetRank& rank : ranks_) take(rank);
  for (UetRank* rank : carried_) take(*rank);
  if (of_ranks) close_if_done(now);
  return of_flows || of_ranks;
}

bool FlowEndpoint::take_flow_completions(Instant now) {
  if (uet_.engine().completions(cq_) == 0) return false;
  std::array<Completion, 16> some;
  while (const std::size_t n = uet_.engine().poll(cq_, some))
    for (const Completion& completion : std::span(some).first(n)) on_completion(now, completion);
  return true;
}

void FlowEndpoint::on_completion(Instant now, const Completion& completion) {
  if (completion.work != Work::kReceive && completion.work != Work::kReceiveWrite) return on_asked(now, completion);
  const std::uint32_t number = lane_by_context_[completion.context.index()] - 1;
  Lane& lane = lanes_[number];
  if (completion.work == Work::kReceiveWrite)
    return take_message(now, lane, completion, static_cast<std::uint32_t>(completion.header_data >> kMessageBits));
  const auto slot = static_cast<std::uint32_t>(completion.wr_id & ((1u << kSlotBits) - 1));
  if (completion.ok()) take_message(now, lane, completion, slot);
  const Duration after = flows_[lane.flow].config.repost_after;
  if (after > Duration{})
    push_due({now + after, number, slot});
  else
    post_receive(now, number, slot);
}

void FlowEndpoint::on_asked(Instant now, const Completion& completion) {
  const auto number = static_cast<std::uint32_t>(completion.wr_id >> kSlotBits);
  const auto place = static_cast<std::uint32_t>(completion.wr_id & ((1u << kSlotBits) - 1));
  Lane& lane = lanes_[number];
  Flow& flow = flows_[lane.flow];
  MessageCounters& m = flow.messages;
  if (completion.ok()) {
    const Lane::Slot slot = lane.slots[place];
    if (completion.work == Work::kRead) check_read(lane, flow, slot, place);
    m.octets += completion.octets;
    ++m.completed;
    m.last = now;
    m.latency.record(static_cast<std::uint64_t>((now - slot.posted_at).ps));
  } else {
    lane.failed = true;
    if (m.errors++ == 0) {
      m.status = completion.status;
      m.code = completion.return_code;
      m.failed_at = now;
    }
    m.last_error = now;
  }
  ++lane.completed;
  lane.free.push_back(place);
  post(now, number);
  if (lane.completed < lane.posted || (!lane.failed && lane.posted < lane.messages && now < flow.config.stop)) return;
  // All is done that this lane had to do; with the last one nobody needs the PDCs any more.
  give_pdc_lane(lane, flow);
  --asking_;
  if (flow.listener != nullptr) [[unlikely]]
    tell_if_done(now, flow);
  close_if_done(now);
}

void FlowEndpoint::tell(std::size_t i, FlowListener& listener, std::uint32_t token) {
  flows_[i].listener = &listener;
  flows_[i].token = token;
}

void FlowEndpoint::tell_if_done(Instant now, Flow& flow) {
  if (flow.config.asks(flow.is_source)) {
    for (const std::uint32_t l : flow.lanes)
      if (lanes_[l].failed || lanes_[l].completed < lanes_[l].messages) return;
  } else {
    std::uint64_t all = 0;
    for (const std::uint32_t l : flow.lanes) all += lanes_[l].messages;
    if (flow.verified < all) return;
  }
  std::exchange(flow.listener, nullptr)->on_flow_done(now, flow.token);
}

void FlowEndpoint::start(Instant now, std::size_t i) {
  Flow& flow = flows_[i];
  flow.config.start = now;
  if (!flow.config.asks(flow.is_source)) return;
  for (const std::uint32_t number : flow.lanes)
    if (lanes_[number].messages > 0) push_due({now, number, kStarts});
}

void FlowEndpoint::close_if_done(Instant now) {
  if (asking_ == 0 && std::ranges::all_of(ranks_, &UetRank::complete) &&
      std::ranges::all_of(carried_, &UetRank::complete))
    uet_.engine().close_idle(now);
}

// ---- From outside --------------------------------------------------------------------------------------------------

void FlowEndpoint::stop_at(Instant at) {
  for (Flow& f : flows_) {
    f.config.stop = std::min(f.config.stop, at);
    f.received.until = std::min(f.received.until, at);
  }
  for (UetRank& rank : ranks_) rank.stop_at(at);
}

void FlowEndpoint::set_rate(Instant now, std::size_t i, BitRate rate) {
  Flow& flow = flows_[i];
  flow.config.rate = rate;
  if (!flow.config.asks(flow.is_source)) return;
  if (!flow.config.has_pdc()) {
    for (const std::uint32_t number : flow.lanes)
      lanes_[number].gaps = engine().config().pacing.jitter_of(number, rate / flow.config.qps);
    return;
  }
  for (const std::uint32_t number : flow.lanes)
    if (const Lane& lane = lanes_[number]; lane.pdc_lane)
      uet_.engine().set_rate(now, lane.peer, flow.config.mode, *lane.pdc_lane, rate / flow.config.qps, lane.data_class);
}

void FlowEndpoint::exchange_figures(StateArchive& archive) {
  for (Flow& f : flows_) archive(f.config.start, f.received, f.messages, f.sent, f.verified);
  archive(rank_latency_);
  engine().exchange_figures(archive);
}

}  // namespace railyard::uet
