#include "transports/roce/flows/flow_endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/payload_pattern.h"

namespace railyard::roce {

FlowEndpoint::FlowEndpoint(EngineConfig config, bool real_payload, std::size_t completions)
    : first_qpn_(config.first_qpn), roce_(std::move(config), real_payload) {
  cq_ = roce_.engine().create_cq(completions);
  completions_ = &roce_.engine().cq(cq_);
}

FlowEndpoint::~FlowEndpoint() = default;

// ---- The NIC asks --------------------------------------------------------------------------------------------------

Readiness FlowEndpoint::ready(Instant now) {
  run_due(now);
  Readiness r = roce_.ready(now);
  // A timer may have completed something, and that made room for something else.
  while (take_completions(now)) {
    run_due(now);
    r = roce_.ready(now);
  }
  r.until = std::min(r.until, due_in_host());
  return r;
}

// What completes meanwhile (timers) is taken when the NIC asks again: what follows from it may be of another class. But
// what nobody answers completes when it is sent: a NIC that got nothing would have no reason to ask again.
std::size_t FlowEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  run_due(now);
  std::size_t n = roce_.send(now, priority, frames);
  while (has_unanswered_ && n < frames.size() && take_completions(now))
    n += roce_.send(now, priority, frames.subspan(n));
  return n;
}

// Every NIC of a scale-up network was told when something would be due in it; now that may be earlier.
bool FlowEndpoint::receive(std::span<const RxFrame> frames) {
  const Instant due = scale_up() != nullptr ? scale_up()->next_due() : Instant::never();
  for (const RxFrame& frame : frames) receive_one(frame);
  if (scale_up() != nullptr && scale_up()->next_due() < due) scale_up()->note_change();
  return !frames.empty();
}

void FlowEndpoint::receive_one(const RxFrame& frame) {
  run_due(frame.at);
  InPacket in;
  const std::optional<Drop> drop = roce_.receive_one(frame, in);
  if (Lane* const lane = lane_of(in.packet.bth.dest_qp)) {
    Flow& flow = flows_[lane->flow];
    if (frame.trimmed) {
      if (!flow.is_source && !frame.copied) ++flow.received.trimmed;
    } else if (!flow.is_source && in.packet.info().carries_data() && in.packet.payload_octets > 0) {
      on_data(*lane, frame, in, drop);
    }
  } else if (times_ranks_ && !frame.trimmed && in.packet.info().carries_data() && in.packet.payload_octets > 0) {
    rank_latency_.record(static_cast<std::uint64_t>(std::max(frame.at - frame.sent, Duration{}).ps));
  }
  take_completions(frame.at);
}

void FlowEndpoint::expect_frame(std::uint32_t queue_pair, bool payload) const noexcept {
  engine().expect(QpNumber{queue_pair}, !payload);
  __builtin_prefetch(completions_);
  const Found& last = found_[queue_pair % std::size(found_)];
  if (last.qpn != queue_pair || last.lane == nullptr) return;
  __builtin_prefetch(last.lane, 1);
  __builtin_prefetch(last.flow);
  if (payload) __builtin_prefetch(&last.flow->latencies, 1);
}

FlowEndpoint::Lane* FlowEndpoint::look_up(std::uint32_t qpn) noexcept {
  const std::uint32_t place = qpn - first_qpn_;
  if (place >= lane_by_qp_.size() || lane_by_qp_[place] == 0) return nullptr;
  Lane* const lane = &lanes_[lane_by_qp_[place] - 1];
  found_[qpn % std::size(found_)] = {qpn, lane, &flows_[lane->flow]};
  return lane;
}

// ---- Work ----------------------------------------------------------------------------------------------------------

RoceRank& FlowEndpoint::add_rank(const CollectiveConfig& config, RankProgram program) {
  RoceRank& rank = ranks_.emplace_back(roce_.engine(), config, std::move(program), roce_.has_real_payload());
  note(rank);
  return rank;
}

void FlowEndpoint::push_due(const Due& due) {
  due_.push(due);
  set_other_due(due_.top().at);
}

