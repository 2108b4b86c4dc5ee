// What programs at the NICs of a live lab report about their traffic: for `railyard status`, and as the files of
// hw_counters beside their devices.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "control/daemon/application_nics.h"
#include "control/spec/spec.h"
#include "dataplane/port/application_port.h"
#include "dataplane/wire/address.h"

namespace railyard::daemon {

// Any thread.
class ApplicationTraffic {
 public:
  // `folder`: of the lab's hosts, each with the tree of its devices (verbs_tree.h).
  ApplicationTraffic(const std::vector<ApplicationNic>& nics, std::filesystem::path folder,
                     const std::vector<std::pair<wire::IpAddress, std::string>>& host_names);

  // A process has opened a NIC. Its counters are kept when it has left.
  void joined(const spec::PortName& nic, pid_t pid, std::shared_ptr<const ApplicationProcess> process);
  void left(const ApplicationProcess& process);

  // One entry per NIC: `host`, `port`, `device`; `counters` by transport, sums of all programs so far; `processes` with
  // their open connections.
  nlohmann::json status() const;

  // Writes ports/1/hw_counters/NAME of each device whose RoCE counters have changed since the last call, all at the
  // first. A folder that cannot be written is left as it is.
  void write_hw_counters();

 private:
  using Sums = std::vector<std::uint64_t>;  // in the order of the transport's names
  struct Process {
    pid_t pid = 0;
    std::string command;
    std::shared_ptr<const ApplicationProcess> shared;
  };
  struct Nic {
    std::string device;
    Sums roce;  // of processes that have left
    Sums uet;
    Sums written;
    std::vector<Process> processes{};
  };

  static Sums counters_of(const ApplicationProcess& process);
  Sums sum(const Nic& nic, bool uet) const;
  nlohmann::json connections(const ApplicationProcess& process) const;

  mutable std::mutex mutex_;
  std::filesystem::path folder_;
  std::map<wire::IpAddress, std::string> hosts_;  // by address, e.g. "h1"
  std::map<spec::PortName, Nic> nics_;
};

}  // namespace railyard::daemon
