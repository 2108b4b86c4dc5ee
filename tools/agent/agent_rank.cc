#include "tools/agent/agent_rank.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "dataplane/base/hash.h"
#include "transports/collectives/collective_config.h"
#include "transports/roce/collectives/collective_layout.h"

namespace railyard::agent {
namespace {

using Kind = CollectiveStep::Kind;

using roce::kCredit;
using roce::kOdd;
using roce::wr_id;
constexpr std::uint32_t kNoStep = ~std::uint32_t{0};

constexpr std::size_t kMostSendTimes = 1 << 20;

CollectiveConfig data_config(const agents::Prepare& p) {
  CollectiveConfig c;
  c.index = p.index;
  c.element = p.element;
  c.repeats = p.repeats;
  c.seed = p.seed;
  return c;
}

std::uint64_t whole_ns(Duration d) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, nanoseconds(d)));
}

}  // namespace

AgentRank::AgentRank(Verbs& verbs, agents::Prepare what)
    : what_(std::move(what)),
      data_(program(), data_config(what_), copies()),
      verbs_(verbs.open(what_.address, roce::completions_of(program()))),
      peers_(program().connections.size()),
      states_(program().steps.size()),
      posted_at_(program().steps.size()) {
  const RankVerbs::Memory memory = verbs_->register_memory(data_.memory());
  prepared_ = {what_.id, verbs_->device(), memory.key, memory.address, stride(), {}};
  for (const RankConnection& c : program().connections)
    prepared_.qpns.push_back(verbs_->create_qp(roce::send_requests(c), roce::receive_requests(c)));
  counters_before_ = verbs.counters(verbs_->device());
}

void AgentRank::connect(const std::vector<agents::QpPeer>& peers) {
  if (peers.size() != peers_.size())
    throw agents::ProtocolError(fmt::format("connect: {} peers; expected {}", peers.size(), peers_.size()));
  const QpSettings settings{what_.path_mtu, what_.timeout,       what_.retry_cnt,
                            what_.rnr_retry, what_.min_rnr_timer, what_.traffic_class};
  for (std::uint32_t c = 0; c < peers_.size(); ++c) {
    peers_[c].end = peers[c];
    verbs_->initialise(c);
    for (std::size_t i = 0; i < roce::receive_requests(program().connections[c]); ++i)
      verbs_->post_receive(c, wr_id(c, kNoStep));
    verbs_->connect(c, peers[c], settings);
  }
}

void AgentRank::go(Instant now) {
  if (std::exchange(going_, true)) throw agents::ProtocolError("go: it goes already");
  zero_ = now;
  begin(now);
}

// ---- A repeat ------------------------------------------------------------------------------------------------------

void AgentRank::begin(Instant now) {
  running_ = true;
  repeats_.push_back({whole_ns(now - zero_), 0});
  std::ranges::fill(states_, State::kWaiting);
  waits_.clear();
  left_ = program().steps.size();
  receives_left_ = 0;
  for (const CollectiveStep& s : program().steps) {
    waits_.push_back(s.waits_for);
    receives_left_ += s.receives() ? 1u : 0u;
  }
  data_.begin(program(), repeat_);
  if (receives_left_ == 0) repeats_.back().finish_ns = repeats_.back().start_ns;
  for (std::uint32_t s = 0; s < program().steps.size(); ++s)
    if (!program().steps[s].receives() && program().steps[s].waits_for == 0) start(now, s);
  take_early(now);
}

// In the order in which they came. The last of a repeat may begin the next one, and so come here again.
void AgentRank::take_early(Instant now) {
  const auto is_due = [this](const Arrival& a) { return running_ && a.repeat == repeat_; };
  for (auto a = std::ranges::find_if(early_, is_due); a != early_.end(); a = std::ranges::find_if(early_, is_due)) {
    const std::uint32_t step = a->step;
    early_.erase(a);
    take(now, step);
  }
}

void AgentRank::finish(Instant now) {
  running_ = false;
  if (repeat_ + 2 < what_.repeats)
    for (std::uint32_t c = 0; c < peers_.size(); ++c)
      if (program().connections[c].receives > 0) {
        ++peers_[c].credits_owed;
        post_credits(c);
      }
  if (++repeat_ == what_.repeats) return;
  if (what_.gap_ns > 0)
    start_at_ = now + Duration{static_cast<std::int64_t>(what_.gap_ns) * 1000};
  else
    begin(now);
}

void AgentRank::done(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program().steps[step];
  states_[step] = State::kDone;
  --left_;
  if (s.receives() && --receives_left_ == 0) {
    repeats_.back().finish_ns = whole_ns(now - zero_);
    data_.verify(program(), repeat_, wrong_);
  }
  for (std::uint32_t i = s.first_after; i < s.end_after; ++i)
    if (const std::uint32_t next = program().after[i]; --waits_[next] == 0) start(now, next);
  if (left_ == 0) finish(now);
}

// Computing takes as long as a built-in rank would be drawn to take (CollectiveRank::start).
void AgentRank::start(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program().steps[step];
  if (s.kind != Kind::kCompute) return send(now, step);
  const std::uint64_t draw =
      mix64(mix64(what_.seed ^ mix64(what_.index + 1)) + (std::uint64_t{repeat_} << 32 | program().rank));
  const std::uint64_t more = what_.jitter_ppm == 0 ? 0 : draw % (std::uint64_t{what_.jitter_ppm} + 1);
  constexpr std::int64_t kMillion = 1'000'000;
  const Duration time =
      s.time + Duration{static_cast<std::int64_t>(Int128{s.time.ps} * static_cast<std::int64_t>(more) / kMillion)};
  computed_ += time;
  states_[step] = State::kPosted;
  if (time == Duration{}) return done(now, step);
  computing_ = step;
  compute_until_ = now + time;
}

