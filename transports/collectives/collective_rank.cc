#include "transports/collectives/collective_rank.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/base/assert.h"
#include "dataplane/base/hash.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/base/state_archive.h"

namespace railyard {
namespace {

using Kind = CollectiveStep::Kind;

// A promise's stream: those of flows are small numbers.
constexpr std::uint64_t kPromise = std::uint64_t{1} << 63;
// Octets of promised data are called by collective, repeat and place.
constexpr std::uint64_t kIdentities = std::uint64_t{1} << 40;
constexpr std::uint64_t kRepeats = 1 << 14;
constexpr std::uint64_t kCollectives = 1 << 8;

}  // namespace

CollectiveRank::CollectiveRank(MemoryRegions* memory, const CollectiveConfig& config, RankProgram program,
                               bool real_payload)
    : config_(config),
      program_(std::move(program)),
      peers_(program_.connections.size()),
      start_at_(config.start),
      next_due_(config.start),
      states_(program_.steps.size()),
      posted_(program_.steps.size()),
      copies_(config.repeats > 1 ? 2 : 1) {
  if (program_.reducer_latency) {
    config_.gap = config_.launch_cost = Duration{};
    config_.step_cost = *program_.reducer_latency;
    config_.reduce_rate = BitRate{};
  }
  waits_.reserve(program_.steps.size());
  started_.reserve(config.repeats);
  finished_.reserve(config.repeats);
  for (const CollectiveStep& s : program_.steps)
    if (s.kind == Kind::kCompute && s.connection != CollectiveStep::kNone && s.connection >= streams_.size())
      streams_.resize(s.connection + 1);
  if (real_payload) real_.emplace(program_, config, copies());
  if (memory != nullptr) register_at(*memory);
  if (config.recorded_steps > 0)
    record_.emplace(program_.steps.size(),
                    StepRecord::fitting(program_.steps.size(), config.repeats,
                                        config.recorded_steps / std::max(program_.ranks, 1u)));
}

std::uint32_t CollectiveRank::register_at(MemoryRegions& memory) {
  MemoryRegion region{.address = kCollectiveMemory,
                      .octets = stride() * copies(),
                      .access = Access::kLocalWrite | Access::kRemoteWrite,
                      .domain = kCollectiveDomain};
  if (real_) region.memory = real_->memory().data();
  const auto key = memory.add(region);
  RAILYARD_ASSERT(key.has_value(), "a rank has data");
  registered_.push_back({&memory, *key});
  return static_cast<std::uint32_t>(registered_.size() - 1);
}

void CollectiveRank::reach_in_host(std::uint32_t connection, CollectiveRank& peer, ScaleUp& pipe, std::uint32_t port) {
  pipe_ = &pipe;
  port_in_host_ = port;
  peers_[connection].in_host = &peer;
  if (!scale_up_) scale_up_.emplace();
}

void CollectiveRank::retire() noexcept {
  config_.stop = Instant{};
  start_at_ = computed_at_ = Instant::never();
  received_ = {};
  while (!reductions_.empty()) reductions_.pop();
  note_due();
  for (Peer& peer : peers_) peer.failed = true;
  for (const Registered& at : registered_) {
    at.memory->remove(at.key);
    for (const auto& [sum, key] : at.promise_keys) at.memory->remove(key);
  }
  registered_.clear();
}

std::uint64_t CollectiveRank::name_of(std::uint64_t identity, std::uint32_t repeat) const noexcept {
  return ((config_.index % kCollectives) * kRepeats + repeat % kRepeats) * kIdentities + identity;
}

// ---- Time ----------------------------------------------------------------------------------------------------------

void CollectiveRank::run_due(Instant now) {
  const Instant due = next_due();
  if (!received_.empty() && received_.top().at == due) {
    const Costing r = received_.top();
    received_.pop();
    note_due();
    return reduce(now, r.what);
  }
  if (!reductions_.empty() && reductions_.front().at == due) {
    const Later r = reductions_.front();
    reductions_.pop();
    note_due();
    return apply(now, r.what);
  }
  if (computed_at_ == due) {
    Stream& stream = *std::ranges::find(streams_, due, &Stream::done_at);
    const std::uint32_t step = stream.step;
    stream.done_at = Instant::never();
    if (!stream.waiting.empty()) {
      const std::uint32_t next = stream.waiting.front();
      stream.waiting.pop();
      compute(now, next);
    }
    computed_at_ = std::ranges::min_element(streams_, {}, &Stream::done_at)->done_at;
    note_due();
    return done(now, step);
  }
  start_at(Instant::never());
  if (launching_)
    launch(now);
  else
    begin(now);
}

// ---- A repeat ------------------------------------------------------------------------------------------------------

void CollectiveRank::begin(Instant now) {
  if (now >= config_.stop || repeat_ >= held_after_) return;
  // It has nothing to do in any repeat, as a reducer of which no tree makes use.
  if (program_.steps.empty()) {
    for (; repeat_ < config_.repeats && repeat_ < held_after_; ++repeat_) {
      if (record_) record_->begin_repeat();
      started_.push_back(now);
      finished_.push_back(now);
    }
    return;
  }
  running_ = true;
  if (record_) record_->begin_repeat();
  started_.push_back(now);
  finished_.push_back(Instant::never());
  states_.assign(states_.size(), StepState::kWaiting);
  waits_.clear();
  left_ = program_.steps.size();
  receives_left_ = 0;
  if (!real_ && relayed_.empty() &&
      std::ranges::any_of(program_.steps, [](const CollectiveStep& s) { return s.kind == Kind::kRelay; }))
    relayed_.resize(program_.steps.size());
  for (const CollectiveStep& s : program_.steps) {
    waits_.push_back(s.waits_for);
    receives_left_ += s.kind != Kind::kSend ? 1u : 0u;
  }
  if (real_)
    real_->begin(program_, repeat_);
  else
    contributors_.begin(program_);
  if (receives_left_ == 0) finished_.back() = now;  // it has had its result from the beginning
  launching_ = config_.launch_cost > Duration{};
  if (launching_)
    start_at(now + config_.launch_cost);
  else
    launch(now);
}

// Its steps may go.
void CollectiveRank::launch(Instant now) {
  launching_ = false;
  const std::uint32_t repeat = repeat_;
  for (std::uint32_t s = 0; s < program_.steps.size(); ++s)
    if (program_.steps[s].receives() ? !goes(program_.steps[s]) : program_.steps[s].waits_for == 0) start(now, s);
  // In the order in which they came. The last of them may end the repeat and begin the next one.
  std::vector<Arrival> early;
  std::swap(early, early_);
  for (const Arrival& a : early) {
    if (planted(PlantedBug::kReducerForgetsEarly) && program_.reducer_latency && a.repeat == repeat) continue;
    if (a.repeat == repeat)
      take(now, a);
    else
      early_.push_back(a);
  }
}

void CollectiveRank::finish(Instant now) {
  running_ = false;
  if (repeat_ + 2 < config_.repeats) owe_credits(now);
  if (++repeat_ == config_.repeats) return;
  if (config_.gap > Duration{})
    start_at(now + config_.gap);
  else
    begin(now);
}

// For one more repeat, to whoever sends to this rank.
void CollectiveRank::owe_credits(Instant now) {
  for (std::uint32_t c = 0; c < peers_.size(); ++c)
    if (program_.connections[c].receives > 0) {
      ++peers_[c].credits_owed;
      post_credits(now, c);
    }
}

void CollectiveRank::go_on(Instant now, std::uint32_t more) {
  held_after_ = ~std::uint32_t{0};
  // Credits of the last two repeats, for which nothing was to come when they were done.
  for (std::uint32_t k = config_.repeats < 2 ? 0 : config_.repeats - 2; k < repeat_; ++k)
    if (k + 2 < config_.repeats + more) owe_credits(now);
  config_.repeats += more;
  if (!running_ && start_at_ == Instant::never() && repeat_ < config_.repeats) start_at(now);
}

// What has ended may end others at once, which is told one after the other, however many there are.
void CollectiveRank::done(Instant now, std::uint32_t step) {
  ended_.push_back(step);
  if (ending_) return;
  ending_ = true;
  for (std::size_t i = 0; i < ended_.size(); ++i) end(now, ended_[i]);
  ended_.clear();
  ending_ = false;
}

void CollectiveRank::end(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program_.steps[step];
  states_[step] = StepState::kDone;
  if (record_) record_->end(now, step);
  --left_;
  if (s.kind != Kind::kSend && --receives_left_ == 0) {
    finished_.back() = now;
    if (real_)
      real_->verify(program_, repeat_, wrong_);
    else
      contributors_.verify(program_, repeat_, wrong_);
  }
  for (std::uint32_t i = s.first_after; i < s.end_after; ++i)
    if (const std::uint32_t next = program_.after[i]; --waits_[next] == 0) start(now, next);
  if (left_ == 0) finish(now);
}

void CollectiveRank::start(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program_.steps[step];
  if (!goes(s)) {
    if (record_) record_->begin(now, step);
    return done(now, step);
  }
  if (s.kind != Kind::kCompute) return send(now, step);
  states_[step] = StepState::kPosted;
  if (s.time == Duration{}) {
    if (record_) record_->begin(now, step);
    return done(now, step);
  }
  if (streams_[s.connection].done_at != Instant::never())
    streams_[s.connection].waiting.push(step);
  else
    compute(now, step);
}

void CollectiveRank::compute(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program_.steps[step];
  const std::uint64_t draw =
      mix64(mix64(config_.seed ^ mix64(config_.index + 1)) + (std::uint64_t{repeat_} << 32 | program_.rank));
  const std::uint64_t more = config_.jitter_ppm == 0 || s.idle ? 0 : draw % (std::uint64_t{config_.jitter_ppm} + 1);
  constexpr std::int64_t kMillion = 1'000'000;
  const Duration time =
      s.time + Duration{static_cast<std::int64_t>(Int128{s.time.ps} * static_cast<std::int64_t>(more) / kMillion)};
  if (s.computes()) computed_ += time;
  if (record_) record_->begin(now, step);
  streams_[s.connection].step = step;
  streams_[s.connection].done_at = now + time;
  computed_at_ = std::min(computed_at_, now + time);
  note_due();
}

// ---- Messages that go ----------------------------------------------------------------------------------------------

void CollectiveRank::send(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program_.steps[step];
  Peer& peer = peers_[s.connection];
  if (peer.failed) return;
  if (repeat_ >= peer.allowed) {
    peer.blocked.push_back(step);
    return;
  }
  if (record_) record_->begin(now, step);
  if (peer.in_host != nullptr) return post_in_host(now, step);
  states_[step] = StepState::kPosted;
  posted_[step] = now;
  post(now, {.connection = s.connection,
             .step = step,
             .peer_step = s.peer_step,
             .repeat = repeat_,
             .offset = s.offset,
             .octets = s.octets,
             .place = s.place});
}

std::uint64_t CollectiveRank::sum_of(const CollectiveStep& send) const noexcept {
  return send.relays == CollectiveStep::kNone ? contributors_.of(send) : relayed_[send.relays];
}

CollectiveRank::Source CollectiveRank::source(const Outgoing& message, std::uint32_t nic) {
  Registered& at = registered_[nic];
  if (real_) return {kCollectiveMemory + base(message.repeat, stride()) + message.offset, at.key};
  const CollectiveStep& s = program_.steps[message.step];
  const std::uint64_t sum = sum_of(s);
  const auto [found, is_new] = at.promise_keys.try_emplace(sum, 0);
  if (is_new) {
    const auto key = at.memory->add(
        {.address = 0, .octets = kPromise, .access = {}, .domain = kCollectiveDomain, .stream = kPromise | sum});
    RAILYARD_ASSERT(key.has_value(), "there are as many regions as are wanted");
    found->second = *key;
  }
  return {name_of(s.identity, message.repeat), found->second};
}

Duration CollectiveRank::time_in_host(std::uint32_t octets) const noexcept {
  const Duration time = pipe_->time_of(octets);
  if (config_.scale_up_share == 1) return time;
  return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) / config_.scale_up_share)};
}

