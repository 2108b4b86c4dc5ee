// The agents of a lab that is up, and the collectives of which they carry out ranks: who has joined, what each is told
// and when, what came of it. No sockets (agent_server.h) and no clock. Flows: agent_flows.h.
//
// A collective with agents goes through these: its agents have joined; each has made its ranks' QPs; all QPs are
// connected, those of built-in ranks too; it starts. Whatever goes wrong with one rank ends it for all: agents give up
// what they had made for it, and built-in QPs come to their end by their own retries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/agent_protocol/messages.h"
#include "control/agents/agent_flows.h"
#include "control/agents/agent_report.h"
#include "control/agents/phase.h"
#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

// An agent that must not join. One sentence, which it is told.
class NotTaken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Its token is not that of the host that it says it is.
class WrongToken : public NotTaken {
 public:
  using NotTaken::NotTaken;
};

// Whether they are the same; how long that takes does not tell where they differ.
bool same_token(const std::string& said, const std::string& expected) noexcept;

// By the server's thread, if nothing else is said.
class AgentHosts {
 public:
  // Has the engine call this between two windows, at an instant. False: it takes nothing more at present.
  using Post = std::function<bool(std::function<void(Instant)>)>;
  struct Config {
    std::string lab{};
    std::string version{};
    std::map<std::string, std::string> tokens{};  // by host
    Post post{};
    std::function<void(const std::string&)> log{};
    // Called by the engine's thread when there is something in take_outgoing().
    std::function<void()> wake = [] {};
  };
  // `lab` outlives it, and it what it has posted.
  AgentHosts(build::BuiltLab& lab, Config config);

  using Client = std::uint64_t;
  // Throws NotTaken, ProtocolError: the client is told why and is then gone, without on_closed().
  void on_message(Client client, const nlohmann::json& message);
  void on_closed(Client client, const std::string& why);
  // Now and then: whether built-in ranks are done, or have failed.
  void tick();
  // A collective or a flow that is done, or has failed, is prepared anew as soon as its agents are there; says which of
  // the two it is. Throws NotAgain. By the engine's thread, between two windows.
  std::string again(Instant now, const std::string& name);
  // By any thread.
  void wake_with(std::function<void()> wake);
  bool has_joined(Client client) const;

  struct Outgoing {
    Client to;
    nlohmann::json message;
  };
  std::vector<Outgoing> take_outgoing();

  // By any thread, while the engine rests: every agent, and every collective and flow of theirs.
  nlohmann::json report() const;
  std::vector<report::CollectiveReport> collectives() const;
  std::vector<report::FlowReport> flows() const;

  // Of a host; empty: it has no agent. By any thread.
  std::string token(const std::string& host) const;

 private:
  struct Host {
    std::optional<Client> client{};
    Hello hello{};
    std::string why{};  // it is not there any more
  };
  struct Collective {
    const build::AgentCollective* what;
    Phase phase = Phase::kWaiting;
    bool posted = false;  // something that the engine has yet to come to
    std::string failure{};
    std::vector<std::optional<Prepared>> prepared{};  // by rank, of agents
    std::vector<bool> connected{};
    std::vector<std::optional<RankResult>> results{};
    Instant went = Instant::never();
    std::uint32_t attempt = 0;  // how often it was run before
  };

  void join(Client client, const nlohmann::json& message);
  void leave(Client client, const std::string& why);
  std::string host_of(Client client) const;
  // nullptr: of an attempt that is over.
  Collective* collective_of(Client client, RankId id);
  void send(const std::string& host, nlohmann::json message);
  // What a rank is called in messages: of each attempt otherwise, so that late ones of another are known.
  RankId id_of(const Collective& c, std::uint32_t rank) const;
  void send_to_ranks(Collective& c, const std::function<nlohmann::json(RankId)>& message);

  static Collective waiting(const build::AgentCollective& what, std::uint32_t attempt);
  void prepare_those_complete();
  Prepare preparation(const Collective& c, std::uint32_t rank) const;
  void on_rank_message(Client client, RankId id, const std::string& type, const nlohmann::json& message);
  void on_prepared(Collective& c, std::uint32_t rank, Prepared prepared);
  void connect(Collective& c);
  void post_connect(Collective& c);
  static bool has_connected_built_in(const Collective& c);
  void connect_built_in(Collective& c, Instant at);
  void on_connected(Collective& c);
  void go(Collective& c);
  void look_at_built_in(Collective& c);
  void fail(Collective& c, const std::string& why);
  void end(Collective& c, const std::string& why);
  // Has the engine do it, with the lock held.
  void post(Collective& c, std::function<void(Instant)> change);
  bool post(std::function<void(Instant)> change);
  AgentFlows::Surroundings surroundings();
  std::string rank_name(const Collective& c, std::size_t rank) const;
  std::string state_text(const Collective& c) const;
  AgentCollectiveState state_of(const Collective& c) const;

  build::BuiltLab& lab_;
  Config config_;
  mutable std::mutex mutex_;
  std::map<std::string, Host> hosts_;
  std::vector<Collective> collectives_;
  std::vector<Outgoing> outgoing_;
  AgentFlows flows_;
};

}  // namespace railyard::agents
