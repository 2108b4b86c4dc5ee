// The hosts that a daemon makes for its lab: network namespaces, and virtual machines.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "control/daemon/guest_links.h"
#include "control/daemon/guests.h"
#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/log.h"
#include "control/daemon/watch.h"
#include "control/hosts/journal.h"
#include "control/hosts/lab_hosts.h"
#include "control/lab/session.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// They are there as long as this is. What exists is in the lab's journal first.
class MadeHosts final : public HostMaker {
 public:
  // Throws hosts::HostsError or guest::GuestError, and nothing has been made then. Virtual machines are not started.
  MadeHosts(const spec::Lab& lab, const LabDir& dir, Log& log);
  ~MadeHosts() override;
  MadeHosts(const MadeHosts&) = delete;
  MadeHosts& operator=(const MadeHosts&) = delete;

  // Starts the virtual machines and returns when all of them can run commands, or soon after `stop` is set. The lab's
  // ports stand. Throws guest::GuestError.
  void boot(const std::atomic<bool>& stop) { guests_.boot(stop); }

  // Of what is made; nothing: no namespace is.
  std::optional<hosts::Journal>& journal() noexcept { return journal_; }

  // The interfaces that the lab's ports are to open.
  lab::Interfaces interfaces() const;
  // Namespaces of a lab that is up.
  lab::Interfaces make(const spec::Lab& lab, const std::string& host) override;
  MadeHost reach(const std::string& host) const override;
  void remove(const std::string& host) override;

  // How each is reached, and booted anew. Outlives the lab.
  void tell(LiveLab& lab);

  // Has the NICs of the virtual machines lose and regain their carrier with their links, as long as the answer lives. All
  // outlive it.
  std::unique_ptr<GuestLinks> follow_links(lab::Session& session, const Watch& watch);

  // Hosts send no faster than the links that the lab now has. Throws hosts::HostsError; it can be called again then.
  void follow(const spec::Lab& lab);

  // Ends the virtual machines that a daemon which was killed has left.
  static void end_leftover_guests(const LabDir& dir);

 private:
  Log& log_;
  std::filesystem::path journal_path_;
  hosts::LabHosts namespaces_;
  std::optional<hosts::Journal> journal_;  // of the namespaces; none if there are none
  Guests guests_;
};

}  // namespace railyard::daemon
