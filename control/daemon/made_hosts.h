// The hosts that a daemon makes for its lab: network namespaces.
#pragma once

#include <optional>

#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/hosts/journal.h"
#include "control/hosts/lab_hosts.h"
#include "control/lab/session.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// They are there as long as this is. What exists is in the lab's journal first.
class MadeHosts {
 public:
  // Throws hosts::HostsError, and nothing has been made then.
  MadeHosts(const spec::Lab& lab, const LabDir& dir, Log& log);
  ~MadeHosts();
  MadeHosts(const MadeHosts&) = delete;
  MadeHosts& operator=(const MadeHosts&) = delete;

  // The interfaces that the lab's ports are to open.
  lab::Interfaces interfaces() const;
  // How each is reached.
  void tell(LiveLab& lab) const;

 private:
  Log& log_;
  hosts::LabHosts namespaces_;
  std::optional<hosts::Journal> journal_;  // none if nothing is made
};

}  // namespace railyard::daemon
