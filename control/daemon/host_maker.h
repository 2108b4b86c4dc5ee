// The hosts that `railyard up` makes: how each is reached, and how one is made while the lab is up.
#pragma once

#include <functional>
#include <string>

#include "control/daemon/guests.h"
#include "control/lab/open_port.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// Who can be reached by `exec` and how: filled in by who makes the hosts.
struct MadeHost {
  std::string kind;      // "namespace", "vm", "application"
  std::string location;  // name of the namespace; directory of the guest's sockets; the tree for libibverbs
  std::string programs{};  // a folder that comes first where commands are looked for; empty: none
  // Of a virtual machine: how it is, and has it booted anew (false: that goes on already).
  std::function<Guests::Look()> look{};
  std::function<bool()> restart{};
};

// Makes and removes hosts of a lab that is up.
class HostMaker {
 public:
  virtual ~HostMaker() = default;
  // Throws std::runtime_error, and nothing has been made then. `lab`: with the host in it.
  virtual lab::Interfaces make(const spec::Lab& lab, const std::string& host) = 0;
  virtual MadeHost reach(const std::string& host) const = 0;
  virtual void remove(const std::string& host) = 0;
};

}  // namespace railyard::daemon
