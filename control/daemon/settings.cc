#include "control/daemon/settings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "control/sites/placement.h"
#include "control/spec/addresses.h"
#include "control/spec/load.h"
#include "control/spec/presets/preset.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "control/spec/yaml/override.h"
#include "control/spec/yaml/parse.h"

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
  if (!site_.empty()) return sites::part_of(lab, site_);
  return lab;
}

namespace {

// Ports that links of the file name.
std::set<std::string> listed_ends(const spec::Tree& document) {
  std::set<std::string> ends;
  const spec::Tree* const links = document.find("links");
  if (links == nullptr || links->kind != spec::Tree::Kind::kList) return ends;
  for (const spec::Tree& link : links->items)
    for (std::size_t i = 0; i < std::min<std::size_t>(link.items.size(), 2); ++i) ends.insert(link.items[i].text);
  return ends;
}

// "host-link", ...: the keys of its preset, if it has one, that are maps of a link's keys.
std::vector<std::string> link_keys_of_preset(const spec::Tree& document) {
  const spec::Tree* const topology = document.find("topology");
  const spec::Tree* const name = topology != nullptr ? topology->find("preset") : nullptr;
  if (name == nullptr) return {};
  const auto preset = std::ranges::find(spec::presets(), name->text, &spec::Preset::name);
  if (preset == spec::presets().end()) return {};
  const spec::Tree schema = preset->schema();
  std::vector<std::string> keys;
  if (const spec::Tree* const properties = schema.find("properties"); properties != nullptr)
    for (const spec::Tree::Entry& e : properties->entries)
      if (e.key.ends_with("-link")) keys.push_back(e.key);
  return keys;
}

}  // namespace

std::vector<spec::Saying> Settings::changeable() const {
  const spec::Lab now = lab();
  std::vector<spec::Saying> all = spec::live_sayings(now);
  spec::Tree document = spec::parse_yaml(text_, file_name_);
  for (const std::string& assignment : assignments_) spec::apply_override(document, assignment);
  const std::set<std::string> listed = listed_ends(document);
  std::set<BitRate> rates;  // of links that a preset made
  std::set<std::string> made_by_preset;
  for (const spec::LinkSpec& link : now.links) {
    if (listed.contains(spec::format(link.a)) || listed.contains(spec::format(link.b))) continue;
    rates.insert(link.rate);
    made_by_preset.insert("links." + spec::format(link.a) + ".rate");
  }
  std::erase_if(all, [&](const spec::Saying& s) { return made_by_preset.contains(s.path); });
  for (const std::string& key : link_keys_of_preset(document)) {
    const std::string path = "topology." + key + ".rate";
    // The lab with another value there; nothing: it is refused.
    const auto with_rate = [&](BitRate rate) -> std::optional<spec::Lab> {
      try {
        return with({path + "=" + spec::format(rate)}).lab();
      } catch (const spec::SpecError&) {
        return std::nullopt;
      }
    };
    // The present value changes nothing, and another one something: else the lab has no such links.
    const auto present = std::ranges::find_if(rates, [&](BitRate rate) { return with_rate(rate) == now; });
    if (present != rates.end() && with_rate(BitRate{present->bps / 2}) != now) all.push_back({path, spec::format(*present)});
  }
  return all;
}

}  // namespace railyard::daemon
