#include "control/agents/agent_hosts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "control/agent_protocol/program_json.h"
#include "control/agents/at_nic.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"
#include "dataplane/nic/host.h"
#include "transports/roce/collectives/collective_connection.h"
#include "transports/roce/wire/path_mtu.h"

namespace railyard::agents {

using nlohmann::json;
using roce::CollectiveConnection;

namespace {

constexpr std::uint32_t kMost24Bits = 0xFF'FFFF;

// What both ends of a QP begin with, drawn for the pair: the same whoever of the two asks.
struct Draws {
  std::uint16_t port;
  std::uint32_t own_psn;
  std::uint32_t peer_psn;
};
Draws draws_of(const build::AgentCollective& c, std::uint32_t rank, std::uint32_t connection) {
  const RankConnection& plan = c.program(rank).connections[connection];
  const bool first = rank < plan.peer;
  const std::uint64_t name =
      first ? std::uint64_t{rank} << 32 | connection : std::uint64_t{plan.peer} << 32 | plan.at_peer;
  const std::uint64_t draw = mix64(c.chance ^ mix64(name));
  // An agent's device makes the port of the flow label, of which 0 says nothing.
  const auto port = static_cast<std::uint16_t>(0xC000 | std::max<std::uint64_t>(draw & 0x3FFF, 1));
  const auto forth = static_cast<std::uint32_t>(mix64(draw + 1) & kMost24Bits);
  const auto back = static_cast<std::uint32_t>(mix64(draw + 2) & kMost24Bits);
  return {port, first ? forth : back, first ? back : forth};
}

}  // namespace

bool same_token(const std::string& said, const std::string& expected) noexcept {
  unsigned different = said.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char c = said.empty() ? '\0' : said[i % said.size()];
    different |= static_cast<unsigned>(static_cast<unsigned char>(c) ^ static_cast<unsigned char>(expected[i]));
  }
  return different == 0 && !expected.empty();
}

AgentHosts::AgentHosts(build::BuiltLab& lab, Config config)
    : lab_(lab), config_(std::move(config)), flows_(lab, surroundings()) {
  for (const spec::NodeSpec& node : lab_.spec().nodes)
    if (node.agent) hosts_[node.name].why = "it has not joined yet";
  for (const build::AgentCollective& what : lab_.agent_collectives()) collectives_.push_back(waiting(what, 0));
}

AgentHosts::Collective AgentHosts::waiting(const build::AgentCollective& what, std::uint32_t attempt) {
  Collective c{.what = &what, .attempt = attempt};
  c.prepared.resize(what.nics.size());
  c.connected.resize(what.nics.size());
  c.results.resize(what.nics.size());
  return c;
}

AgentFlows::Surroundings AgentHosts::surroundings() {
  return {.has_joined = [this](const std::string& host) { return hosts_.at(host).client.has_value(); },
          .why_not = [this](const std::string& host) { return hosts_.at(host).why; },
          .send = [this](const std::string& host, json message) { send(host, std::move(message)); },
          .post = [this](std::function<void(Instant)> change) { post(std::move(change)); },
          .log = [this](const std::string& line) { config_.log(line); }};
}

// ---- Who is there --------------------------------------------------------------------------------------------------

void AgentHosts::on_message(Client client, const json& message) {
  const std::lock_guard lock(mutex_);
  const std::string host = host_of(client);
  if (host.empty()) return join(client, message);
  try {
    const std::string type = type_of(message);
    if (type == "alive") return;
    const TaskId id = task_from_json(message);
    if (const auto* const end = std::get_if<FlowEndId>(&id))
      flows_.on_message(host, *end, type, message);
    else
      on_rank_message(client, std::get<RankId>(id), type, message);
  } catch (const ProtocolError& error) {
    leave(client, fmt::format("it sent an invalid message: {}", error.what()));
    throw;
  }
}

void AgentHosts::on_rank_message(Client client, RankId id, const std::string& type, const json& message) {
  Collective* const found = collective_of(client, id);
  if (found == nullptr) return;
  Collective& c = *found;
  if (type == "prepared") {
    on_prepared(c, id.rank, prepared_from_json(message));
  } else if (type == "connected") {
    c.connected[id.rank] = true;
    on_connected(c);
  } else if (type == "done" || type == "failed") {
    c.results[id.rank] = result_from_json(message);
    if (const RankResult& r = *c.results[id.rank]; type == "failed" || !r.failure.empty())
      fail(c, fmt::format("{}: {}", rank_name(c, id.rank), r.failure));
  } else {
    throw ProtocolError(fmt::format("unknown message '{}'", type));
  }
}

