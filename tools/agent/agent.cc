#include "tools/agent/agent.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"

namespace railyard::agent {

using agents::ProtocolError;
using agents::RankId;
using nlohmann::json;

namespace {

std::string called(RankId id) { return fmt::format("collective {} rank {}", id.collective, id.rank); }

}  // namespace

Agent::Agent(Verbs& verbs, AgentConfig config)
    : verbs_(verbs), config_(std::move(config)), devices_(verbs.devices()) {
  if (devices_.empty())
    throw VerbsError(
        "there is no RDMA device with an Ethernet port here (`ibv_devices` lists them); SoftRoCE makes one of a "
        "network interface: rdma link add rxe0 type rxe netdev eth0");
}

json Agent::hello() const {
  return agents::to_json(agents::Hello{
      .version = config_.version, .host = config_.host, .token = config_.token, .devices = devices_});
}

void Agent::on_message(Instant now, const json& message) {
  const std::string type = agents::type_of(message);
  if (type == "error") throw Refused(message.value("why", "no reason given"));
  if (type == "alive") return;
  if (type == "welcome") {
    welcome_ = true;
    log_.push_back(fmt::format("joined lab '{}' as {}", message.value("lab", "?"), config_.host));
    return;
  }
  if (!welcome_) throw ProtocolError(fmt::format("'{}' before 'welcome'", type));
  if (type == "prepare") return prepare(message);
  const RankId id = agents::rank_from_json(message);
  if (type == "connect") {
    const agents::Connect connect = agents::connect_from_json(message);
    Rank& rank = rank_named(id);
    guarded(id, [&] {
      rank.rank.connect(connect.peers);
      outgoing_.push_back(agents::message("connected", id));
    });
  } else if (type == "go") {
    Rank& rank = rank_named(id);
    log_.push_back(called(id) + " goes");
    guarded(id, [&] { rank.rank.go(now); });
  } else if (type == "end") {
    const std::string why = message.value("why", "");
    if (!why.empty()) log_.push_back(fmt::format("{} has ended: {}", called(id), why));
    // How far it came.
    const auto found = std::ranges::find_if(ranks_, [&](const Rank& r) { return r.rank.id() == id; });
    if (found == ranks_.end()) return;
    if (!found->told) tell(*found);
    ranks_.erase(found);
  } else {
    throw ProtocolError(fmt::format("'{}' is no message that an agent knows", type));
  }
}

Agent::Rank& Agent::rank_named(RankId id) {
  const auto found = std::ranges::find_if(ranks_, [&](const Rank& r) { return r.rank.id() == id; });
  if (found == ranks_.end()) throw ProtocolError(called(id) + " was not prepared");
  return *found;
}

template <class Do>
void Agent::guarded(RankId id, Do&& what) {
  try {
    what();
  } catch (const VerbsError& error) {
    fail(id, error.what());
  } catch (const std::bad_alloc&) {
    fail(id, "there is not enough memory for the rank's data");
  }
}

void Agent::prepare(const json& message) {
  agents::Prepare what = agents::prepare_from_json(message);
  const RankId id = what.id;
  if (std::ranges::any_of(ranks_, [&](const Rank& r) { return r.rank.id() == id; }))
    throw ProtocolError(called(id) + " is prepared already");
  guarded(id, [&] {
    ranks_.emplace_back(verbs_, std::move(what));
    const agents::Prepared& prepared = ranks_.back().rank.prepared();
    outgoing_.push_back(agents::to_json(prepared));
    log_.push_back(fmt::format("{} is prepared at {}: {} QPs", called(id), prepared.device, prepared.qpns.size()));
  });
}

void Agent::fail(RankId id, const std::string& why) {
  agents::RankResult result{.id = id, .failure = why, .repeats = {}, .counters = {}};
  const auto found = std::ranges::find_if(ranks_, [&](const Rank& r) { return r.rank.id() == id; });
  if (found != ranks_.end()) {
    result = found->rank.result(verbs_);
    result.failure = why;
    found->told = found->dead = true;
  }
  log_.push_back(fmt::format("{} has failed: {}", called(id), why));
  outgoing_.push_back(agents::to_json(result, "failed"));
}

void Agent::tell(Rank& rank) {
  rank.told = true;
  const agents::RankResult result = rank.rank.result(verbs_);
  if (rank.rank.failed()) return fail(rank.rank.id(), result.failure);
  log_.push_back(fmt::format("{} {}: {} messages, {} wrong octets", called(rank.rank.id()),
                             result.complete ? "is complete" : "was not completed", result.messages,
                             result.wrong_octets));
  outgoing_.push_back(agents::to_json(result, "done"));
}

bool Agent::work(Instant now) {
  bool any = false;
  for (Rank& r : ranks_) {
    if (r.dead) continue;
    guarded(r.rank.id(), [&] { any = r.rank.work(now) || any; });
    if (!r.told && (r.rank.complete() || r.rank.failed())) tell(r);
  }
  return any;
}

Instant Agent::next_due() const noexcept {
  Instant next = Instant::never();
  for (const Rank& r : ranks_) next = std::min(next, r.rank.next_due());
  return next;
}

std::vector<int> Agent::ready_fds() const {
  std::vector<int> all;
  for (const Rank& r : ranks_)
    if (const int fd = r.rank.ready_fd(); fd >= 0) all.push_back(fd);
  return all;
}

}  // namespace railyard::agent
