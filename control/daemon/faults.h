// The faults of a live lab: added, removed, listed, and what they did.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/daemon/captures.h"
#include "control/lab/session.h"

namespace railyard::daemon {

// Called by one thread, which is not the engine's. Throws api::ApiError, and then the lab runs on as it was.
class LiveFaults {
 public:
  // `session` outlives it.
  LiveFaults(lab::Session& session, MakeChange change);

  // One more fault, as in a fabric file: "on: leaf1:1, loss: 1%, for: 10ms". Answers with its name, and since when it
  // is there.
  nlohmann::json add(const std::string& text);
  // Ends it; answers with what it has done: "frames" is null if they are not counted.
  nlohmann::json remove(const std::string& name);
  nlohmann::json list() const;
  // All that has happened.
  std::vector<fault::LoggedEvent> events() const;

 private:
  lab::Session& session_;
  MakeChange change_;
};

}  // namespace railyard::daemon
