#include "control/scheduler/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace railyard::scheduler {

MachineMemory MachineMemory::now() {
  MachineMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kib = 0; file >> key >> kib; std::getline(file, unit)) {
    if (key == "MemTotal:") memory.total = kib * 1024;
    if (key == "MemAvailable:") memory.available = kib * 1024;
  }
  return memory;
}

std::uint64_t resident_octets(int pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void MemoryRoom::ended(std::uint64_t most_octets) noexcept { most_ = std::max(most_, most_octets); }

bool MemoryRoom::for_one_more(const MachineMemory& memory, std::span<const std::uint64_t> running) const noexcept {
  if (running.empty() || memory.total == 0) return true;
  if (most_ == 0) return memory.available >= memory.total / 2;
  std::uint64_t needed = most_;
  for (const std::uint64_t has : running) needed += most_ - std::min(most_, has);
  return memory.available >= needed;
}

}  // namespace railyard::scheduler
