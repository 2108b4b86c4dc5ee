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
  // `session` and `log` outlive it.
  LiveSeries(lab::Session& session, Log& log, MakeChange change)
      : session_(session), log_(log), change_(std::move(change)) {}
  // When the engine has ended.
  ~LiveSeries();
  LiveSeries(const LiveSeries&) = delete;
  LiveSeries& operator=(const LiveSeries&) = delete;

  // Writes to `file` (a path of this machine) from now on, `every` so often ("100us"; at least the fabric's window).
  nlohmann::json start(const std::string& file, const std::string& every);
  // "running"; of the present or last series "file", "every", and how many "looks" and "lines" there are; "error" if
  // it ended because the file cannot be written.
  nlohmann::json show();
  // Ends it; answers with what show() said last. The file is complete then, unless there is an "error".
  nlohmann::json end();

 private:
  nlohmann::json described(const nlohmann::json& so_far) const;

  lab::Session& session_;
  Log& log_;
  MakeChange change_;
  std::shared_ptr<telemetry::QueueSeries> running_;
  std::string file_;
  std::string every_;
};

}  // namespace railyard::daemon
