#include "control/daemon/settings.h"

#include <algorithm>
#include <string_view>

#include "control/spec/addresses.h"
#include "control/spec/load.h"

namespace railyard::daemon {
namespace {

std::string_view path_of(const std::string& assignment) {
  return std::string_view(assignment).substr(0, assignment.find('='));
}

// Whether one is a part of the other.
bool touch(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (b.size() == a.size() || b[a.size()] == '.');
}

// Adds `assignment`. The last one about the same thing goes, if it was about exactly this: nothing rests on it.
void add(std::vector<std::string>& to, const std::string& assignment) {
  const std::string_view path = path_of(assignment);
  const bool takes_away = assignment.size() == path.size() + 1;
  const auto last = std::find_if(to.rbegin(), to.rend(), [&](const std::string& a) { return touch(path_of(a), path); });
  if (!takes_away && last != to.rend() && path_of(*last) == path) to.erase(std::next(last).base());
  to.push_back(assignment);
}

}  // namespace

Settings Settings::with(const std::vector<std::string>& more) const {
  Settings s = *this;
  for (const std::string& assignment : more) add(s.assignments_, assignment);
  return s;
}

Settings Settings::with(const std::vector<spec::PortName>& nics, const spec::Attachment& attach) const {
  Settings s = *this;
  for (const spec::PortName& nic : nics) s.attached_[nic] = attach;
  return s;
}

spec::Lab Settings::lab() const {
  spec::Lab lab = spec::parse(text_, file_name_, assignments_);
  for (const auto& [name, attach] : attached_) {
    const auto node = std::ranges::find(lab.nodes, name.node, &spec::NodeSpec::name);
    if (node == lab.nodes.end() || static_cast<std::size_t>(name.port) > node->nics.size()) continue;
    spec::NicSpec& nic = node->nics[static_cast<std::size_t>(name.port) - 1];
    nic.attach = attach;
    // As when the file says so: an address that nobody has said is that of a host of ours, or learnt.
    const wire::MacAddress automatic =
        spec::automatic_mac(static_cast<std::size_t>(node - lab.nodes.begin()), name.port);
    if (spec::is_ours(attach) && !nic.mac) nic.mac = automatic;
    if (!spec::is_ours(attach) && nic.mac == automatic) nic.mac.reset();
  }
  return lab;
}

}  // namespace railyard::daemon
