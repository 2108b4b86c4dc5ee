// Time series of a run, from its start.
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "control/lab/session.h"
#include "control/spec/value.h"

namespace railyard::lab {
namespace {

OutputFile::Waits waits_of(const spec::Lab& lab) {
  return lab.run.clock == spec::Clock::kWall ? OutputFile::Waits::kNever : OutputFile::Waits::kMayWait;
}

template <class Series>
std::unique_ptr<Series> opened(const build::BuiltLab& lab, const std::string& file, const char* option) {
  try {
    return std::make_unique<Series>(lab, OutputFile(file, waits_of(lab.spec())));
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
    looks_.add(series_.get(), Instant{} + every, every, [this](Instant at) { series_->look(at); }, telemetry::Looks::Reads::kQueues);
  }
  if (flows_file.empty()) return;
  flow_series_ = opened<telemetry::FlowSeries>(*lab_, flows_file, "--flow-series");
  looks_.add(flow_series_.get(), Instant{} + every, every, [this](Instant at) { flow_series_->look(at); });
}

void Session::write_int(const std::string& file, const std::string& option) {
  try {
    int_->write_to(std::make_shared<OutputFile>(file, waits_of(lab_->spec())));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", option, error.what()));
  }
}

// Each is closed whatever becomes of the others, and the report is there all the same.
void Session::close_files() {
  const auto close = [this](auto& file) {
    try {
      file.close();
    } catch (const std::runtime_error& error) {
      unwritten_.emplace_back(error.what());
    }
  };
  if (int_ != nullptr) close(*int_);
  if (series_ != nullptr) close(*series_);
  if (flow_series_ != nullptr) close(*flow_series_);
  if (metrics_ != nullptr) close(*metrics_);
  for (auto& tap : taps_) close(*tap);
  for (PcapEndpoint* pcap : lab_->pcaps()) close(*pcap);
  fetch_far_captures();
}

}  // namespace railyard::lab
