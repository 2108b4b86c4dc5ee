#include "control/machine/check.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/base/text_table.h"
#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

double microseconds(Duration d) { return static_cast<double>(d.ps) / 1e6; }

}  // namespace

void check_measured(const Measured& measured, const Processors& processors, Checks& out) {
  constexpr double kMostSteal = 0.01;
  Check steal{"steal", measured.steal <= kMostSteal, fmt::format("{:.1f} % of the processors' time", measured.steal * 100)};
  if (!steal.ok)
    steal.remedy = "The hypervisor runs others on these processors: pin the virtual machine's (virsh vcpupin), or use a machine of "
                   "your own";
  out.push_back(std::move(steal));

  // So that 99 % of the packets are late by less.
  constexpr double kMostInLongGaps = 0.01;
  const Gaps& g = measured.gaps;
  Check gaps{"scheduling-gaps", g.in_long_gaps <= kMostInLongGaps,
             fmt::format("{} above 50 us in {:.1f} s, p99 {:.0f} us, max {:.0f} us; {:.2f} % of the time in gaps above 100 us",
                         g.count, microseconds(g.measured) / 1e6, microseconds(g.p99), microseconds(g.max), g.in_long_gaps * 100)};
  if (!gaps.ok)
    gaps.remedy = processors.named && !processors.isolated.empty()
                      ? "Something still runs on these processors: see the other findings, and `ps -eLo psr,comm | sort -n`"
                      : "A lateness (p99) of 100 us needs processors of their own: isolate some, and name them in run.cores";
  out.push_back(std::move(gaps));
}

std::vector<Check> check_machine(const Files& files, const std::optional<Wanted>& wanted,
                                 const std::optional<Measured>& measured) {
  const Processors processors(files, wanted);
  Checks out;
  check_processors(files, processors, wanted, out);
  check_power(files, processors, out);
  check_interrupts(files, processors, out);
  if (measured) check_measured(*measured, processors, out);
  check_memory(files, wanted, out);
  check_kernel(files, wanted, out);
  check_devices(files, wanted, out);
  return out;
}

Ticks read_ticks(const Files& files) {
  Ticks out;
  const std::string stat = files.text("/proc/stat").value_or("");
  // "cpu  user nice system idle iowait irq softirq steal guest ...": guest is in user already.
  constexpr std::size_t kStolen = 7;
  std::size_t at = stat.starts_with("cpu ") ? 4 : std::string::npos;
  for (std::size_t i = 0; i <= kStolen && at < stat.size(); ++i) {
    at = stat.find_first_of("0123456789\n", at);
    if (at == std::string::npos || stat[at] == '\n') break;
    const std::int64_t value = std::stoll(stat.substr(at, 18));
    out.all += value;
    if (i == kStolen) out.stolen = value;
    at = stat.find_first_not_of("0123456789", at);
  }
  return out;
}

std::string text(const Files& files, const std::vector<Check>& checks) {
  const auto bad = std::ranges::count_if(checks, [](const Check& c) { return !c.ok; });
  std::string out = fmt::format("{} for live labs: {} of {} checks ok\n\n", files.text("/proc/sys/kernel/hostname").value_or("this machine"),
                                checks.size() - static_cast<std::size_t>(bad), checks.size());
  std::vector<std::vector<std::string>> rows;
  for (const Check& c : checks) rows.push_back({c.ok ? "ok" : "advice", c.id, c.found});
  out += text_table(rows, 3);
  if (bad == 0) return out;
  out += "\nWhat to do:\n";
  for (const Check& c : checks)
    if (!c.ok) out += fmt::format("  {}: {}\n", c.id, c.remedy);
  return out;
}

nlohmann::ordered_json json(const std::vector<Check>& checks, const std::optional<Measured>& measured) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Check& c : checks) {
    nlohmann::ordered_json j{{"check", c.id}, {"ok", c.ok}, {"found", c.found}};
    if (!c.ok) j["remedy"] = c.remedy;
    all.push_back(std::move(j));
  }
  nlohmann::ordered_json out{{"schema", "railyard-host/1"}, {"checks", std::move(all)}};
  if (measured)
    out["gaps"] = {{"measured_us", microseconds(measured->gaps.measured)},
                   {"count", measured->gaps.count},
                   {"p99_us", microseconds(measured->gaps.p99)},
                   {"max_us", microseconds(measured->gaps.max)},
                   {"in_long_gaps", measured->gaps.in_long_gaps},
                   {"steal", measured->steal}};
  return out;
}

}  // namespace railyard::machine
