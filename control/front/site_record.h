// What is kept of a lab over several sites while it runs, so that every command finds its parts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/daemon/lab_dir.h"
#include "control/front/remote_shell.h"

namespace railyard::front {

struct RecordedSite {
  std::string name;
  std::string target;  // for the remote shell
  std::string lab;     // the name of its part there
};

struct SiteRecord {
  RemoteShell shell;
  std::vector<RecordedSite> sites;
  std::map<std::string, std::string> site_of;  // by node

  // nullptr: there is no such site.
  const RecordedSite* find(const std::string& site) const noexcept;
  // Where a node is, "h1" or "h1:2". Throws std::invalid_argument: there is no such node.
  const RecordedSite& site_with(const std::string& node) const;
};

// Throws std::runtime_error.
void write_record(const daemon::LabDir& lab, const SiteRecord& record);
// Nothing: the lab runs on this machine alone.
std::optional<SiteRecord> read_record(const daemon::LabDir& lab);

}  // namespace railyard::front
