// Pages.
#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

void check_huge_pages(const Files& files, const std::optional<Wanted>& wanted, Checks& out) {
  const std::string meminfo = files.text("/proc/meminfo").value_or("");
  const std::int64_t total = number_of(meminfo, "HugePages_Total").value_or(0);
  const std::int64_t free = number_of(meminfo, "HugePages_Free").value_or(0);
  const bool needed = wanted && wanted->hugepages;
  Check c{"huge-pages", !needed || free > 0, total == 0 ? "none" : fmt::format("{} of {} free", free, total)};
  if (c.ok && !needed && total == 0) c.found += "; needed only with run.hugepages: true (PCI NICs, AF_XDP)";
  if (!c.ok) c.remedy = "echo 1024 > /proc/sys/vm/nr_hugepages (pages of 2 MiB: the lab's run.memory, and 256 MiB more)";
  out.push_back(std::move(c));
}

void check_transparent(const Files& files, Checks& out) {
  constexpr const char* kEnabled = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto enabled = files.text(kEnabled);
  Check c{"transparent-huge-pages", true, enabled ? chosen_word(*enabled) : "not in this kernel"};
  if (c.found == "never") {
    c.ok = false;
    c.remedy = fmt::format("echo madvise > {}: Railyard asks for them, and a hop costs more without", kEnabled);
  } else if (const auto defrag = files.text("/sys/kernel/mm/transparent_hugepage/defrag");
             c.found == "always" && defrag && chosen_word(*defrag) == "always") {
    c.ok = false;
    c.found += ", defrag always";
    c.remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/defrag: programs stall while the kernel compacts memory";
  }
  out.push_back(std::move(c));
}

}  // namespace

void check_memory(const Files& files, const std::optional<Wanted>& wanted, Checks& out) {
  check_huge_pages(files, wanted, out);
  check_transparent(files, out);
}

}  // namespace railyard::machine
