// Which processors workers have for themselves.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

bool has(const std::vector<int>& all, int one) { return std::ranges::find(all, one) != all.end(); }

std::vector<int> missing(const std::vector<int>& wanted, const std::vector<int>& in) {
  std::vector<int> out;
  std::ranges::copy_if(wanted, std::back_inserter(out), [&](int p) { return !has(in, p); });
  return out;
}

// Threads of one core, `processor` included.
std::vector<int> siblings(const Files& files, int processor) {
  return read_processors(
      files.text(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor)).value_or(""));
}

std::string node_of(const Files& files, int processor) {
  for (const std::string& name : files.names(fmt::format("/sys/devices/system/cpu/cpu{}", processor)))
    if (name.starts_with("node") && name.size() > 4) return name;
  return {};
}

std::string boot_line(const std::string& cores) {
  return fmt::format(
      "Boot with: isolcpus=managed_irq,domain,{0} nohz_full={0} rcu_nocbs={0} (GRUB_CMDLINE_LINUX in /etc/default/grub, then "
      "update-grub and reboot)",
      cores);
}

void check_count(const Processors& p, const std::optional<Wanted>& wanted, Checks& out) {
  const int workers = wanted ? wanted->workers : 1;
  const auto online = static_cast<int>(p.online.size());
  Check c{"processors", online > workers, fmt::format("{} online ({}), {} for workers", online, processors_text(p.online), workers)};
  if (!c.ok)
    c.remedy = fmt::format("Use a machine with at least {} processors, or fewer workers: hosts outside, their kernels and the "
                           "system need one, too",
                           workers + 1);
  out.push_back(std::move(c));
}

void check_isolated(const Processors& p, Checks& out) {
  const std::string cores = processors_text(p.workers);
  Check isolated{"isolated-cores", true, p.isolated.empty() ? "none" : processors_text(p.isolated)};
  if (p.online.size() < 2) {
    isolated.ok = false;
    isolated.remedy = "One processor cannot be isolated; expect gaps of milliseconds, or use a machine with more";
  } else if (const auto shared = missing(p.workers, p.isolated); !shared.empty()) {
    isolated.ok = false;
    if (!p.isolated.empty()) isolated.found += fmt::format("; not {}", processors_text(shared));
    isolated.remedy = boot_line(cores) + fmt::format("; then run: {{ cores: [...] }} with processors of {}", cores);
  }
  out.push_back(isolated);

  Check tickless{"nohz-full", true, p.tickless.empty() ? "none" : processors_text(p.tickless)};
  if (p.online.size() >= 2 && !missing(p.workers, p.tickless).empty()) {
    tickless.ok = false;
    tickless.remedy = boot_line(cores) + "; without it the scheduler's tick interrupts a worker 100 to 1000 times a second";
  }
  out.push_back(std::move(tickless));
}

void check_named(const Files& files, const Processors& p, const Wanted& wanted, Checks& out) {
  Check c{"run.cores", true, wanted.cores.empty() ? "not set" : processors_text(wanted.cores)};
  const auto bad = [&](std::string remedy) {
    c.ok = false;
    if (c.remedy.empty()) c.remedy = std::move(remedy);
  };
  if (wanted.cores.empty()) {
    if (wanted.polling == Polling::kLatency || !p.isolated.empty())
      bad(fmt::format("Set run: {{ cores: [...] }}, one for each of {} worker{}; the kernel puts nothing else on isolated ones, "
                      "and workers go there only if they are named",
                      wanted.workers, wanted.workers == 1 ? "" : "s"));
    out.push_back(std::move(c));
    return;
  }
  if (const auto offline = missing(wanted.cores, p.online); !offline.empty())
    bad(fmt::format("Processor {} is not online; choose from {}", processors_text(offline), processors_text(p.online)));
  std::set<std::string> nodes;
  for (const int core : wanted.cores) {
    if (!has(p.online, core)) continue;
    nodes.insert(node_of(files, core));
    for (const int other : siblings(files, core)) {
      if (other == core) continue;
      if (has(wanted.cores, other))
        bad(fmt::format("Processors {} and {} are threads of one core: give each worker a core of its own", std::min(core, other),
                        std::max(core, other)));
      else if (has(p.online, other) && !has(p.isolated, other))
        bad(fmt::format("Processor {} shares its core with {}, which others use: isolate both, or switch SMT off (echo off > "
                        "/sys/devices/system/cpu/smt/control)",
                        core, other));
    }
  }
  if (nodes.size() > 1) bad("The workers are on several NUMA nodes; choose processors of one node");
  if (has(wanted.cores, 0) && p.online.size() > 1)
    bad("Processor 0 does the kernel's own work; choose others");
  out.push_back(std::move(c));
}

}  // namespace

Processors::Processors(const Files& files, const std::optional<Wanted>& wanted)
    : online(read_processors(files.text("/sys/devices/system/cpu/online").value_or(""))),
      isolated(read_processors(files.text("/sys/devices/system/cpu/isolated").value_or(""))),
      tickless(read_processors(files.text("/sys/devices/system/cpu/nohz_full").value_or(""))) {
  if (online.empty()) online = {0};
  if (wanted && !wanted->cores.empty()) {
    workers = wanted->cores;
    std::ranges::sort(workers);
    named = true;
    return;
  }
  const auto count = static_cast<std::size_t>(wanted ? wanted->workers : 1);
  const std::vector<int>& from = isolated.size() >= count ? isolated : online;
  workers.assign(from.end() - static_cast<std::ptrdiff_t>(std::min(count, from.size())), from.end());
}

void check_processors(const Files& files, const Processors& processors, const std::optional<Wanted>& wanted, Checks& out) {
  check_count(processors, wanted, out);
  check_isolated(processors, out);
  if (wanted) check_named(files, processors, *wanted, out);
}

}  // namespace railyard::machine
