#include "control/daemon/series.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

LiveSeries::~LiveSeries() {
  if (running_ != nullptr) session_.looks().remove(this);
}

json LiveSeries::start(const std::string& file, const std::string& every) {
  if (running_ != nullptr && show()["running"].get<bool>())
    throw ApiError(409, fmt::format("a time series is already being written to {}; end it first", file_));
  const auto step = spec::parse_duration(every);
  if (!step) throw ApiError(400, fmt::format("every: {}", step.error()));
  const Duration least = session_.lab().fabric().window().size;
  if (*step < least)
    throw ApiError(400,
                   fmt::format("every: {}; expected at least {}, the fabric's window", every, spec::format(least)));
  // Shared with the engine, which may come to it when nobody waits any more. The file is opened here: the engine must not
  // wait for a disk.
  struct Made {
    OutputFile file;
    std::shared_ptr<telemetry::QueueSeries> series;
  };
  std::shared_ptr<Made> made;
  try {
    made = std::make_shared<Made>(OutputFile(file, OutputFile::Waits::kNever), nullptr);
  } catch (const std::runtime_error& error) {
    throw ApiError(409, error.what());
  }
  change_(fmt::format("time series to {}", file), [=, this, step = *step](Engine& engine, Instant) {
    engine.settle(engine.reached());
    made->series = std::make_shared<telemetry::QueueSeries>(session_.lab(), std::move(made->file));
    session_.looks().add(this, engine.reached() + step, step, [this, s = made->series](Instant at) {
      s->look(at);
      if (!s->failed()) return;
      log_.warning(fmt::format("time series ended at {:.6f} s: {}", seconds(at - Instant{}), s->error()));
      session_.looks().remove(this);
    });
  });
  running_ = made->series;
  file_ = file;
  every_ = every;
  return show();
}

namespace {

// By the engine's thread.
json state_of(const telemetry::QueueSeries& series) {
  json j{{"running", !series.failed()}, {"looks", series.looks()}, {"lines", series.lines()}};
  if (series.failed()) j["error"] = series.error();
  return j;
}

}  // namespace

json LiveSeries::show() {
  if (running_ == nullptr) return {{"running", false}};
  const auto so_far = std::make_shared<json>();
  change_("", [so_far, series = running_](Engine&, Instant) { *so_far = state_of(*series); });
  return described(*so_far);
}

json LiveSeries::described(const json& so_far) const {
  json j{{"file", file_}, {"every", every_}};
  j.update(so_far);
  return j;
}

json LiveSeries::end() {
  if (running_ == nullptr) throw ApiError(409, "no time series is being written");
  const auto all = std::make_shared<json>();
  change_("end of the time series", [this, all, series = running_](Engine&, Instant) {
    session_.looks().remove(this);
    *all = state_of(*series);
  });
  const std::shared_ptr<telemetry::QueueSeries> done = std::move(running_);
  running_.reset();
  try {
    done->close();
  } catch (const std::runtime_error& error) {
    (*all)["error"] = error.what();
  }
  (*all)["running"] = false;
  return described(*all);
}

}  // namespace railyard::daemon
