// Starting DPDK's environment: by default without huge pages, PCI and privileges. Runs in virtual time do without it: it
// loads every driver of the machine and sleeps for 0.1 s to calibrate the TSC.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace railyard {

struct EalConfig {
  // Ceiling for packet memory, MiB. Without huge pages it is faulted in as it is used, so a generous one costs nothing.
  std::size_t memory_mib = 4096;
  bool huge_pages = false;         // for real ports; else transparent huge pages are asked for
  bool pci = false;                // probe PCI devices
  std::vector<std::string> extra;  // further EAL arguments
};

// Starts the EAL; once per process (DPDK allows no second time, even after a cleanup). Throws std::runtime_error with
// what failed and what would help. The calling thread becomes the main lcore and keeps its CPU affinity.
void start_eal(const EalConfig& config);

// Whether start_eal() has been called with success.
bool eal_started() noexcept;

}  // namespace railyard
