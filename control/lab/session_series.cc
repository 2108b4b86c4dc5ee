// Time series of a run, from its start.
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "control/lab/session.h"
#include "control/spec/value.h"

namespace railyard::lab {
namespace {

template <class Series>
std::unique_ptr<Series> opened(const build::BuiltLab& lab, const std::string& file, const char* option) {
  try {
    return std::make_unique<Series>(lab, file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace

void Session::start_series() {
  if (!options_.series) return;
  const auto& [file, every, flows_file] = *options_.series;
  if (every < engine_->window())
    throw std::runtime_error(fmt::format("--series-every: {}; expected at least {}, the fabric's window",
                                         spec::format(every), spec::format(engine_->window())));
  if (!file.empty()) {
    series_ = opened<telemetry::QueueSeries>(*lab_, file, "--series");
    looks_.add(series_.get(), Instant{} + every, every, [this](Instant at) { series_->look(at); });
  }
  if (flows_file.empty()) return;
  flow_series_ = opened<telemetry::FlowSeries>(*lab_, flows_file, "--flow-series");
  looks_.add(flow_series_.get(), Instant{} + every, every, [this](Instant at) { flow_series_->look(at); });
}

void Session::close_series() {
  if (series_ != nullptr) series_->close();
  if (flow_series_ != nullptr) flow_series_->close();
}

}  // namespace railyard::lab
