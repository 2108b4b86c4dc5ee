#include "control/lab/run_metrics.h"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/exposition/fabric_metrics.h"
#include "control/lab/session.h"
#include "control/lab/version.h"
#include "control/spec/value.h"

namespace railyard::lab {

using exposition::Exposition;
using exposition::Label;

RunMetrics::RunMetrics(build::BuiltLab& lab, OutputFile file, std::uint32_t stretch)
    : lab_(lab), file_(std::move(file)), stretch_(stretch) {}

void RunMetrics::look(Instant at, const exposition::Workload& workload) {
  if (last_ == at || is_too_much_) return;
  last_ = at;
  out_.at(seconds(at - Instant{}) * stretch_);
  out_.family("railyard_build", Exposition::Type::kInfo, "Version of Railyard.");
  out_.sample(std::array{Label{"version", version()}}, std::uint64_t{1});
  out_.family("railyard_lab", Exposition::Type::kInfo, "The lab.");
  out_.sample(std::array{Label{"lab", lab_.spec().name}}, std::uint64_t{1});
  out_.family("railyard_simulated_seconds", Exposition::Type::kCounter, "Simulated time since the start.");
  out_.sample({}, seconds(at - Instant{}));
  std::vector<DeviceCounters> counters;
  for (const auto& device : lab_.fabric().devices()) counters.push_back(device->counters());
  exposition::add_fabric(out_, lab_, counters, [this](PortRef port) {
    const PortRef peer = lab_.fabric().peer(port);
    return lab_.fabric().devices()[port.device.index()]->link_up(port.port) &&
           lab_.fabric().devices()[peer.device.index()]->link_up(peer.port);
  });
  exposition::add_workload(out_, workload);
  is_too_much_ = out_.size() > kMostOctets;
}

void RunMetrics::close() {
  if (std::exchange(is_closed_, true)) return;
  if (is_too_much_)
    throw std::runtime_error(fmt::format("--metrics: more than {} GiB of samples; expected a larger --metrics-every",
                                         kMostOctets >> 30));
  file_.write(std::move(out_).text());
  file_.close();
}

void Session::start_metrics() {
  if (!options_.metrics) return;
  const auto& [file, every, stretch] = *options_.metrics;
  if (lab_->spec().run.clock != spec::Clock::kVirtual)
    throw std::runtime_error(
        "--metrics needs --clock virtual; expected `railyard up --metrics ADDRESS:PORT` for a lab in real time");
  constexpr Duration kLeast{1'000'000'000};  // what Prometheus tells apart
  if (every * stretch < kLeast)
    throw std::runtime_error(
        fmt::format("--metrics-every: {}; Prometheus tells milliseconds apart: expected at least 1ms, or --metrics-stretch {}",
                    spec::format(every), (kLeast.ps + every.ps - 1) / every.ps));
  if (every < engine_->window())
    throw std::runtime_error(fmt::format("--metrics-every: {}; expected at least {}, the fabric's window", spec::format(every),
                                         spec::format(engine_->window())));
  try {
    metrics_ = std::make_unique<RunMetrics>(*lab_, OutputFile(file), stretch);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("--metrics: {}", error.what()));
  }
  looks_.add(metrics_.get(), Instant{} + every, every, [this](Instant at) { metrics_->look(at, workload(at)); });
}

exposition::Workload Session::workload(Instant now) {
  exposition::Workload out = exposition::count_workload(*lab_, now);
  exposition::Workload::Routing& r = out.routing;
  r.at_rest = routing_->at_rest();
  for (const rerouting::Rerouting& one : routing_->reroutings()) {
    ++r.reroutings;
    r.table_changes += one.table_changes;
    r.routes += one.routes;
    r.lost += one.lost;
    r.last_convergence_seconds =
        one.last_change_ns < 0 ? 0 : static_cast<double>(one.last_change_ns - one.began_ns) / 1e9;
    r.convergence_seconds += r.last_convergence_seconds;
  }
  if (lab_->spec().run.deadlock <= Duration{}) return out;
  out.deadlocks = exposition::Workload::Deadlocks{};
  for (const telemetry::DeadlockWatch::Seen& d : deadlocks_.seen()) {
    ++out.deadlocks->seen;
    if (!d.resolved) ++out.deadlocks->now;
  }
  return out;
}

}  // namespace railyard::lab
