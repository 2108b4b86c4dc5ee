// A lab whose hosts a1, a2, ... have agents, without an engine: what is asked of it happens when a test says so.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/agent_protocol/frames.h"
#include "control/agents/agent_hosts.h"
#include "control/build/built_lab.h"
#include "control/spec/load.h"
#include "tests/tools/agent/fake_verbs.h"
#include "tools/agent/agent.h"

namespace railyard::agents {

// `what`: a collective, or all sections that follow.
inline spec::Lab agent_lab(const std::string& what, int hosts = 3) {
  std::string text =
      "name: x\n"
      "nodes:\n"
      "  leaf: { kind: switch }\n"
      "  b: { kind: host }\n";
  std::string links = "links:\n  - [b:1, leaf:1]\n";
  for (int i = 1; i <= hosts; ++i) {
    text += fmt::format(
        "  a{}: {{ kind: host, address: 10.9.0.{}, attach: {{ tap: t{} }}, agent: {{ token: secret-{} }} }}\n", i, i, i,
        i);
    links += fmt::format("  - [a{}:1, leaf:{}]\n", i, i + 1);
  }
  const std::string collectives = what.starts_with('{') ? "collectives: [ " + what + " ]\n" : what;
  return spec::parse(text + links + "run: { clock: wall, payload: real, memory: 1GiB }\n" + collectives, "x.yaml");
}

// The agents' hosts of a lab, and agents that speak with them.
class AgentLab {
 public:
  explicit AgentLab(const std::string& what, int n = 3) : built(agent_lab(what, n)) {
    AgentHosts::Config c{.lab = "x", .version = "1"};
    for (int i = 1; i <= n; ++i) c.tokens[fmt::format("a{}", i)] = fmt::format("secret-{}", i);
    c.post = [this](std::function<void(Instant)> change) {
      posted.push_back(std::move(change));
      return true;
    };
    c.log = [this](const std::string& line) { log.push_back(line); };
    hosts.emplace(built, std::move(c));
  }

  struct Client {
    std::unique_ptr<agent::FakeVerbs> verbs;
    std::unique_ptr<agent::Agent> agent;
    AgentHosts::Client id;
  };
  Client& join(int i) {
    Client& c = clients.emplace_back();
    c.verbs = std::make_unique<agent::FakeVerbs>(network, fmt::format("10.9.0.{}", i));
    c.agent = std::make_unique<agent::Agent>(
        *c.verbs, agent::AgentConfig{fmt::format("a{}", i), fmt::format("secret-{}", i), "1"});
    c.id = clients.size();
    hosts->on_message(c.id, c.agent->hello());
    return c;
  }
  // As if it were killed: its QPs are gone, and its connection.
  void kill(Client& c) {
    c.agent.reset();
    hosts->on_closed(c.id, "it closed its connection");
  }

  // One turn of everybody; false: nobody had anything to do.
  bool turn() {
    bool any = false;
    now = now + Duration{1'000'000};
    hosts->tick();
    for (auto& change : std::exchange(posted, {})) change(now);
    for (AgentHosts::Outgoing& o : hosts->take_outgoing()) {
      any = true;
      Client& c = clients.at(o.to - 1);
      if (c.agent) c.agent->on_message(now, o.message);
    }
    any = network.deliver() || any;
    for (Client& c : clients) {
      if (!c.agent) continue;
      any = c.agent->work(now) || any;
      for (const nlohmann::json& m : c.agent->take_outgoing()) {
        any = true;
        hosts->on_message(c.id, m);
      }
    }
    return any;
  }
  void run() {
    for (int quiet = 0; quiet < 3;) quiet = turn() ? 0 : quiet + 1;
  }
  std::string state() const { return hosts->report()["collectives"][0]["state"]; }
  std::string flow_state(std::size_t i = 0) const { return hosts->report()["flows"][i]["state"]; }
  report::FlowReport flow(std::size_t i = 0) const { return hosts->flows().at(i); }
  report::CollectiveReport collective() const { return hosts->collectives().at(0); }

  Instant now{};
  build::BuiltLab built;
  agent::FakeNetwork network;
  std::deque<std::function<void(Instant)>> posted;
  std::vector<std::string> log;
  std::optional<AgentHosts> hosts;
  std::deque<Client> clients;
};

}  // namespace railyard::agents
