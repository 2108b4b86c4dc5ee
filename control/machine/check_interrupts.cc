// What interrupts workers.
#include <algorithm>

#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

bool runs(const Files& files, std::string_view program) {
  return std::ranges::any_of(files.names("/proc"), [&](const std::string& name) {
    return !name.empty() && name[0] >= '0' && name[0] <= '9' && files.text("/proc/" + name + "/comm") == program;
  });
}

// Interrupts of devices that may come to one of the processors. Only those that have come at all have an effective list.
int interrupts_on(const Files& files, const std::vector<int>& processors) {
  int count = 0;
  for (const std::string& number : files.names("/proc/irq")) {
    const auto list = files.text("/proc/irq/" + number + "/effective_affinity_list");
    if (!list) continue;
    const std::vector<int> on = read_processors(*list);
    count += std::ranges::any_of(on, [&](int p) { return std::ranges::find(processors, p) != processors.end(); }) ? 1 : 0;
  }
  return count;
}

}  // namespace

void check_interrupts(const Files& files, const Processors& processors, Checks& out) {
  const std::string cores = processors_text(processors.workers);
  Check balance{"irqbalance", true, "not running"};
  if (runs(files, "irqbalance")) {
    balance.found = "running";
    if (processors.isolated.empty()) {
      balance.ok = false;
      balance.remedy = fmt::format("It moves interrupts to workers. systemctl disable --now irqbalance, or IRQBALANCE_BANNED_CPULIST={} "
                                   "in /etc/default/irqbalance",
                                   cores);
    } else {
      balance.found += "; it leaves isolated processors alone";
    }
  }
  out.push_back(std::move(balance));

  const int count = interrupts_on(files, processors.workers);
  Check interrupts{"interrupts", count == 0, fmt::format("{} of devices on {}", count, cores)};
  if (processors.online.size() < 2) interrupts.ok = true;  // where else?
  if (!interrupts.ok) {
    std::vector<int> others;
    std::ranges::copy_if(processors.online, std::back_inserter(others), [&](int p) {
      return std::ranges::find(processors.workers, p) == processors.workers.end();
    });
    interrupts.remedy = fmt::format("for i in /proc/irq/*/smp_affinity_list; do echo {} > $i; done 2>/dev/null",
                                    processors_text(others.empty() ? processors.online : others));
  }
  out.push_back(std::move(interrupts));
}

}  // namespace railyard::machine
