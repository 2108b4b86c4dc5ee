#include "dataplane/run/scaling_profile.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <thread>

#include "dataplane/run/placement.h"
#include "dataplane/run/worker_team.h"

namespace railyard {
namespace {

constexpr std::size_t kMostWorkers = 64;

}  // namespace

ScalingProfile::ScalingProfile(const Fabric& fabric, Duration meeting) : fabric_(fabric), meeting_(meeting) {
  for (std::size_t n = 2; n <= std::min(kMostWorkers, fabric.size() / kThinWindow); n *= 2)
    teams_.push_back({.workers = n, .worker_of = place_devices(fabric, n), .busy = std::vector<std::uint64_t>(n, 0)});
}

void ScalingProfile::add(std::size_t device, std::uint64_t cycles) {
  ++due_;
  in_window_ += cycles;
  for (Team& t : teams_) t.busy[t.worker_of[device]] += cycles;
}

void ScalingProfile::end_window() {
  ++windows_;
  all_ += in_window_;
  for (Team& t : teams_) {
    if (due_ < kThinWindow * t.workers) {
      t.serial += in_window_;
    } else {
      t.longest += *std::ranges::max_element(t.busy);
      t.all += in_window_;
      ++t.parallel;
    }
    std::ranges::fill(t.busy, 0);
  }
  due_ = 0;
  in_window_ = 0;
}

std::vector<ScalingEstimate> ScalingProfile::estimates() const {
  std::vector<ScalingEstimate> out;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  const double hertz = elapsed > 0 ? static_cast<double>(cycles() - began_cycles_) / elapsed : 1e9;
  const auto cycles_of = [&](Duration time) { return static_cast<double>(time.ps) * 1e-12 * hertz; };
  for (const Team& t : teams_) {
    ScalingEstimate e{.workers = t.workers};
    std::uint64_t frames = 0, crossing = 0;
    std::vector<DeviceCounters> counters;
    for (const auto& device : fabric_.devices()) counters.push_back(device->counters());
    for (const Link& link : fabric_.links()) {
      const bool crosses = t.worker_of[link.a.device.index()] != t.worker_of[link.b.device.index()];
      for (const PortRef& end : {link.a, link.b})
        for (const ClassCounters& c : counters[end.device.index()].ports[end.port.index()].classes) {
          frames += c.tx_packets;
          if (crosses) crossing += c.tx_packets;
        }
    }
    const auto n = static_cast<double>(t.workers);
    const double crossings = static_cast<double>(crossing) * cycles_of(kCrossing) / n;
    const double meetings = static_cast<double>(t.parallel) * cycles_of(meeting_) * static_cast<double>(std::bit_width(t.workers - 1));
    const double time = static_cast<double>(t.serial + t.longest) + crossings + meetings;
    if (time > 0) e.speedup = static_cast<double>(all_) / time;
    if (windows_ > 0) e.parallel_windows = static_cast<double>(t.parallel) / static_cast<double>(windows_);
    if (t.all > 0) e.imbalance = static_cast<double>(t.longest) * n / static_cast<double>(t.all);
    if (frames > 0) e.crossing = static_cast<double>(crossing) / static_cast<double>(frames);
    out.push_back(e);
  }
  return out;
}

Duration ScalingProfile::measure_meeting() {
  constexpr int kRounds = 500, kTimes = 10;
  if (std::thread::hardware_concurrency() < 2) return Duration{1'000'000};
  WorkerTeam team(2, [](std::size_t) {});
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTimes; ++i) {
    const auto began = std::chrono::steady_clock::now();
    for (int r = 0; r < kRounds; ++r) team.run();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began).count();
    least = std::min<std::int64_t>(least, ns * 1000 / kRounds);
  }
  return Duration{least};
}

}  // namespace railyard
