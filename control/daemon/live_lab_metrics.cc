// What a live lab says to Prometheus: of the fabric (control/exposition/), of its clock, of itself.
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "control/daemon/live_lab.h"
#include "control/exposition/fabric_metrics.h"
#include "control/lab/version.h"

namespace railyard::daemon {

// Flows belong to workers: the engine counts them between two windows, at most once a second however many ask. An engine
// that is late is not waited for: then it is what was counted before.
exposition::Workload LiveLab::workload() {
  constexpr std::chrono::seconds kEvery{1};
  constexpr std::chrono::milliseconds kShort{20};
  const auto now = std::chrono::steady_clock::now();
  const std::shared_ptr<Counted> counted = counted_;
  const auto ask = [&](bool on) {
    const std::scoped_lock lock(counted->mutex);
    return std::exchange(counted->is_asked, on);
  };
  if (now - counted_at_ >= kEvery && !ask(true)) {
    counted_at_ = now;
    const auto done = std::make_shared<std::promise<void>>();
    const bool posted = live_.requests.post([counted, done, agents = agents_, &session = session_](Engine& engine, Instant) {
      engine.settle(engine.reached());
      exposition::Workload workload = session.workload(engine.reached());
      if (agents != nullptr) counted->of_agents.add(agents->flows(), agents->collectives(), workload);
      const std::scoped_lock lock(counted->mutex);
      counted->workload = std::move(workload);
      counted->is_asked = false;
      done->set_value();
    });
    if (posted)
      done->get_future().wait_for(kShort);
    else
      ask(false);
  }
  const std::scoped_lock lock(counted->mutex);
  return counted->workload;
}

std::string LiveLab::metrics(exposition::Format format) {
  using exposition::Exposition;
  using exposition::Label;
  constexpr auto kCounter = Exposition::Type::kCounter;
  Exposition out(format);
  out.reserve(metrics_octets_);

  out.family("railyard_build", Exposition::Type::kInfo, "Version of Railyard.");
  out.sample(std::array{Label{"version", lab::version()}}, std::uint64_t{1});
  out.family("railyard_lab", Exposition::Type::kInfo, "The running lab.");
  out.sample(std::array{Label{"lab", name_}}, std::uint64_t{1});

  const auto one = [&](std::string_view name, Exposition::Type type, std::string_view help, double value) {
    out.family(name, type, help);
    out.sample({}, value);
  };
  one("railyard_simulated_seconds", kCounter, "Simulated time since the lab came up.", seconds_of(live_.reached_ps));
  one("railyard_wall_seconds", kCounter, "Wall time since the lab came up.", seconds_of(live_.wall_ps));
  one("railyard_busy_seconds", kCounter, "Wall time in which the engine moved packets.", seconds_of(live_.busy_ps));
  one("railyard_slip_seconds", kCounter, "Wall time by which simulated time was set back.", seconds_of(live_.slip_ps));
  one("railyard_slips", kCounter, "Times that simulated time was set back.", static_cast<double>(live_.slips.read()));
  out.family("railyard_lateness_seconds", Exposition::Type::kSummary, "How late a window of the engine was done, by quantile.");
  const auto quantile = [&](std::string_view q, const Counter& ps) {
    out.sample(std::array{Label{"quantile", q}}, seconds_of(ps));
  };
  quantile("0.5", live_.lateness_p50_ps);
  quantile("0.99", live_.lateness_p99_ps);
  quantile("1", live_.lateness_max_ps);

  if (const ProbeLog* const probes = probes_.log()) {
    one("railyard_probe_rounds", kCounter, "Rounds of probes that are complete.", static_cast<double>(probes->rounds()));
    one("railyard_probe_slow_pairs", Exposition::Type::kGauge, "Pairs that were slow in the last round of probes.",
        static_cast<double>(probes->slow_pairs()));
  }

  std::vector<DeviceCounters> counters;
  for (const auto& device : session_.lab().fabric().devices()) counters.push_back(device->live_counters());
  exposition::add_fabric(out, session_.lab(), counters, [this](PortRef port) {
    return !down_.contains(port) && trunk_up(port) && (watch_ == nullptr || watch_->is_up(port));
  });
  exposition::add_workload(out, workload());
  std::string text = std::move(out).text();
  metrics_octets_ = text.size() + text.size() / 16;
  return text;
}

}  // namespace railyard::daemon
