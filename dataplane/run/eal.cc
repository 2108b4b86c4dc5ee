#include "dataplane/run/eal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

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

constexpr std::string_view kPrefix = "railyard";

// Of a directory that the EAL of another railyard made; nothing: it is not one.
std::optional<pid_t> owner_of(const std::string& name) {
  pid_t pid = 0;
  const char* const begin = name.data() + std::min(name.size(), kPrefix.size());
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, pid);
  if (!name.starts_with(kPrefix) || error != std::errc{} || stop != end || pid <= 0) return std::nullopt;
  return pid;
}

// The EAL makes a directory for files that processes share, removes it never, and with our options puts nothing into
// it: it can go at once. Goes too: what processes left that were killed before they came here. Empty ones only, so that
// nobody loses anything.
void remove_runtime_directories() {
  std::error_code ignored;
  const std::filesystem::path own = rte_eal_get_runtime_dir();
  if (own.empty()) return;
  std::vector<std::filesystem::path> stale{own};
  for (const auto& entry : std::filesystem::directory_iterator(own.parent_path(), ignored))
    if (const auto pid = owner_of(entry.path().filename()); pid && ::kill(*pid, 0) != 0 && errno == ESRCH)
      stale.push_back(entry.path());
  for (const std::filesystem::path& path : stale) ::rmdir(path.c_str());
}

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
  args.push_back(fmt::format("--file-prefix={}{}", kPrefix, getpid()));
  args.insert(args.end(), config.extra.begin(), config.extra.end());
  argv.clear();
  for (std::string& a : args) argv.push_back(a.data());

  cpu_set_t affinity;
  sched_getaffinity(0, sizeof affinity, &affinity);
  DpdkLog log;
  const int done = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  // The EAL pins its threads; pinning is the caller's business.
  sched_setaffinity(0, sizeof affinity, &affinity);
  remove_runtime_directories();
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