void CollectiveRank::post_in_host(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program_.steps[step];
  const Peer& peer = peers_[s.connection];
  const Duration time = time_in_host(s.octets);
  states_[step] = StepState::kPosted;
  const auto first = pipe_->send(now, port_in_host_, *peer.in_host->pipe_, peer.in_host->port_in_host_,
                                 {.from = this,
                                  .to = peer.in_host,
                                  .connection = program_.connections[s.connection].at_peer,
                                  .sent_step = step,
                                  .step = s.peer_step,
                                  .repeat = repeat_,
                                  .sum = real_ ? 0 : sum_of(s),
                                  .offset = s.offset,
                                  .octets = s.octets,
                                  .time = time});
  ++scale_up_->messages;
  scale_up_->octets += s.octets;
  scale_up_->busy += time;
  if (first) scale_up_->latency.record(static_cast<std::uint64_t>(first->ps));
}

// A carrier whose peer does not answer may have no room for one more: then it goes when something else is complete.
void CollectiveRank::post_credits(Instant now, std::uint32_t connection) {
  Peer& peer = peers_[connection];
  for (; peer.in_host != nullptr && peer.credits_owed > 0; --peer.credits_owed)
    pipe_->send(now, port_in_host_, *peer.in_host->pipe_, peer.in_host->port_in_host_,
                {.from = this, .to = peer.in_host, .connection = program_.connections[connection].at_peer});
  for (; peer.credits_owed > 0 && !peer.failed; --peer.credits_owed)
    if (!post_credit(now, connection)) return;
}