void AgentHosts::join(Client client, const json& message) {
  if (type_of(message) != "hello") throw ProtocolError(fmt::format("'{}'; expected 'hello' first", type_of(message)));
  Hello hello = hello_from_json(message);
  if (hello.protocol != kProtocolVersion)
    throw NotTaken(
        fmt::format("the agent has protocol version {}, lab '{}' (railyard {}) has version {}; expected an agent of "
                    "the same release",
                    hello.protocol, config_.lab, config_.version, kProtocolVersion));
  const auto found = hosts_.find(hello.host);
  if (found == hosts_.end())
    throw NotTaken(
        fmt::format("lab '{}' has no host '{}' with an agent; expected --name of a host with `agent: "
                    "{{ token: ... }}` in its fabric file",
                    config_.lab, hello.host));
  if (!same_token(hello.token, config_.tokens[hello.host]))
    throw WrongToken(fmt::format("wrong token for host '{}' of lab '{}'", hello.host, config_.lab));
  if (hello.devices.empty()) throw NotTaken(fmt::format("host '{}' has no RDMA device for the agent", hello.host));
  Host& host = found->second;
  if (host.client)
    throw NotTaken(fmt::format("another agent has already joined as host '{}' of lab '{}'", hello.host, config_.lab));
  std::string devices;
  for (const DevicePort& d : hello.devices)
    devices += fmt::format("{}{} ({})", devices.empty() ? "" : ", ", d.device, d.state);
  config_.log(fmt::format("agent {}: joined, version {}: {}", hello.host, hello.version, devices));
  hello.token.clear();
  host = {client, std::move(hello), {}};
  json welcome = agents::message("welcome");
  welcome["lab"] = config_.lab;
  welcome["version"] = config_.version;
  outgoing_.push_back({client, std::move(welcome)});
  prepare_those_complete();
  flows_.on_joined();
}

void AgentHosts::on_closed(Client client, const std::string& why) {
  const std::lock_guard lock(mutex_);
  leave(client, why);
}

void AgentHosts::leave(Client client, const std::string& why) {
  const std::string name = host_of(client);
  if (name.empty()) return;
  Host& host = hosts_[name];
  host.client.reset();
  host.why = why;
  std::erase_if(outgoing_, [&](const Outgoing& o) { return o.to == client; });
  config_.log(fmt::format("agent {}: lost: {}", name, why));
  for (Collective& c : collectives_) {
    if (c.phase == Phase::kWaiting || c.phase == Phase::kDone || c.phase == Phase::kFailed) continue;
    for (std::size_t r = 0; r < c.what->nics.size(); ++r)
      if (c.what->is_agents(r) && c.what->nics[r].node == name && !(c.results[r] && c.results[r]->complete)) {
        fail(c, fmt::format("the agent of {} is lost: {}", rank_name(c, r), why));
        break;
      }
  }
  flows_.on_lost(name, why);
}

std::string AgentHosts::host_of(Client client) const {
  for (const auto& [name, host] : hosts_)
    if (host.client == client) return name;
  return {};
}

bool AgentHosts::has_joined(Client client) const {
  const std::lock_guard lock(mutex_);
  return !host_of(client).empty();
}

std::string AgentHosts::token(const std::string& host) const {
  const auto found = config_.tokens.find(host);
  return found == config_.tokens.end() ? std::string() : found->second;
}

// Of the client's own ranks.
AgentHosts::Collective* AgentHosts::collective_of(Client client, RankId id) {
  const std::size_t all = lab_.spec().collectives.size();
  for (Collective& c : collectives_)
    if (c.what->spec == id.collective % all && id.collective / all <= c.attempt && id.rank < c.what->nics.size() &&
        c.what->is_agents(id.rank) && hosts_[c.what->nics[id.rank].node].client == client)
      return id == id_of(c, id.rank) ? &c : nullptr;
  throw ProtocolError(fmt::format("rank {1} of collective {0} does not belong to this agent", id.collective, id.rank));
}

// ---- What they are told --------------------------------------------------------------------------------------------

void AgentHosts::wake_with(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  config_.wake = std::move(wake);
}

std::vector<AgentHosts::Outgoing> AgentHosts::take_outgoing() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outgoing_, {});
}

void AgentHosts::send(const std::string& host, json message) {
  if (const auto& client = hosts_[host].client) outgoing_.push_back({*client, std::move(message)});
}

void AgentHosts::send_to_ranks(Collective& c, const std::function<json(RankId)>& message) {
  for (std::uint32_t r = 0; r < c.what->nics.size(); ++r)
    if (c.what->is_agents(r)) send(c.what->nics[r].node, message(id_of(c, r)));
}

void AgentHosts::post(Collective& c, std::function<void(Instant)> change) {
  if (std::exchange(c.posted, true)) return;
  const bool taken = post([&c, change = std::move(change)](Instant at) {
    c.posted = false;
    change(at);
  });
  if (!taken) c.posted = false;
}

