#include "control/daemon/cleanup.h"

#include <filesystem>

#include "control/daemon/device_nodes.h"
#include "control/daemon/made_hosts.h"
#include "control/hosts/journal.h"

namespace railyard::daemon {

std::vector<std::string> remove_leftovers(const LabDir& dir) {
  std::error_code ignored;
  std::filesystem::remove(dir.socket(), ignored);
  MadeHosts::end_leftover_guests(dir);
  std::filesystem::remove_all(dir.path() / "guests", ignored);
  if (std::filesystem::remove_all(dir.path() / "applications", ignored) > 0) remove_unused_device_nodes();
  return hosts::Journal::remove_all(dir.journal());
}

std::vector<std::string> clean_up(const LabDir& dir) {
  const LabLock nobody_else(dir);
  std::vector<std::string> left = remove_leftovers(dir);
  if (left.empty()) dir.remove();
  return left;
}

}  // namespace railyard::daemon
