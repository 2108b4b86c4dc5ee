#include "control/daemon/faults.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

LiveFaults::LiveFaults(lab::Session& session, MakeChange change) : session_(session), change_(std::move(change)) {}

json LiveFaults::add(const std::string& text) {
  // What others are called, so that one without a name gets a new one; and when the engine hears of it.
  const auto present = std::make_shared<std::vector<spec::FaultSpec>>();
  // (Modelled time slips back meanwhile if the lab is behind.)
  const Instant asked =
      change_("", [present, this](Engine&, Instant) { *present = session_.faults().present(); });
  try {
    spec::Lab lab = session_.lab().spec();
    lab.faults = *present;
    spec::FaultSpec fault = spec::parse_fault(lab, text, "fault");
    const std::string name = fault.name;
    const Instant at = change_(fmt::format("fault {} added ({})", name, text),
                               [this, fault = std::move(fault), asked](Engine& engine, Instant now) {
                                 session_.faults().add(fault, now, std::min(asked, now));
                                 engine.wake_all();
                               });
    return {{"fault", name}, {"effective_seconds", seconds(at - Instant{})}};
  } catch (const spec::SpecError& error) {
    throw ApiError(400, error.what());
  }
}

json LiveFaults::remove(const std::string& name) {
  const auto known = std::make_shared<std::vector<std::string>>();
  const Instant asked = change_("", [=, this](Engine&, Instant) {
    for (const spec::FaultSpec& f : session_.faults().present()) known->push_back(f.name);
  });
  if (std::ranges::find(*known, name) == known->end())
    throw ApiError(404, known->empty()
                            ? fmt::format("there is no fault '{}'; the lab has none", name)
                            : fmt::format("there is no fault '{}'{}", name, spec::meant_or_known(name, *known)));
  const auto frames = std::make_shared<json>();
  const Instant at = change_(fmt::format("fault {} removed", name), [=, this](Engine& engine, Instant now) {
    for (const fault::FaultStatus& s : session_.faults().status(now))
      if (!s.removed && s.name == name && s.counts_frames) *frames = s.frames;
    session_.faults().remove(name, now, std::min(asked, now));
    engine.wake_all();
  });
  return {{"fault", name}, {"frames", *frames}, {"effective_seconds", seconds(at - Instant{})}};
}

json LiveFaults::list() const {
  const auto all = std::make_shared<std::vector<fault::FaultStatus>>();
  change_("", [all, this](Engine&, Instant now) { *all = session_.faults().status(now); });
  json out = json::array();
  for (const fault::FaultStatus& s : *all)
    out.push_back({{"name", s.name},
                   {"what", s.what},
                   {"on", s.where},
                   {"active", s.active},
                   {"removed", s.removed},
                   {"occurrences", s.occurrences},
                   {"frames", s.counts_frames ? json(s.frames) : json(nullptr)}});
  return {{"faults", std::move(out)}};
}

std::vector<fault::LoggedEvent> LiveFaults::events() const {
  const auto all = std::make_shared<std::vector<fault::LoggedEvent>>();
  change_("", [all, this](Engine&, Instant now) { *all = session_.faults().events(now); });
  return *std::move(all);
}

}  // namespace railyard::daemon