void CollectiveRank::on_sent(Instant now, std::uint32_t connection, std::uint32_t step) {
  if (step != kNoStep) {
    message_times_.record(static_cast<std::uint64_t>((now - posted_[step]).ps));
    done(now, step);
  }
  post_credits(now, connection);
}

// ---- Messages that come --------------------------------------------------------------------------------------------

void CollectiveRank::on_failed(Instant now, std::uint32_t connection, std::string_view what, std::string_view status) {
  peers_[connection].failed = true;
  if (!failure_) failure_ = Failure{connection, what, status, now};
}

void CollectiveRank::on_credit(Instant now, std::uint32_t connection) {
  Peer& peer = peers_[connection];
  ++peer.allowed;
  for (const std::uint32_t blocked : std::exchange(peer.blocked, {})) send(now, blocked);
}

void CollectiveRank::on_message(Instant now, std::uint32_t connection, const Incoming& message) {
  Arrival a{message.repeat, message.step, 0};
  ++messages_;
  octets_ += message.octets;
  if (!is_expected(a, connection)) [[unlikely]] {
    ++wrong_messages_;
    return;
  }
  const CollectiveStep& s = program_.steps[a.step];
  bool right = message.octets == s.octets;
  if (!real_) {
    right = right && message.intact && message.offset == name_of(s.identity, a.repeat) &&
            (message.stream & kPromise) != 0;
    // What came in the place of a promise is nobody's input.
    a.sum = message.stream & Contributors::kMask;
    if (!right) a.sum = mix64(a.sum + 1) & Contributors::kMask;
  }
  if (!right) [[unlikely]]
    ++wrong_messages_;
  arrived(now, a);
}