void FlowEndpoint::run_other() {
  const Due due = due_.top();
  due_.pop();
  set_other_due(due_.empty() ? Instant::never() : due_.top().at);
  if (due.starts)
    post(due.at, lanes_[due.lane]);
  else
    post_receive(due.at, lanes_[due.lane]);
}

void FlowEndpoint::post(Instant now, Lane& lane) {
  Flow& flow = flows_[lane.flow];
  const FlowConfig& c = flow.config;
  while (!lane.failed && now < c.stop && lane.posted < lane.messages && lane.posted - lane.completed < c.outstanding) {
    const std::uint64_t k = lane.posted;
    const std::uint32_t octets = c.octets_of(lane.q, k);
    const std::uint64_t slot = k % c.slots() * c.message;
    const std::uint64_t stream = c.offset_of(lane.q, k);
    const bool read = c.operation == FlowOperation::kRead;
    const SendWr wr{.wr_id = static_cast<std::uint64_t>(&lane - lanes_.data()),
                    .opcode = read                                  ? SendOpcode::kRead
                              : c.operation == FlowOperation::kSend ? SendOpcode::kSend
                              : c.announced                         ? SendOpcode::kWriteImm
                                                                    : SendOpcode::kWrite,
                    .sges = {{lane.own_address + (read ? slot : stream), octets, lane.own_key}},
                    .remote_address = lane.peer_address + (read ? stream : slot),
                    .r_key = lane.peer_key,
                    .immediate = static_cast<std::uint32_t>(k)};
    const auto posted = roce_.engine().post_send(now, lane.qp, wr);
    RAILYARD_ASSERT(posted.has_value(), "a flow posts what its QP takes");
    lane.posted_at.push(now);
    ++lane.posted;
    ++flow.messages.posted;
  }
}

void FlowEndpoint::post_receive(Instant now, Lane& lane) {
  const FlowConfig& c = flows_[lane.flow].config;
  if (lane.failed) return;
  const std::uint64_t slot = lane.received++ % c.slots() * c.message;
  const RecvWr wr{.wr_id = static_cast<std::uint64_t>(&lane - lanes_.data()),
                  .sges = {{lane.own_address + slot, c.message, lane.own_key}}};
  const auto posted = roce_.engine().post_recv(now, lane.qp, wr);
  RAILYARD_ASSERT(posted.has_value(), "a flow posts what its QP takes");
}

// Ranks with NICs of their own elsewhere, which have completions there, are in a scale-up network.
bool FlowEndpoint::take_completions(Instant now) {
  if (!roce_.engine().take_completed() && scale_up() == nullptr) return false;
  bool any = take_flow_completions(now);
  if (!has_ranks() && carried_.empty()) return any;
  const auto take = [&](RoceRank& rank) {
    if (!rank.take_completions(now)) return;
    any = true;
    // What follows may go through another NIC.
    if (rank.has_several_nics()) scale_up()->note_change();
  };
  for (RoceRank& rank : ranks_) take(rank);
  for (RoceRank* rank : carried_) take(*rank);
  return any;
}

std::uint32_t FlowEndpoint::carry_for(RoceRank& rank) {
  RAILYARD_ASSERT(scale_up() != nullptr, "NICs of one rank do what is due together");
  carried_.push_back(&rank);
  return rank.add_nic(roce_.engine());
}

bool FlowEndpoint::take_flow_completions(Instant now) {
  if (completions_->size() == 0) return false;
  std::array<Completion, 16> some;
  while (const std::size_t n = completions_->poll(some)) {
    for (const Completion& completion : std::span(some).first(n)) on_completion(now, completion);
  }
  return true;
}

