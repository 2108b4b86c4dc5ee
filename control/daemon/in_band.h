// In-band telemetry of a lab that is up.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/daemon/captures.h"
#include "control/lab/session.h"

namespace railyard::daemon {

// One at a time: that which the lab begins with (run.int), or another when it has been ended. Called by one thread,
// which is not the engine's. Throws api::ApiError.
class LiveInt {
 public:
  // `session` outlives it.
  LiveInt(lab::Session& session, MakeChange change) : session_(session), change_(std::move(change)) {}
  LiveInt(const LiveInt&) = delete;
  LiveInt& operator=(const LiveInt&) = delete;

  // Samples what `what` says (as in run.int, as YAML: "{ one-in: 100, classes: 3 }") from now on. `file`, a path of
  // this machine, gets the records; empty: they are summed up only.
  nlohmann::json start(const std::string& what, const std::string& file);
  // "running"; and what there is so far, if there is any: "int" as in a report, and "text", the same for people;
  // "error" if the file cannot be written any more (the sums go on).
  nlohmann::json show();
  // Ends it; answers with what there was. The file is complete then, unless there is an "error".
  nlohmann::json end();

 private:
  lab::Session& session_;
  MakeChange change_;
};

}  // namespace railyard::daemon
