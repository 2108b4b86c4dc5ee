#include "tools/agent/agent.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "tools/agent/agent_flow.h"
#include "tools/agent/agent_rank.h"

namespace railyard::agent {

using agents::ProtocolError;
using agents::TaskId;
using nlohmann::json;

namespace {

// How often a lab is told how far a task is.
constexpr Duration kProgressEvery{1'000'000'000'000};

std::string called(const TaskId& id) {
  if (const auto* const rank = std::get_if<agents::RankId>(&id))
    return fmt::format("collective {} rank {}", rank->collective, rank->rank);
  const auto& end = std::get<agents::FlowEndId>(id);
  return fmt::format("the {} of flow {}", end.sink ? "sink" : "source", end.flow);
}

// Of a task that never was.
json failure_of(const TaskId& id, const std::string& why) {
  if (const auto* const rank = std::get_if<agents::RankId>(&id))
    return agents::to_json(agents::RankResult{.id = *rank, .failure = why, .repeats = {}, .counters = {}}, "failed");
  return agents::to_json(agents::FlowResult{.id = std::get<agents::FlowEndId>(id), .failure = why, .counters = {}},
                         "failed");
}

}  // namespace

Agent::Agent(Verbs& verbs, AgentConfig config)
    : verbs_(verbs), config_(std::move(config)), devices_(verbs.devices()) {
  if (devices_.empty())
    throw VerbsError(
        "this host has no RDMA device with an Ethernet port (`ibv_devices` lists them); SoftRoCE makes one from a "
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
  if (type == "prepare") {
    agents::Prepare what = agents::prepare_from_json(message);
    const TaskId id = what.id;
    return prepare(id, [&] { return std::make_unique<AgentRank>(verbs_, std::move(what)); });
  }
  if (type == "prepare-flow") {
    const agents::PrepareFlow what = agents::prepare_flow_from_json(message);
    return prepare(what.id, [&] { return std::make_unique<AgentFlow>(verbs_, what); });
  }
  const TaskId id = agents::task_from_json(message);
  if (type == "connect") {
    const agents::Connect connect = agents::connect_from_json(message);
    Task& task = task_named(id);
    guarded(id, [&] {
      task.task->connect(connect);
      outgoing_.push_back(agents::message("connected", id));
    });
  } else if (type == "go") {
    Task& task = task_named(id);
    log_.push_back(called(id) + " goes");
    task.going = true;
    task.told_at = now;
    guarded(id, [&] { task.task->go(now); });
  } else if (type == "stop") {
    if (Task* const task = find(id)) task->task->stop(now);
  } else if (type == "end") {
    end(now, id, message.value("why", ""));
  } else {
    throw ProtocolError(fmt::format("unknown message '{}'", type));
  }
}

Agent::Task* Agent::find(const TaskId& id) {
  const auto found = std::ranges::find_if(tasks_, [&](const Task& t) { return t.task->id() == id; });
  return found == tasks_.end() ? nullptr : &*found;
}

Agent::Task& Agent::task_named(const TaskId& id) {
  if (Task* const task = find(id)) return *task;
  throw ProtocolError(called(id) + " is not prepared");
}

template <class Do>
void Agent::guarded(const TaskId& id, Do&& what) {
  try {
    what();
  } catch (const VerbsError& error) {
    fail(id, error.what());
  } catch (const std::bad_alloc&) {
    fail(id, "not enough memory for its data");
  }
}

void Agent::prepare(const TaskId& id, const std::function<std::unique_ptr<AgentTask>()>& make) {
  if (find(id) != nullptr) throw ProtocolError(called(id) + " is already prepared");
  guarded(id, [&] {
    const agents::Prepared& prepared = tasks_.emplace_back(Task{make()}).task->prepared();
    outgoing_.push_back(agents::to_json(prepared));
    log_.push_back(fmt::format("{} is prepared at {}: {} QPs", called(id), prepared.device, prepared.qpns.size()));
  });
}

void Agent::fail(const TaskId& id, const std::string& why) {
  Task* const task = find(id);
  if (task != nullptr) task->told = task->dead = true;
  log_.push_back(fmt::format("{} has failed: {}", called(id), why));
  outgoing_.push_back(task == nullptr ? failure_of(id, why) : task->task->result(verbs_, "failed", why));
}

// How far it came is told.
void Agent::end(Instant now, const TaskId& id, const std::string& why) {
  if (!why.empty()) log_.push_back(fmt::format("{} has ended: {}", called(id), why));
  Task* const task = find(id);
  if (task == nullptr) return;
  if (!task->told) guarded(id, [&] { task->task->work(now); });
  if (!task->told) tell(*task);
  tasks_.remove_if([&](const Task& t) { return &t == task; });
}

void Agent::tell(Task& task) {
  task.told = true;
  const TaskId id = task.task->id();
  const bool failed = task.task->failed();
  const char* const became = failed ? "has failed" : task.task->complete() ? "is complete" : "is over";
  log_.push_back(fmt::format("{} {}: {}", called(id), became, task.task->summary()));
  outgoing_.push_back(task.task->result(verbs_, failed ? "failed" : "done", ""));
  task.dead = failed;
}

bool Agent::work(Instant now) {
  bool any = false;
  for (Task& t : tasks_) {
    if (t.dead) continue;
    guarded(t.task->id(), [&] { any = t.task->work(now) || any; });
    if (!t.told && (t.task->complete() || t.task->failed())) tell(t);
    if (t.going && !t.told && t.task->tells_progress() && now - t.told_at >= kProgressEvery) {
      t.told_at = now;
      outgoing_.push_back(t.task->result(verbs_, "progress", ""));
    }
  }
  return any;
}

Instant Agent::next_due() const noexcept {
  Instant next = Instant::never();
  for (const Task& t : tasks_) next = std::min(next, t.task->next_due());
  return next;
}

std::vector<int> Agent::ready_fds() const {
  std::vector<int> all;
  for (const Task& t : tasks_)
    if (const int fd = t.task->ready_fd(); fd >= 0) all.push_back(fd);
  return all;
}

}  // namespace railyard::agent