bool AgentHosts::post(std::function<void(Instant)> change) {
  return config_.post([this, change = std::move(change)](Instant at) {
    const std::lock_guard lock(mutex_);
    change(at);
    if (!outgoing_.empty()) config_.wake();
  });
}

void AgentHosts::prepare_those_complete() {
  for (Collective& c : collectives_) {
    if (c.phase != Phase::kWaiting) continue;
    bool all = true;
    for (std::size_t r = 0; r < c.what->nics.size(); ++r)
      all = all && (!c.what->is_agents(r) || hosts_[c.what->nics[r].node].client);
    if (!all) continue;
    c.phase = Phase::kPreparing;
    const auto too_long =
        std::ranges::find_if(c.what->programs, [](const RankProgram& p) { return p.steps.size() > kMostSteps; });
    if (too_long != c.what->programs.end()) {
      fail(c, fmt::format("its ranks have up to {} steps; agents take {}: use larger chunks", too_long->steps.size(),
                          kMostSteps));
      continue;
    }
    config_.log(fmt::format("collective {}: all agents joined; preparing", lab_.spec().collectives[c.what->spec].name));
    send_to_ranks(c, [&](RankId id) { return to_json(preparation(c, id.rank)); });
  }
}

Prepare AgentHosts::preparation(const Collective& c, std::uint32_t rank) const {
  const spec::CollectiveSpec& s = lab_.spec().collectives[c.what->spec];
  const spec::RunSpec& run = lab_.spec().run;
  const auto wall = [&](Duration d) {
    return static_cast<std::int64_t>(Int128{d.ps} * run.scale_denominator / run.scale_numerator);
  };
  const roce::QpAttributes& a = c.what->ends[rank].attributes;
  Prepare p{.id = id_of(c, rank),
            .program = c.what->programs[rank],
            .address = c.what->addresses[rank],
            .index = c.what->config.index,
            .element = c.what->config.element,
            .repeats = c.what->config.repeats,
            .seed = c.what->config.seed,
            .jitter_ppm = c.what->config.jitter_ppm,
            .gap_ns = static_cast<std::uint64_t>(wall(c.what->config.gap) / 1000),
            .terms = {.path_mtu = static_cast<std::uint32_t>(s.path_mtu),
                      .timeout = a.timeout,
                      .retry_cnt = a.retry_cnt,
                      .rnr_retry = a.rnr_retry,
                      .min_rnr_timer = a.min_rnr_timer,
                      // DSCP, and ECT(0) as built-in NICs set it.
                      .traffic_class = static_cast<std::uint8_t>(s.dscp << 2 | (s.ect ? 2 : 0))}};
  for (CollectiveStep& step : p.program.steps) step.time = Duration{wall(step.time)};
  return p;
}

void AgentHosts::on_prepared(Collective& c, std::uint32_t rank, Prepared prepared) {
  const RankProgram& program = c.what->programs[rank];
  if (prepared.qpns.size() != program.connections.size() ||
      prepared.stride != program.data_octets + program.staging_octets)
    throw ProtocolError("prepared: QPs or memory differ from the program");
  if (c.phase != Phase::kPreparing) return;  // it has failed meanwhile
  c.prepared[rank] = std::move(prepared);
  for (std::size_t r = 0; r < c.what->nics.size(); ++r)
    if (c.what->is_agents(r) && !c.prepared[r]) return;
  connect(c);
}

// Both sides at once; nothing is sent before all of them are.
void AgentHosts::connect(Collective& c) {
  c.phase = Phase::kConnecting;
  const build::AgentCollective& what = *c.what;
  send_to_ranks(c, [&](RankId id) {
    Connect all{.id = id};
    const RankProgram& program = what.programs[id.rank];
    for (std::uint32_t i = 0; i < program.connections.size(); ++i) {
      const std::uint32_t peer = program.connections[i].peer;
      const std::uint32_t at_peer = program.connections[i].at_peer;
      const Draws d = draws_of(what, id.rank, i);
      QpPeer end{.address = what.addresses[peer], .sq_psn = d.own_psn, .rq_psn = d.peer_psn, .udp_source_port = d.port};
      if (what.is_agents(peer)) {
        const Prepared& there = *c.prepared[peer];
        std::tie(end.qpn, end.key, end.memory, end.stride) =
            std::tuple(there.qpns[at_peer], there.key, there.address, there.stride);
      } else {
        const CollectiveConnection::FarEnd there = CollectiveConnection::end_of(*what.ranks[peer], at_peer);
        std::tie(end.qpn, end.key, end.memory, end.stride) =
            std::tuple(there.qpn, there.key, there.address, there.stride);
      }
      all.peers.push_back(end);
    }
    return to_json(all);
  });
  post_connect(c);
}