void FlowEndpoint::on_completion(Instant now, const Completion& completion) {
  Lane& lane = lanes_[completion.wr_id];
  Flow& flow = flows_[lane.flow];
  MessageCounters& m = flow.messages;
  if (!completion.ok()) {
    lane.failed = true;
    if (m.errors++ == 0) {
      m.status = completion.status;
      m.failed_at = now;
    }
    m.last_error = now;
    return;
  }
  if (completion.opcode == WcOpcode::kRecv || completion.opcode == WcOpcode::kRecvWriteImm) {
    if (flow.config.repost_after > Duration{})
      push_due({now + flow.config.repost_after, static_cast<std::uint32_t>(completion.wr_id), false});
    else
      post_receive(now, lane);
    return;
  }
  if (!lane.slots.empty() && !lane.memory.empty()) check_read(lane, flow);
  m.octets += flow.config.octets_of(lane.q, lane.completed++);
  ++m.completed;
  m.last = now;
  m.latency.record(static_cast<std::uint64_t>((now - lane.posted_at.front()).ps));
  lane.posted_at.pop();
  post(now, lane);
  if (flow.watched) [[unlikely]]
    tell_if_done(now, flow);
}

void FlowEndpoint::tell(std::size_t i, FlowListener& listener, std::uint32_t token) {
  flows_[i].listener = &listener;
  flows_[i].token = token;
  flows_[i].watched = true;
}

void FlowEndpoint::tell_if_done(Instant now, Flow& flow) {
  const bool asks = flow.config.asks(flow.is_source);
  for (const std::uint32_t l : flow.lanes)
    if ((asks ? lanes_[l].completed : lanes_[l].whole) < lanes_[l].messages) return;
  flow.watched = false;
  flow.listener->on_flow_done(now, flow.token);
}

// ---- Data that come ------------------------------------------------------------------------------------------------

void FlowEndpoint::on_data(Lane& lane, const RxFrame& frame, const InPacket& in, std::optional<Drop> drop) {
  Flow& flow = flows_[lane.flow];
  RxFlowCounters& r = flow.received;
  ++r.packets;
  if (r.first == Instant::never()) r.first = frame.at;
  r.last = frame.at;
  // Clocks that are skewed may say that it came before it was sent.
  flow.latencies.record(r.latency, static_cast<std::uint64_t>(std::max(frame.at - frame.sent, Duration{}).ps));
  if (in.ce) ++r.marked;
  if (frame.copied) [[unlikely]]
    ++r.duplicated;
  if (drop)
    ++r.discarded;
  else
    take_data(lane, flow, in);
  if (flow.watched && !flow.config.asks(flow.is_source)) [[unlikely]]
    tell_if_done(frame.at, flow);
}

// The transport has taken it: then it is what comes next. Of promises each packet says what it is; real octets are
// looked at where they were put, when their message is whole.
void FlowEndpoint::take_data(Lane& lane, Flow& flow, const InPacket& in) {
  if (flow.qp_type == QpType::kUc) return take_of_uc(lane, flow, in);
  if (!lane.slots.empty()) return take_in_any_order(lane, flow, in);
  const FlowConfig& c = flow.config;
  RxFlowCounters& r = flow.received;
  const std::uint64_t offset = c.offset_of(lane.q, lane.whole);
  r.take(in.payload.octets);
  if (lane.memory.empty()) {
    const bool right = in.payload.bytes == nullptr
                           ? in.payload.stream == c.id && in.payload.offset == offset + lane.octets
                           : payload_matches(c.id, offset + lane.octets, in.payload.real());
    if (!right) [[unlikely]] {
      ++r.corrupted;
      lane.intact = false;
    }
  }
  lane.octets += in.payload.octets;
  const Position position = in.packet.info().position;
  if (position != Position::kLast && position != Position::kOnly) return;
  const std::uint32_t octets = lane.whole < lane.messages ? c.octets_of(lane.q, lane.whole) : 0;
  bool right = lane.octets == octets;
  if (right && !lane.memory.empty())
    right = payload_matches(c.id, offset, {lane.memory.data() + lane.whole % c.slots() * c.message, octets});
  if (!right) [[unlikely]]
    ++r.corrupted;
  if (right && lane.intact) ++flow.verified;
  ++lane.whole;
  lane.octets = 0;
  lane.intact = true;
}