// ---- Messages ------------------------------------------------------------------------------------------------------

void AgentRank::send(Instant now, std::uint32_t step) {
  const CollectiveStep& s = program().steps[step];
  Peer& peer = peers_[s.connection];
  if (repeat_ >= peer.allowed) {
    peer.blocked.push_back(step);
    return;
  }
  states_[step] = State::kPosted;
  posted_at_[step] = now;
  verbs_->post_write(s.connection,
                     {.wr_id = wr_id(s.connection, step),
                      .offset = repeat_ % copies() * stride() + s.offset,
                      .octets = s.octets,
                      .remote_address = peer.end.memory + repeat_ % copies() * peer.end.stride + s.place,
                      .remote_key = peer.end.key,
                      .immediate = s.peer_step | (repeat_ % 2 != 0 ? kOdd : 0)});
}

// Those for which there is no room go when earlier ones are complete.
void AgentRank::post_credits(std::uint32_t connection) {
  Peer& peer = peers_[connection];
  for (; peer.credits_owed > 0 && peer.credits_out < roce::kCreditsOut; --peer.credits_owed, ++peer.credits_out)
    verbs_->post_write(connection, {.wr_id = wr_id(connection, kNoStep), .immediate = kCredit});
}

bool AgentRank::work(Instant now) {
  bool any = false;
  if (start_at_ <= now) {
    start_at_ = Instant::never();
    begin(now);
    any = true;
  }
  if (compute_until_ <= now) {
    compute_until_ = Instant::never();
    done(now, computing_);
    any = true;
  }
  std::array<WorkCompletion, 16> some;
  while (const std::size_t n = failed() ? 0 : verbs_->poll(some)) {
    any = true;
    for (const WorkCompletion& completion : std::span(some).first(n)) on_completion(now, completion);
  }
  return any;
}

void AgentRank::on_completion(Instant now, const WorkCompletion& completion) {
  const auto connection = static_cast<std::uint32_t>(completion.wr_id >> 32);
  const auto step = static_cast<std::uint32_t>(completion.wr_id);
  if (failed()) return;
  if (!completion.ok) {
    failure_ = fmt::format("the QP to rank {} failed: {}", program().connections[connection].peer, completion.error);
    return;
  }
  Peer& peer = peers_[connection];
  if (completion.immediate) {
    verbs_->post_receive(connection, wr_id(connection, kNoStep));
    if (*completion.immediate != kCredit) return on_message(now, connection, completion);
    ++peer.allowed;
    for (const std::uint32_t blocked : std::exchange(peer.blocked, {})) send(now, blocked);
    return;
  }
  if (step != kNoStep) {
    constexpr std::int64_t kTenths = 100'000;  // ps
    if (send_tenths_.size() < kMostSendTimes)
      send_tenths_.push_back(static_cast<std::uint32_t>(
          std::clamp<std::int64_t>((now - posted_at_[step]).ps / kTenths, 0, ~std::uint32_t{0})));
    done(now, step);
  } else {
    --peer.credits_out;
  }
  post_credits(connection);
}

void AgentRank::on_message(Instant now, std::uint32_t connection, const WorkCompletion& completion) {
  const std::uint32_t step = *completion.immediate & ~kOdd;
  const bool odd = (*completion.immediate & kOdd) != 0;
  // A peer may begin before `go` has come here.
  const std::uint32_t repeat = odd == (repeat_ % 2 != 0) ? repeat_ : repeat_ + 1;
  ++messages_;
  octets_ += completion.octets;
  const bool known = step < program().steps.size() && program().steps[step].receives() &&
                     program().steps[step].connection == connection &&
                     (repeat != repeat_ || !running_ || states_[step] == State::kWaiting);
  if (!known || completion.octets != program().steps[step].octets) ++wrong_messages_;
  if (!known) return;
  if (repeat == repeat_ && running_)
    take(now, step);
  else
    early_.push_back({repeat, step});
}

void AgentRank::take(Instant now, std::uint32_t step) {
  if (states_[step] == State::kDone) {  // it came twice
    ++wrong_messages_;
    return;
  }
  const CollectiveStep& s = program().steps[step];
  if (s.kind == Kind::kReduce) data_.add(s, repeat_);
  done(now, step);
}

agents::RankResult AgentRank::result(Verbs& verbs) const {
  agents::RankResult r{.id = what_.id,
                       .complete = complete(),
                       .failure = failure_,
                       .repeats = repeats_,
                       .wrong_octets = wrong_.octets,
                       .wrong_repeat = wrong_.repeat,
                       .wrong_offset = wrong_.offset,
                       .wrong_messages = wrong_messages_,
                       .messages = messages_,
                       .octets = octets_,
                       .computed_ns = whole_ns(computed_)};
  if (std::vector<std::uint32_t> all = send_tenths_; !all.empty()) {
    std::ranges::sort(all);
    const auto ns = [](std::uint32_t tenths) { return std::uint64_t{tenths} * 100; };
    r.send_min_ns = ns(all.front());
    r.send_median_ns = ns(all[(all.size() - 1) / 2]);
    r.send_max_ns = ns(all.back());
  }
  for (const auto& [name, count] : verbs.counters(prepared_.device)) {
    const auto before = counters_before_.find(name);
    const std::uint64_t was = before == counters_before_.end() ? 0 : before->second;
    if (count > was) r.counters[name] = count - was;
  }
  return r;
}

}  // namespace railyard::agent
