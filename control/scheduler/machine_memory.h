// How many processes the machine's memory has room for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace railyard::scheduler {

struct MachineMemory {
  std::uint64_t total = 0;      // octets
  std::uint64_t available = 0;  // what new processes can have without swapping (MemAvailable, proc(5))

  // All zero: the machine does not say.
  static MachineMemory now();
};

// Resident octets of a process; 0: not known, or it has ended.
std::uint64_t resident_octets(int pid);

// What is known of processes of one kind, which take about as much memory each.
class MemoryRoom {
 public:
  // A process has ended that had so many resident octets at most.
  void ended(std::uint64_t most_octets) noexcept;

  // Whether one more may begin beside those that have so many resident octets now: what those and it may still come to, the
  // most that any has had so far, must be available. Before any has ended: half of the machine's memory must be. The first
  // may always begin.
  bool for_one_more(const MachineMemory& memory, std::span<const std::uint64_t> running) const noexcept;

 private:
  std::uint64_t most_ = 0;
};

}  // namespace railyard::scheduler
