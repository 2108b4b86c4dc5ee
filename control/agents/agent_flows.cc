#include "control/agents/agent_flows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "control/agents/at_nic.h"
#include "control/report/flow_json.h"
#include "control/spec/value.h"
#include "transports/roce/flows/flow_endpoint.h"

namespace railyard::agents {

using nlohmann::json;
using roce::FlowConnection;

namespace {

constexpr std::array kBothEnds{false, true};

const char* name(bool sink) { return sink ? "sink" : "source"; }

}  // namespace

AgentFlows::AgentFlows(build::BuiltLab& lab, Surroundings surroundings) : lab_(lab), around_(std::move(surroundings)) {
  for (const build::AgentFlow& what : lab_.agent_flows()) {
    flows_.push_back({.what = &what});
    flows_.back().index = static_cast<std::uint32_t>(flows_.size() - 1);
  }
}

void AgentFlows::send_to_ends(const Flow& f, const std::function<json(FlowEndId)>& message) {
  for (const bool sink : kBothEnds)
    if (f.end(sink).is_agents()) around_.send(f.end(sink).nic.node, message(id_of(f, sink)));
}

// ---- Before it goes ------------------------------------------------------------------------------------------------

void AgentFlows::on_joined() {
  for (Flow& f : flows_) {
    if (f.phase != Phase::kWaiting) continue;
    const bool all = std::ranges::all_of(
        kBothEnds, [&](bool sink) { return !f.end(sink).is_agents() || around_.has_joined(f.end(sink).nic.node); });
    if (!all) continue;
    f.phase = Phase::kPreparing;
    for (const bool sink : kBothEnds)
      if (const std::uint64_t much = preparation(f, sink).memory(); f.end(sink).is_agents() && much > kMostOfFlow)
        fail(f, fmt::format("its {} needs {} of buffer; agents have at most {}", name(sink),
                            spec::format(Bytes{static_cast<std::int64_t>(much)}),
                            spec::format(Bytes{static_cast<std::int64_t>(kMostOfFlow)})));
    if (f.phase == Phase::kPreparing) send_to_ends(f, [&](FlowEndId id) { return to_json(preparation(f, id.sink)); });
  }
}

PrepareFlow AgentFlows::preparation(const Flow& f, bool sink) const {
  const spec::TrafficSpec& t = lab_.spec().traffic[f.what->plan.traffic];
  const build::AgentFlow::End& end = f.end(sink);
  const roce::QpAttributes& a = end.end.attributes;
  return {.id = id_of(f, sink),
          .config = f.what->config,
          .address = end.address,
          .terms = {.path_mtu = static_cast<std::uint32_t>(t.roce.path_mtu),
                    .timeout = a.timeout,
                    .retry_cnt = a.retry_cnt,
                    .rnr_retry = a.rnr_retry,
                    .min_rnr_timer = a.min_rnr_timer,
                    // DSCP, and ECT(0) as built-in NICs set it.
                    .traffic_class = static_cast<std::uint8_t>(t.dscp << 2 | (t.ect ? 2 : 0)),
                    .reads = static_cast<std::uint8_t>(std::min<int>(a.max_rd_atomic, 255))}};
}

void AgentFlows::on_message(const std::string& host, FlowEndId id, const std::string& type, const json& message) {
  const std::size_t i = flows_.empty() ? 0 : id.flow % flows_.size();
  if (flows_.empty() || id.flow / flows_.size() > flows_[i].attempt || !flows_[i].end(id.sink).is_agents() ||
      flows_[i].end(id.sink).nic.node != host)
    throw ProtocolError(fmt::format("the {} of flow {} is not this agent's", name(id.sink), id.flow));
  Flow& f = flows_[i];
  if (id != id_of(f, id.sink)) return;  // it was run again meanwhile
  if (type == "prepared") return on_prepared(f, id.sink, prepared_from_json(message));
  if (type == "connected") {
    f.connected[id.sink] = true;
    return advance();
  }
  if (type != "progress" && type != "done" && type != "failed")
    throw ProtocolError(fmt::format("unknown message '{}'", type));
  f.results[id.sink] = flow_result_from_json(message);
  if (const FlowResult& r = *f.results[id.sink]; type == "failed" || !r.failure.empty())
    return fail(f, fmt::format("its {} ({}): {}", name(id.sink), spec::format(f.end(id.sink).nic), r.failure));
  if (type == "done") advance();
}

void AgentFlows::on_prepared(Flow& f, bool sink, Prepared prepared) {
  if (prepared.qpns.size() != f.what->config.qps)
    throw ProtocolError(fmt::format("prepared: {} QPs; expected {}", prepared.qpns.size(), f.what->config.qps));
  if (f.phase != Phase::kPreparing) return;  // it has failed meanwhile
  f.prepared[sink] = std::move(prepared);
  for (const bool end : kBothEnds)
    if (f.end(end).is_agents() && !f.prepared[end]) return;
  f.phase = Phase::kConnecting;
  send_to_ends(f, [&](FlowEndId id) { return to_json(connection(f, id.sink)); });
  advance();
}

// READs at a time, that all can have under way or take.
std::uint8_t AgentFlows::reads(const Flow& f) const {
  std::uint8_t least = 255;
  for (const bool sink : kBothEnds)
    least = std::min<std::uint8_t>(least, f.prepared[sink] ? f.prepared[sink]->reads
                                                           : static_cast<std::uint8_t>(std::min<int>(
                                                                 f.end(sink).end.attributes.max_rd_atomic, 255)));
  return least;
}

Connect AgentFlows::connection(const Flow& f, bool sink) const {
  const build::AgentFlow::End& other = f.end(!sink);
  Connect all{.id = id_of(f, sink), .reads = reads(f)};
  for (std::uint32_t q = 0; q < f.what->config.qps; ++q) {
    const FlowConnection::Draws d = FlowConnection::draws(f.what->chance, q);
    QpPeer peer{.address = other.address,
                .sq_psn = sink ? d.sink_psn : d.source_psn,
                .rq_psn = sink ? d.source_psn : d.sink_psn,
                .udp_source_port = d.port};
    if (other.is_agents()) {
      const Prepared& there = *f.prepared[!sink];
      peer.qpn = there.qpns[q];
      peer.key = there.key;
      peer.memory = there.address + q * there.stride;
    } else {
      const FlowConnection::FarEnd there = FlowConnection::end_of(*other.end.nic, other.place, q);
      peer.qpn = there.qpn;
      peer.key = there.key;
      peer.memory = there.address;
    }
    all.peers.push_back(peer);
  }
  return all;
}

// ---- Between two windows of the engine -----------------------------------------------------------------------------

void AgentFlows::advance() {
  if (std::exchange(posted_, true)) return;
  around_.post([this](Instant at) {
    posted_ = false;
    for (Flow& f : flows_) advance(f, at);
  });
}

void AgentFlows::advance(Flow& f, Instant at) {
  if (f.phase == Phase::kConnecting) connect_built_in(f, at);
  if (f.phase == Phase::kConnecting && std::ranges::all_of(f.connected, [](bool is) { return is; }))
    f.phase = Phase::kReady;
  if (f.phase == Phase::kReady && at >= f.what->config.start) go(f, at);
  if (f.phase == Phase::kRunning) look(f, at);
}

void AgentFlows::connect_built_in(Flow& f, Instant at) {
  for (const bool sink : kBothEnds) {
    const build::AgentFlow::End& end = f.end(sink);
    if (end.is_agents() || std::exchange(f.connected[sink], true)) continue;
    const Prepared there = *f.prepared[!sink];
    change_at_nic(lab_, at, end.nic, [&end, there, reads = reads(f), what = f.what](Instant now) {
      for (std::uint32_t q = 0; q < what->config.qps; ++q)
        FlowConnection::connect_to(now, end.end, end.place, q,
                                   {there.qpns[q], there.key, there.address + q * there.stride}, reads,
                                   FlowConnection::draws(what->chance, q));
    });
  }
}

// A built-in end asks at once, agents when they hear of it.
void AgentFlows::go(Flow& f, Instant at) {
  f.phase = Phase::kRunning;
  f.went = at;
  if (const build::AgentFlow::End& asker = f.what->asker(); !asker.is_agents())
    change_at_nic(lab_, at, asker.nic, [&asker](Instant now) { asker.end.nic->start(now, asker.place); });
  send_to_ends(f, [](FlowEndId id) { return agents::message("go", id); });
}

void AgentFlows::look(Flow& f, Instant at) {
  const build::AgentFlow& what = *f.what;
  const build::AgentFlow::End& asker = what.asker();
  bool done = false;
  if (asker.is_agents()) {
    const auto& result = f.results[!what.source_asks()];
    done = result && result->complete;
    if (at >= what.config.stop && !std::exchange(f.stop_said, true))
      around_.send(asker.nic.node, agents::message("stop", id_of(f, !what.source_asks())));
  } else {
    if (const roce::MessageCounters& m = asker.end.nic->messages(asker.place); m.errors > 0)
      return fail(f, fmt::format("its {} ({}): a QP failed: {}", name(!what.source_asks()), spec::format(asker.nic),
                                 roce::name(m.status)));
    // What was posted at this instant has not begun.
    done = at > f.went && asker.end.nic->done(at, asker.place);
  }
  if (done && what.sink_is_told() && what.config.total.n > 0 && at < what.config.stop)
    done = f.results[1] && f.results[1]->complete;
  if (!done) return;
  f.phase = Phase::kDone;
  end(f, "");
  around_.log(fmt::format("flow {}: done", what.plan.name));
}

// ---- How it ends ---------------------------------------------------------------------------------------------------

void AgentFlows::tick() {
  const auto is_under_way = [](const Flow& f) {
    return f.phase == Phase::kConnecting || f.phase == Phase::kReady || f.phase == Phase::kRunning;
  };
  // The engine may not have come to it.
  posted_ = false;
  if (std::ranges::any_of(flows_, is_under_way)) advance();
}

void AgentFlows::on_lost(const std::string& host, const std::string& why) {
  for (Flow& f : flows_) {
    if (f.phase == Phase::kWaiting) continue;
    for (const bool sink : kBothEnds)
      if (f.end(sink).is_agents() && f.end(sink).nic.node == host && !(f.results[sink] && f.results[sink]->complete))
        fail(f, fmt::format("the agent of its {} ({}) is lost: {}", name(sink), spec::format(f.end(sink).nic), why));
  }
}

void AgentFlows::fail(Flow& f, const std::string& why) {
  if (f.phase == Phase::kFailed || f.phase == Phase::kDone) return;
  f.phase = Phase::kFailed;
  f.failure = why;
  around_.log(fmt::format("flow {}: failed: {}", f.what->plan.name, why));
  end(f, why);
}

void AgentFlows::end(Flow& f, const std::string& why) {
  send_to_ends(f, [&](FlowEndId id) {
    json out = agents::message("end", id);
    out["why"] = why;
    return out;
  });
}

bool AgentFlows::again(Instant now, const std::string& name) {
  const auto found = std::ranges::find(flows_, name, [](const Flow& f) { return f.what->plan.name; });
  if (found == flows_.end()) return false;
  Flow& f = *found;
  expect_ended(f.phase, "flow " + name, state_text(f));
  if (now >= f.what->config.stop)
    throw NotAgain(fmt::format("flow {}: stopped sending at {}", name, spec::format(f.what->config.stop - Instant{})));
  lab_.renew_agent_flow(f.index);
  f = {.what = f.what, .attempt = f.attempt + 1, .index = f.index};
  around_.log(fmt::format("flow {}: restarted", name));
  on_joined();
  return true;
}

// ---- What is told of them ------------------------------------------------------------------------------------------

std::string AgentFlows::state_text(const Flow& f) const {
  if (f.phase == Phase::kFailed) return f.failure;
  for (const bool sink : kBothEnds)
    if (f.phase == Phase::kWaiting && f.end(sink).is_agents() && !around_.has_joined(f.end(sink).nic.node))
      return fmt::format("waiting for the agent of its {} ({}): {}", name(sink), spec::format(f.end(sink).nic),
                         around_.why_not(f.end(sink).nic.node));
  return std::string(sentence(f.phase));
}

AgentFlowState AgentFlows::state_of(const Flow& f) const {
  std::array<std::string, 2> devices;
  for (const bool sink : kBothEnds)
    if (f.prepared[sink]) devices[sink] = f.prepared[sink]->device;
  return {f.what, f.results, std::move(devices), f.went, f.phase == Phase::kFailed ? f.failure : std::string()};
}

std::vector<report::FlowReport> AgentFlows::reports() const {
  std::vector<report::FlowReport> all;
  for (const Flow& f : flows_) all.push_back(agent_flow_report(lab_, state_of(f)));
  return all;
}

json AgentFlows::states() const {
  json all = json::array();
  for (const Flow& f : flows_) {
    json j = report::flow_json(agent_flow_report(lab_, state_of(f)), lab_.spec().run.budgets);
    j["state"] = agents::name(f.phase);
    j["why"] = state_text(f);
    j["attempt"] = f.attempt + 1;
    all.push_back(std::move(j));
  }
  return all;
}

}  // namespace railyard::agents
