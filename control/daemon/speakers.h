// The speakers in front of a live lab's switches: what is made for them, and what becomes of the routes that they
// decide.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/hosts/journal.h"
#include "control/lab/session.h"
#include "control/speakers/speaker.h"
#include "control/spec/spec.h"
#include "dataplane/run/wall_clock.h"

namespace railyard::daemon {

class Speakers {
 public:
  // Throws hosts::HostsError if FRR is not installed or refuses a configuration. Nothing is made yet.
  Speakers(const spec::Lab& lab, const LabDir& dir, Log& log);

  // Their namespaces, which are there, become routers. Throws hosts::HostsError.
  void set_up(std::optional<hosts::Journal>& journal) const;
  // Those that the session is to make.
  lab::Interfaces interfaces() const;
  // How each is reached.
  void tell(LiveLab& lab) const;

  // Follows their routes as long as it lives; it ends before what start() was given.
  class Watch;
  using Running = std::shared_ptr<Watch>;
  // Starts FRR where it is asked for, and has the switches of `session` follow the kernels of all speakers. The ports
  // stand. Throws hosts::HostsError or std::runtime_error.
  Running start(std::optional<hosts::Journal>& journal, lab::Session& session, WallClockLive& live) const;

 private:
  std::string netns(const speakers::Speaker& speaker) const;
  std::filesystem::path programs(const speakers::Speaker& speaker) const;
  std::string config(const speakers::Speaker& speaker) const;

  const LabDir& dir_;
  Log& log_;
  spec::RoutingSpec routing_;
  std::vector<speakers::Speaker> speakers_;
};

}  // namespace railyard::daemon
