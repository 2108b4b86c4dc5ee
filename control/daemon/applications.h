// Applications that use the NICs of a live lab (`attach: application`): who may open one, what is given out, and what
// is taken back when a process ends.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/daemon/application_nics.h"
#include "control/daemon/application_traffic.h"
#include "control/daemon/device_nodes.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/lab/session.h"
#include "control/spec/spec.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

class Applications {
 public:
  // Nothing is made yet.
  Applications(const spec::Lab& lab, const LabDir& dir, Log& log);
  // Removes what set_up() has made.
  ~Applications();
  Applications(const Applications&) = delete;
  Applications& operator=(const Applications&) = delete;

  // What the session's ports are to open.
  lab::Interfaces interfaces() const;
  // Writes what programs need to find the devices into the lab's folder, and makes the device nodes outside of it, if
  // they are missing and this process may. Throws std::runtime_error: the lab's folder cannot be written.
  void set_up();
  // How each host is reached.
  void tell(LiveLab& lab) const;

  // Serves applications as long as it lives; it ends before what start() was given.
  class Server;
  using Running = std::shared_ptr<Server>;
  // Throws std::runtime_error: the socket cannot be made.
  Running start(lab::Session& session, WallClockLive& live) const;

 private:
  std::filesystem::path folder(const std::string& host) const;
  std::string socket() const;

  const LabDir& dir_;
  std::optional<DeviceNodes> nodes_;
  Log& log_;
  std::vector<ApplicationNic> nics_;
  std::vector<std::pair<wire::IpAddress, std::string>> host_names_;
  std::shared_ptr<ApplicationTraffic> traffic_;
};

}  // namespace railyard::daemon
