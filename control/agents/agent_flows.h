// The flows of a lab that is up of which agents have an end: what each is told and when, what came of it.
//
// A flow goes through these, whatever others do: its agents have joined; each has made its QPs; all QPs are connected,
// those of a built-in end, too; it starts. When who asks for its messages has them all, and a sink that is told of them
// says so, it is done. Whatever goes wrong at one end ends it at the other.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/agent_protocol/messages.h"
#include "control/agents/agent_flow_report.h"
#include "control/agents/not_again.h"
#include "control/agents/phase.h"
#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

class AgentFlows {
 public:
  // What it needs of whoever speaks with agents.
  struct Surroundings {
    std::function<bool(const std::string& host)> has_joined;
    std::function<std::string(const std::string& host)> why_not;
    std::function<void(const std::string& host, nlohmann::json message)> send;
    // Has the engine call this between two windows. It may not come to it, and is then asked again.
    std::function<void(std::function<void(Instant)>)> post;
    std::function<void(const std::string& line)> log;
  };
  // `lab` outlives it, and it what it has posted.
  AgentFlows(build::BuiltLab& lab, Surroundings surroundings);

  // Those whose agents are all there are prepared.
  void on_joined();
  void on_lost(const std::string& host, const std::string& why);
  // Of `host`. Throws ProtocolError.
  void on_message(const std::string& host, FlowEndId id, const std::string& type, const nlohmann::json& message);
  // Now and then.
  void tick();
  // One that is done, or has failed, is prepared anew as soon as its agents are there. False: none is called so. Throws
  // NotAgain. While the engine rests.
  bool again(Instant now, const std::string& name);

  // While the engine rests: every flow as in a report, and how far it is.
  nlohmann::json states() const;
  std::vector<report::FlowReport> reports() const;

 private:
  struct Flow {
    const build::AgentFlow* what;
    Phase phase = Phase::kWaiting;
    std::string failure{};
    // Source, sink:
    std::array<std::optional<Prepared>, 2> prepared{};
    std::array<bool, 2> connected{};
    std::array<std::optional<FlowResult>, 2> results{};
    Instant went = Instant::never();
    bool stop_said = false;
    std::uint32_t attempt = 0;  // how often it was run before

    const build::AgentFlow::End& end(bool sink) const noexcept { return sink ? what->sink : what->source; }
    std::uint32_t index = 0;
  };

  PrepareFlow preparation(const Flow& f, bool sink) const;
  void on_prepared(Flow& f, bool sink, Prepared prepared);
  // What one end is told of the other's QPs.
  Connect connection(const Flow& f, bool sink) const;
  std::uint8_t reads(const Flow& f) const;
  void advance();
  void advance(Flow& f, Instant at);
  void connect_built_in(Flow& f, Instant at);
  void go(Flow& f, Instant at);
  void look(Flow& f, Instant at);
  void fail(Flow& f, const std::string& why);
  void end(Flow& f, const std::string& why);
  // What an end is called in messages: of each attempt otherwise, so that late ones of another are known.
  FlowEndId id_of(const Flow& f, bool sink) const {
    return {f.index + f.attempt * static_cast<std::uint32_t>(flows_.size()), sink};
  }
  void send_to_ends(const Flow& f, const std::function<nlohmann::json(FlowEndId)>& message);
  std::string state_text(const Flow& f) const;
  AgentFlowState state_of(const Flow& f) const;

  build::BuiltLab& lab_;
  Surroundings around_;
  std::deque<Flow> flows_;
  bool posted_ = false;
};

}  // namespace railyard::agents
