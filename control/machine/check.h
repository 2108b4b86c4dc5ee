// Whether a machine can run live labs well: one finding each, with what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/machine/files.h"
#include "control/machine/gaps.h"
#include "dataplane/base/polling.h"

namespace railyard::machine {

// What a lab asks of its machine.
struct Wanted {
  std::string name;
  int workers = 1;
  std::vector<int> cores;  // run.cores
  Polling polling = Polling::kBalanced;
  bool hugepages = false;
  bool interfaces = false;  // has hosts behind namespaces, TAPs or interfaces
  bool pci = false;         // has ports that DPDK drives by PCI address
};

// What was measured.
struct Measured {
  Gaps gaps;
  double steal = 0;  // of the processors' time meanwhile, the part that the hypervisor took
};

struct Check {
  std::string id;
  bool ok = true;
  std::string found;
  std::string remedy = {};  // where not ok
};

// In the order in which they matter. `wanted`: of a fabric file; `measured`: nothing was measured.
std::vector<Check> check_machine(const Files& files, const std::optional<Wanted>& wanted,
                                 const std::optional<Measured>& measured);

// The sum of all processors' time and the stolen part of it, in ticks (/proc/stat).
struct Ticks {
  std::int64_t all = 0;
  std::int64_t stolen = 0;
};
Ticks read_ticks(const Files& files);

std::string text(const Files& files, const std::vector<Check>& checks);
nlohmann::ordered_json json(const std::vector<Check>& checks, const std::optional<Measured>& measured);

}  // namespace railyard::machine
