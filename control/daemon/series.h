// A time series of the queues of a lab that is up.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "control/daemon/captures.h"
#include "control/lab/session.h"
#include "control/telemetry/queue_series.h"

namespace railyard::daemon {

// One at a time. Called by one thread, which is not the engine's. Throws api::ApiError.
class LiveSeries {
 public:
  // `session` outlives it.
  LiveSeries(lab::Session& session, MakeChange change) : session_(session), change_(std::move(change)) {}
  // When the engine has ended.
  ~LiveSeries();
  LiveSeries(const LiveSeries&) = delete;
  LiveSeries& operator=(const LiveSeries&) = delete;

  // Writes to `file` (a path of this machine) from now on, `every` so often ("100us"; at least the fabric's window).
  nlohmann::json start(const std::string& file, const std::string& every);
  // "running"; while it runs "file", "every", and how many "looks" and "lines" there are.
  nlohmann::json show();
  // Ends it; answers with what show() said last. What is in the file is then complete.
  nlohmann::json end();

 private:
  nlohmann::json described(bool running, const nlohmann::json& so_far) const;

  lab::Session& session_;
  MakeChange change_;
  std::shared_ptr<telemetry::QueueSeries> running_;
  std::string file_;
  std::string every_;
};

}  // namespace railyard::daemon
