// A lab over several machines: one process in front of the daemons of all sites, which answers for the whole lab.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"
#include "control/daemon/web_access.h"
#include "control/front/remote_shell.h"

namespace railyard::front {

struct FrontConfig {
  std::string spec_file;
  std::vector<std::string> overrides;  // --set
  std::string name;                    // empty: the spec's
  std::vector<std::string> sites;      // names in the file, or [USER@]HOST
  RemoteShell shell;
  // The page and the API of the whole lab, as of daemon::DaemonConfig.
  std::string listen{};
  std::span<const daemon::PageFile> page{};
  std::string tls_certificate{};
  std::string tls_key{};
  std::string log_level = "info";
  bool log_to_stderr = false;
};

// Starts the part of each site, waits until all links between them are up, calls `ready` with the lab's name, and answers the
// API for all of them until `stop`. Then, or if anything fails before, all sites are stopped. Outages of one site are told
// to all others, so that routing leads around them as in one lab. Throws spec::SpecError, std::invalid_argument or
// std::runtime_error, in each case with one clear message.
void run_front(const FrontConfig& config, std::atomic<bool>& stop, const std::function<void(const std::string& name)>& ready);

// Stops what a front that was killed has left at its sites, and forgets the lab. Returns one message per site that stays.
std::vector<std::string> clean_up_sites(const daemon::LabDir& lab);

}  // namespace railyard::front
