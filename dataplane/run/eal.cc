#include "dataplane/run/eal.h"

#include <stdexcept>

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_memory.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dataplane/packet/dpdk_log.h"

namespace railyard {
namespace {

bool started = false;

// Packet memory without huge pages: transparent ones where the machine has them.
int advise_huge(const rte_memseg_list* list, void*) {
  if (list->external == 0) madvise(list->base_va, list->len, MADV_HUGEPAGE);
  return 0;
}

}  // namespace

bool eal_started() noexcept { return started; }

void start_eal(const EalConfig& config) {
  if (started) throw std::runtime_error("the EAL is started twice in one process");
  // rte_eal_init keeps pointers into the arguments.
  static std::vector<std::string> args;
  static std::vector<char*> argv;
  args = {"railyard", "--no-telemetry", "--lcores=0", "--log-level=*:error"};
  if (!config.pci) args.emplace_back("--no-pci");
  if (config.huge_pages) {
    args.emplace_back("--in-memory");
  } else {
    args.insert(args.end(), {"--no-huge", "--no-shconf", "-m", std::to_string(config.memory_mib)});
  }
  args.push_back(fmt::format("--file-prefix=railyard{}", getpid()));
  args.insert(args.end(), config.extra.begin(), config.extra.end());
  argv.clear();
  for (std::string& a : args) argv.push_back(a.data());

  cpu_set_t affinity;
  sched_getaffinity(0, sizeof affinity, &affinity);
  DpdkLog log;
  const int done = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  // The EAL pins its threads; pinning is the caller's business.
  sched_setaffinity(0, sizeof affinity, &affinity);
  if (done < 0) {
    const std::string why = rte_strerror(rte_errno);
    throw std::runtime_error(
        config.huge_pages
            ? fmt::format("DPDK could not start with huge pages: {}. Reserve some (echo 1024 > "
                          "/proc/sys/vm/nr_hugepages) or set run.hugepages to false{}",
                          why, log.said())
            : fmt::format(
                  "DPDK could not start with {} MiB of memory: {}. Lower run.memory, or raise the limit of this "
                  "process (ulimit -v){}",
                  config.memory_mib, why, log.said()));
  }
  if (!config.huge_pages) rte_memseg_list_walk(advise_huge, nullptr);
  started = true;
}

}  // namespace railyard
