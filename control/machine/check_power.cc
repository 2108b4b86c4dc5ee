// What makes processors slow, or slow to wake: frequency, idle states.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

// A packet that finds its processor asleep waits for so long.
constexpr std::int64_t kMostWakeUs = 50;

std::string cpu(int processor, std::string_view rest) {
  return fmt::format("/sys/devices/system/cpu/cpu{}/{}", processor, rest);
}

void check_governor(const Files& files, const Processors& processors, Checks& out) {
  std::map<std::string, int> governors;
  for (const int p : processors.online)
    if (const auto governor = files.text(cpu(p, "cpufreq/scaling_governor"))) ++governors[*governor];
  Check c{"cpu-frequency", true, "not controlled by this system (usual in a virtual machine)"};
  if (!governors.empty()) {
    c.found.clear();
    for (const auto& [governor, count] : governors)
      c.found += fmt::format("{}{} on {}", c.found.empty() ? "" : ", ", governor, count);
    c.ok = governors.size() == 1 && governors.contains("performance");
    if (!c.ok) c.remedy = "cpupower frequency-set -g performance (Debian: linux-cpupower)";
  }
  out.push_back(std::move(c));
}

void check_turbo(const Files& files, Checks& out) {
  const auto boost = files.number("/sys/devices/system/cpu/cpufreq/boost");
  const auto no_turbo = files.number("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (!boost && !no_turbo) return;
  const bool on = boost ? *boost != 0 : *no_turbo == 0;
  // Good for a lab; a reason why two measurements differ.
  const char* const off = boost ? "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
                                : "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo";
  out.push_back({"turbo", true, on ? fmt::format("on; for figures that repeat: {}", off) : "off"});
}

void check_idle_states(const Files& files, const Processors& processors, Checks& out) {
  std::int64_t longest = 0;
  std::string name;
  for (const int p : processors.workers)
    for (const std::string& state : files.names(cpu(p, "cpuidle"))) {
      const std::string at = cpu(p, "cpuidle/" + state + "/");
      const auto latency = files.number(at + "latency");
      if (!latency || files.number(at + "disable").value_or(0) != 0 || *latency <= longest) continue;
      longest = *latency;
      name = files.text(at + "name").value_or(state);
    }
  Check c{"idle-states", longest <= kMostWakeUs, fmt::format("{} takes {} us to wake", name, longest)};
  if (name.empty()) c.found = "not controlled by this system (usual in a virtual machine)";
  if (!c.ok)
    c.remedy = fmt::format("cpupower idle-set -D {} (Debian: linux-cpupower), or run: {{ polling: latency }}, which never sleeps",
                           kMostWakeUs);
  out.push_back(std::move(c));
}

}  // namespace

void check_power(const Files& files, const Processors& processors, Checks& out) {
  check_governor(files, processors, out);
  check_turbo(files, out);
  check_idle_states(files, processors, out);
}

}  // namespace railyard::machine