// Over UC messages may be missing. The PSN says to which message a packet belongs: all messages but the last of a QP
// have the same number of packets. Octets count when their message is whole, since nobody is told of any before. A
// message that the network has doubled is executed again (uc_receiver.h), but is one message: it counts once.
void FlowEndpoint::take_of_uc(Lane& lane, Flow& flow, const InPacket& in) {
  const FlowConfig& c = flow.config;
  const std::uint32_t mtu = engine().qp(lane.qp)->info.path_mtu;
  const std::uint64_t each = (c.message - 1) / mtu + 1;
  const std::int64_t ahead = Psn(in.packet.bth.psn) - (lane.first_psn + static_cast<std::uint32_t>(lane.packets));
  const std::uint64_t number = lane.packets + static_cast<std::uint64_t>(ahead);
  lane.packets = number + 1;
  const std::uint64_t message = number / each;
  const std::uint64_t before = number % each * mtu;
  if (before == 0) {
    lane.octets = 0;
    lane.intact = true;
  }
  const std::uint64_t offset = c.offset_of(lane.q, message);
  const bool expected = message < lane.messages && before == lane.octets;
  const bool elided = lane.memory.empty();
  if (!expected || (elided && !(in.payload.bytes == nullptr
                                    ? in.payload.stream == c.id && in.payload.offset == offset + before
                                    : payload_matches(c.id, offset + before, in.payload.real())))) [[unlikely]] {
    ++flow.received.corrupted;
    lane.intact = false;
  }
  lane.octets += in.payload.octets;
  const Position position = in.packet.info().position;
  if (position != Position::kLast && position != Position::kOnly) return;
  // SENDs go into receive requests, which whole messages alone use up.
  const std::uint64_t slot = (c.operation == FlowOperation::kSend ? lane.whole : message) % c.slots();
  bool right = expected && lane.octets == c.octets_of(lane.q, message);
  if (right && !elided) right = payload_matches(c.id, offset, {lane.memory.data() + slot * c.message, lane.octets});
  if (!right) [[unlikely]]
    ++flow.received.corrupted;
  if (lane.come->add(message)) [[likely]] {
    if (right && lane.intact) ++flow.verified;
    flow.received.take(lane.octets);
  } else {
    ++flow.received.discarded;
  }
  ++lane.whole;
  lane.octets = 0;
  lane.intact = true;
}

// Of what selective repeat has taken. Of READs with real payload nothing says it but their PSN; see check_read().
std::optional<FlowEndpoint::Claim> FlowEndpoint::claim_of(const Lane& lane, const Flow& flow,
                                                          const InPacket& in) const noexcept {
  const FlowConfig& c = flow.config;
  const Packet& p = in.packet;
  const std::uint64_t before = std::uint64_t{p.sr_eth.packet_index} * engine().qp(lane.qp)->info.path_mtu;
  switch (c.operation) {
    case FlowOperation::kWrite: {
      const std::uint64_t slot = (p.reth.virtual_address - lane.own_address) / c.message;
      if (p.reth.virtual_address < lane.own_address || slot >= lane.slots.size()) return std::nullopt;
      return Claim{lane.slots[slot].message, before};
    }
    case FlowOperation::kSend: {
      // The number has 24 bits, and no message is half its range from the next that is not whole.
      const std::uint32_t ahead = (p.sr_eth.receive_number - static_cast<std::uint32_t>(lane.whole)) << 8;
      return Claim{
          lane.whole + static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(ahead) >> 8)),
          before};
    }
    case FlowOperation::kRead: {
      if (in.payload.bytes != nullptr) return std::nullopt;
      const std::uint64_t message = in.payload.offset / c.message;
      if (in.payload.stream != c.id || message % c.qps != lane.q) return std::nullopt;
      return Claim{message / c.qps, in.payload.offset % c.message};
    }
  }
  return std::nullopt;
}

