// Collectives and flows that are run again.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/agents/agent_hosts.h"

namespace railyard::agents {

RankId AgentHosts::id_of(const Collective& c, std::uint32_t rank) const {
  return {static_cast<std::uint32_t>(c.what->spec + c.attempt * lab_.spec().collectives.size()), rank};
}

std::string AgentHosts::again(Instant now, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto name_of = [this](const Collective& c) { return lab_.spec().collectives[c.what->spec].name; };
  const auto found = std::ranges::find(collectives_, name, name_of);
  if (found == collectives_.end()) {
    if (!flows_.again(now, name)) throw NotAgain(fmt::format("there is no collective or flow with agents '{}'", name));
  } else {
    expect_ended(found->phase, "collective " + name, state_text(*found));
    lab_.renew_agent_collective(static_cast<std::size_t>(found - collectives_.begin()));
    *found = waiting(*found->what, found->attempt + 1);
    config_.log(fmt::format("collective {}: restarted", name));
    prepare_those_complete();
  }
  if (!outgoing_.empty()) config_.wake();
  return found == collectives_.end() ? "flow" : "collective";
}

}  // namespace railyard::agents