bool CollectiveRank::is_expected(const Arrival& a, std::uint32_t connection) const noexcept {
  return a.repeat - repeat_ <= 1 && a.step < program_.steps.size() && program_.steps[a.step].receives() &&
         program_.steps[a.step].connection == connection &&
         (a.repeat != repeat_ || !running_ || states_[a.step] == StepState::kWaiting);
}

void CollectiveRank::arrived(Instant now, const Arrival& a) {
  if (a.repeat == repeat_ && running_ && !launching_)
    take(now, a);
  else
    early_.push_back(a);
}

std::byte* CollectiveRank::place_of(std::uint64_t offset, std::uint32_t repeat) noexcept {
  return real_->memory().data() + repeat % copies() * stride() + offset;
}

void CollectiveRank::on_scale_up(Instant now, const ScaleUp::Message& m) {
  if (m.octets == 0) return on_credit(now, m.connection);
  const Arrival a{m.repeat, m.step, m.sum};
  if (!is_expected(a, m.connection) || program_.steps[m.step].octets != m.octets) [[unlikely]] {
    ++wrong_messages_;
    return;
  }
  if (real_)
    std::memcpy(place_of(program_.steps[m.step].place, m.repeat), m.from->place_of(m.offset, m.repeat), m.octets);
  arrived(now, a);
}