void FlowEndpoint::take_in_any_order(Lane& lane, Flow& flow, const InPacket& in) {
  const FlowConfig& c = flow.config;
  RxFlowCounters& r = flow.received;
  r.take(in.payload.octets);
  const bool elided = lane.memory.empty();
  if (!elided && c.operation == FlowOperation::kRead) return;
  const std::optional<Claim> claim = claim_of(lane, flow, in);
  Lane::Slot* const slot = claim ? &lane.slots[claim->message % lane.slots.size()] : nullptr;
  const bool expected = slot != nullptr && slot->message == claim->message && claim->message < lane.messages &&
                        claim->before + in.payload.octets <= c.octets_of(lane.q, claim->message);
  if (!expected) [[unlikely]] {
    ++r.corrupted;
    return;
  }
  const std::uint64_t offset = c.offset_of(lane.q, claim->message) + claim->before;
  if (elided) {
    const bool right = in.payload.bytes == nullptr ? in.payload.stream == c.id && in.payload.offset == offset
                                                   : payload_matches(c.id, offset, in.payload.real());
    if (!right) [[unlikely]] {
      ++r.corrupted;
      slot->intact = false;
    }
  }
  slot->octets += in.payload.octets;
  const std::uint32_t octets = c.octets_of(lane.q, claim->message);
  if (slot->octets < octets) return;
  bool right = slot->octets == octets;
  if (right && !elided)
    right = payload_matches(c.id, c.offset_of(lane.q, claim->message),
                            {lane.memory.data() + claim->message % lane.slots.size() * c.message, octets});
  if (!right) [[unlikely]]
    ++r.corrupted;
  if (right && slot->intact) ++flow.verified;
  ++lane.whole;
  *slot = {.message = claim->message + lane.slots.size()};
}

// A READ with real payload under selective repeat: its octets are where they should be when it completes, in order.
void FlowEndpoint::check_read(Lane& lane, Flow& flow) {
  const FlowConfig& c = flow.config;
  const std::uint32_t octets = c.octets_of(lane.q, lane.completed);
  ++lane.whole;
  if (payload_matches(c.id, c.offset_of(lane.q, lane.completed),
                      {lane.memory.data() + lane.completed % lane.slots.size() * c.message, octets}))
    ++flow.verified;
  else
    ++flow.received.corrupted;
}

// ---- From outside --------------------------------------------------------------------------------------------------

void FlowEndpoint::stop_at(Instant at) {
  for (Flow& f : flows_) {
    f.config.stop = std::min(f.config.stop, at);
    f.received.until = std::min(f.received.until, at);
  }
  for (RoceRank& rank : ranks_) rank.stop_at(at);
}

void FlowEndpoint::start(Instant now, std::size_t i) {
  Flow& flow = flows_[i];
  flow.config.start = now;
  if (!flow.config.asks(flow.is_source)) return;
  for (const std::uint32_t lane : flow.lanes) push_due({now, lane, true});
}

bool FlowEndpoint::done(Instant now, std::size_t i) const noexcept {
  const Flow& flow = flows_[i];
  return std::ranges::all_of(flow.lanes, [&](std::uint32_t l) {
    const Lane& lane = lanes_[l];
    return lane.posted == lane.completed && (lane.completed == lane.messages || now >= flow.config.stop);
  });
}

void FlowEndpoint::set_rate(Instant now, std::size_t i, BitRate rate) {
  Flow& flow = flows_[i];
  flow.config.rate = rate;
  if (!flow.is_source) return;
  for (const std::uint32_t lane : flow.lanes)
    roce_.engine().set_rate_limit(now, lanes_[lane].qp, rate / flow.config.qps);
}

QpCounters FlowEndpoint::counters(std::size_t i) const noexcept {
  if (flows_[i].told) return *flows_[i].told;
  QpCounters sum;
  for (const std::uint32_t lane : flows_[i].lanes) sum += engine().qp(lanes_[lane].qp)->info.counters;
  return sum;
}

TxFlowCounters FlowEndpoint::sent(std::size_t i) const noexcept {
  const QpCounters c = counters(i);
  return {c.data_packets, c.data_octets, c.first_data};
}

void FlowEndpoint::exchange_figures(StateArchive& archive) {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& f = flows_[i];
    if (!archive.reads()) f.latencies.flush(f.received.latency);
    QpCounters qps = counters(i);
    archive(f.config.start, f.received, f.messages, f.verified, qps);
    if (archive.reads()) f.told = qps;
  }
  archive(rank_latency_);
}

}  // namespace railyard::roce
