#include "tools/agent/agent_rank.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "transports/roce/collectives/collective_layout.h"

namespace railyard::agent {
namespace {

using roce::kCredit;
using roce::kOdd;
using roce::wr_id;

constexpr std::size_t kMostSendTimes = 1 << 20;

// It starts when it is told to.
CollectiveConfig config_of(const agents::Prepare& p) {
  return {.index = p.index,
          .element = p.element,
          .repeats = p.repeats,
          .start = Instant::never(),
          .gap = Duration{static_cast<std::int64_t>(p.gap_ns) * 1000},
          .seed = p.seed,
          .jitter_ppm = p.jitter_ppm};
}

}  // namespace

AgentRank::AgentRank(Verbs& verbs, agents::Prepare what)
    : CollectiveRank(nullptr, config_of(what), std::move(what.program), true),
      what_(std::move(what)),
      verbs_(verbs.open(what_.address, roce::completions_of(program()))),
      connections_(program().connections.size()),
      posted_at_(program().steps.size()) {
  const RcVerbs::Memory memory = verbs_->register_memory(real()->memory(), RemoteAccess::kWrite);
  prepared_ = {
      .id = what_.id, .device = verbs_->device(), .key = memory.key, .address = memory.address, .stride = stride()};
  for (const RankConnection& c : program().connections)
    prepared_.qpns.push_back(verbs_->create_qp(roce::send_requests(c), roce::receive_requests(c)));
  counters_before_ = verbs.counters(verbs_->device());
}

void AgentRank::connect(const agents::Connect& connect) {
  const std::vector<agents::QpPeer>& peers = connect.peers;
  if (peers.size() != connections_.size())
    throw agents::ProtocolError(fmt::format("connect: {} peers; expected {}", peers.size(), connections_.size()));
  for (std::uint32_t c = 0; c < connections_.size(); ++c) {
    connections_[c].end = peers[c];
    verbs_->initialise(c);
    for (std::size_t i = 0; i < roce::receive_requests(program().connections[c]); ++i)
      verbs_->post_receive(c, wr_id(c, kNoStep));
    verbs_->connect(c, peers[c], what_.terms);
  }
}

void AgentRank::go(Instant now) {
  if (std::exchange(going_, true)) throw agents::ProtocolError("go: it runs already");
  zero_ = now;
  start_at(now);
  run_due(now);
}

// ---- Messages ------------------------------------------------------------------------------------------------------

void AgentRank::post(Instant now, const Outgoing& m) {
  const agents::QpPeer& end = connections_[m.connection].end;
  posted_at_[m.step] = now;
  verbs_->post_send(m.connection, {.wr_id = wr_id(m.connection, m.step),
                                   .offset = base(m.repeat, stride()) + m.offset,
                                   .octets = m.octets,
                                   .remote_address = end.memory + base(m.repeat, end.stride) + m.place,
                                   .remote_key = end.key,
                                   .immediate = m.peer_step | (m.repeat % 2 != 0 ? kOdd : 0)});
}

// Those for which there is no room go when earlier ones are complete.
bool AgentRank::post_credit(Instant, std::uint32_t connection) {
  if (connections_[connection].credits_out == roce::kCreditsOut) return false;
  ++connections_[connection].credits_out;
  verbs_->post_send(connection, {.wr_id = wr_id(connection, kNoStep), .immediate = kCredit});
  return true;
}

bool AgentRank::work(Instant now) {
  bool any = false;
  for (; next_due() <= now; any = true) run_due(now);
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
  if (completion.immediate) {
    verbs_->post_receive(connection, wr_id(connection, kNoStep));
    if (*completion.immediate == kCredit) return on_credit(now, connection);
    return on_message(now, connection,
                      {.step = *completion.immediate & ~kOdd,
                       .repeat = repeat_of((*completion.immediate & kOdd) != 0),
                       .octets = completion.octets});
  }
  if (step != kNoStep) {
    constexpr std::int64_t kTenths = 100'000;  // ps
    if (send_tenths_.size() < kMostSendTimes)
      send_tenths_.push_back(static_cast<std::uint32_t>(
          std::clamp<std::int64_t>((now - posted_at_[step]).ps / kTenths, 0, ~std::uint32_t{0})));
  } else {
    --connections_[connection].credits_out;
  }
  on_sent(now, connection, step);
}

nlohmann::json AgentRank::result(Verbs& verbs, std::string_view type, const std::string& failure) const {
  agents::RankResult r{.id = what_.id,
                       .complete = complete(),
                       .failure = failure.empty() ? failure_ : failure,
                       .wrong_octets = wrong().octets,
                       .wrong_repeat = wrong().repeat,
                       .wrong_offset = wrong().offset,
                       .wrong_messages = wrong_messages(),
                       .messages = messages(),
                       .octets = octets(),
                       .computed_ns = whole_ns(computed())};
  for (std::size_t k = 0; k < started().size(); ++k)
    r.repeats.push_back(
        {whole_ns(started()[k] - zero_), finished()[k] == Instant::never() ? 0 : whole_ns(finished()[k] - zero_)});
  if (std::vector<std::uint32_t> all = send_tenths_; !all.empty()) {
    std::ranges::sort(all);
    const auto ns = [](std::uint32_t tenths) { return std::uint64_t{tenths} * 100; };
    r.send_min_ns = ns(all.front());
    r.send_median_ns = ns(all[(all.size() - 1) / 2]);
    r.send_max_ns = ns(all.back());
  }
  r.counters = counted_since(counters_before_, verbs, prepared_.device);
  return agents::to_json(r, type);
}

std::string AgentRank::summary() const {
  return fmt::format("{} messages, {} wrong octets", messages(), wrong().octets);
}

}  // namespace railyard::agent