void AgentHosts::post_connect(Collective& c) {
  post(c, [this, &c](Instant at) {
    if (c.phase != Phase::kConnecting) return;
    connect_built_in(c, at);
    on_connected(c);
  });
}

bool AgentHosts::has_connected_built_in(const Collective& c) {
  for (std::size_t r = 0; r < c.connected.size(); ++r)
    if (!c.what->is_agents(r) && !c.connected[r]) return false;
  return true;
}

void AgentHosts::connect_built_in(Collective& c, Instant at) {
  struct Qp {
    std::uint32_t connection;
    CollectiveConnection::FarEnd peer;
    roce::QpAttributes attributes;
  };
  const build::AgentCollective& what = *c.what;
  for (std::uint32_t r = 0; r < what.nics.size(); ++r) {
    if (what.is_agents(r)) continue;
    c.connected[r] = true;
    std::vector<Qp> qps;
    const RankProgram& program = what.program(r);
    for (std::uint32_t i = 0; i < program.connections.size(); ++i) {
      const RankConnection& plan = program.connections[i];
      if (!what.is_agents(plan.peer)) continue;
      const Prepared& there = *c.prepared[plan.peer];
      const Draws d = draws_of(what, r, i);
      roce::QpAttributes a = what.ends[r].attributes;
      a.av = what.ways.at({r, plan.peer});
      a.av.source_port = d.port;
      a.sq_psn = d.own_psn;
      a.rq_psn = d.peer_psn;
      qps.push_back({i, {there.qpns[plan.at_peer], there.key, there.address, there.stride}, a});
    }
    change_at_nic(lab_, at, what.nics[r], [rank = what.ranks[r], qps = std::move(qps)](Instant now) {
      for (const Qp& qp : qps) CollectiveConnection::connect_to(now, *rank, qp.connection, qp.peer, qp.attributes);
    });
  }
}

void AgentHosts::on_connected(Collective& c) {
  if (c.phase != Phase::kConnecting || !std::ranges::all_of(c.connected, [](bool is) { return is; })) return;
  c.phase = Phase::kReady;
  go(c);
}

// Built-in ranks start at once, agents when they hear of it.
void AgentHosts::go(Collective& c) {
  post(c, [this, &c](Instant at) {
    if (c.phase != Phase::kReady || at < Instant{} + lab_.spec().collectives[c.what->spec].start) return;
    c.phase = Phase::kRunning;
    c.went = at;
    for (std::size_t r = 0; r < c.what->nics.size(); ++r) {
      if (c.what->is_agents(r)) continue;
      change_at_nic(lab_, at, c.what->nics[r], [rank = c.what->ranks[r]](Instant now) { rank->start_at(now); });
    }
    send_to_ranks(c, [](RankId id) { return agents::message("go", id); });
  });
}

// ---- How it ends ---------------------------------------------------------------------------------------------------

void AgentHosts::tick() {
  const std::lock_guard lock(mutex_);
  for (Collective& c : collectives_) {
    if (c.phase == Phase::kReady) go(c);
    // The engine took nothing when it was asked.
    if (c.phase == Phase::kConnecting && !has_connected_built_in(c)) post_connect(c);
    if (c.phase == Phase::kRunning) post(c, [this, &c](Instant) { look_at_built_in(c); });
  }
  flows_.tick();
}

void AgentHosts::look_at_built_in(Collective& c) {
  if (c.phase != Phase::kRunning) return;
  bool complete = true;
  for (std::uint32_t r = 0; r < c.what->nics.size(); ++r) {
    if (c.what->is_agents(r)) {
      complete = complete && c.results[r] && c.results[r]->complete;
      continue;
    }
    const CollectiveRank& rank = *c.what->ranks[r];
    complete = complete && rank.complete();
    if (const auto& failure = rank.failure())
      return fail(c, fmt::format("the {} of {} to {} failed: {}", failure->what, rank_name(c, r),
                                 rank_name(c, rank.program().connections[failure->connection].peer), failure->status));
  }
  if (!complete) return;
  c.phase = Phase::kDone;
  end(c, "");
  config_.log(fmt::format("collective {}: all ranks are complete", lab_.spec().collectives[c.what->spec].name));
}

void AgentHosts::fail(Collective& c, const std::string& why) {
  if (c.phase == Phase::kFailed || c.phase == Phase::kDone) return;
  c.phase = Phase::kFailed;
  c.failure = why;
  config_.log(fmt::format("collective {}: failed: {}", lab_.spec().collectives[c.what->spec].name, why));
  end(c, why);
}

void AgentHosts::end(Collective& c, const std::string& why) {
  send_to_ranks(c, [&](RankId id) {
    json out = agents::message("end", id);
    out["why"] = why;
    return out;
  });
}

}  // namespace railyard::agents