// Every message has its fixed cost, whatever others are there.
void CollectiveRank::take(Instant now, const Arrival& arrival) {
  if (states_[arrival.step] != StepState::kWaiting) [[unlikely]] {  // it came twice before its repeat was begun
    ++wrong_messages_;
    return;
  }
  if (record_) record_->begin(now, arrival.step);
  const Duration cost = config_.step_cost + program_.steps[arrival.step].time;
  if (cost == Duration{}) return reduce(now, arrival);
  states_[arrival.step] = StepState::kPosted;
  received_.push({now + cost, taken_++, arrival});
  note_due();
}

// Additions take their time one after the other, in the order in which their messages came.
void CollectiveRank::reduce(Instant now, const Arrival& arrival) {
  const CollectiveStep& s = program_.steps[arrival.step];
  if (s.kind != Kind::kReduce || config_.reduce_rate.bps == 0) return apply(now, arrival);
  states_[arrival.step] = StepState::kPosted;
  reducing_until_ = std::max(now, reducing_until_) + std::max(Bytes{s.octets} / config_.reduce_rate, Duration{1});
  reductions_.push({reducing_until_, arrival});
  note_due();
}

void CollectiveRank::apply(Instant now, const Arrival& arrival) {
  const CollectiveStep& s = program_.steps[arrival.step];
  if (s.kind == Kind::kReduce) {
    if (real_)
      real_->add(s, repeat_);
    else
      contributors_.add(s, arrival.sum);
  } else if (!real_ && s.kind == Kind::kRelay) {
    relayed_[arrival.step] = arrival.sum;
  } else if (!real_) {
    contributors_.set(s, arrival.sum);
  }
  done(now, arrival.step);
}

// ---- Run by another process -----------------------------------------------------------------------------------------

// Literals are elsewhere in each process.
void CollectiveRank::exchange_figures(StateArchive& archive) {
  RankTraffic traffic = this->traffic();
  struct Failed {
    std::uint32_t connection;
    Instant at;
  };
  std::optional<Failed> failed;
  if (failure_ && !archive.reads()) {
    failed = {failure_->connection, failure_->at};
    told_what_ = failure_->what;
    told_status_ = failure_->status;
  }
  archive(repeat_, running_, states_, started_, finished_, message_times_, wrong_, wrong_messages_, messages_, octets_,
          computed_, scale_up_, traffic, told_what_, told_status_, failed);
  if (record_) archive(*record_);
  if (!archive.reads()) return;
  told_traffic_ = traffic;
  if (failed) failure_ = Failure{failed->connection, told_what_, told_status_, failed->at};
}

}  // namespace railyard
