#include "control/daemon/made_hosts.h"

#include <fmt/format.h>

#include "control/daemon/namespace_hosts.h"
#include "control/hosts/namespaces.h"

namespace railyard::daemon {

MadeHosts::MadeHosts(const spec::Lab& lab, const LabDir& dir, Log& log)
    : log_(log), namespaces_(namespace_hosts(lab, dir.name())) {
  if (namespaces_.hosts.empty()) return;
  journal_.emplace(dir.journal());
  hosts::create_namespaces(namespaces_, *journal_);
  log_.line(fmt::format("{} network namespaces", namespaces_.hosts.size()));
}

MadeHosts::~MadeHosts() {
  if (!journal_) return;
  for (const std::string& left : journal_->remove_all()) log_.line(left);
}

lab::Interfaces MadeHosts::interfaces() const {
  lab::Interfaces out;
  for (const hosts::FabricEnd& end : hosts::fabric_ends(namespaces_))
    out[{end.host, end.port}] = {.netns = end.netns, .name = end.interface, .socket = {}};
  return out;
}

void MadeHosts::tell(LiveLab& lab) const {
  for (const hosts::NamespaceHost& host : namespaces_.hosts)
    lab.add_host(host.name, {"namespace", hosts::host_namespace(namespaces_.name, host.name)});
}

}  // namespace railyard::daemon
