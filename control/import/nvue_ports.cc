#include "control/import/nvue_ports.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/import/config_db.h"
#include "control/import/most_common.h"
#include "control/import/setting_values.h"

namespace railyard::importing {
namespace {

using spec::Tree;

constexpr std::int64_t kNvueMtu = 9216;
constexpr std::int64_t kNvueSpeed = 100'000;  // if no port says one

bool is_switch_port(const std::string& name) {
  return name.size() > 3 && name.starts_with("swp") && std::isdigit(static_cast<unsigned char>(name[3])) != 0;
}

std::map<std::string, NvuePort> nvue_ports_by_name(const NvueTree& tree) {
  std::map<std::string, NvuePort> out;
  const Tree* const interfaces = tree.find(tree.set(), {"interface"});
  if (interfaces == nullptr) return out;
  for (const Tree::Entry& entry : interfaces->entries) {
    if (!entry.key.contains("swp")) continue;
    const auto names = port_names(entry.key);
    if (!names) tree.fail(entry.value, fmt::format("'{}'", entry.key), "names of ports, such as swp1-4");
    if (entry.value.entries.empty()) tree.take(entry.value);
    for (const std::string& name : *names) {
      if (!is_switch_port(name)) continue;
      out[name].config.name = name;
      out[name].said.push_back(&entry.value);
    }
  }
  return out;
}

// state: up, down, or a map { up: {} }.
bool is_down(const NvueTree& tree, const NvuePort& port) {
  const Tree* const state = port.last({"link", "state"});
  if (state == nullptr) return false;
  tree.take(*state);
  for (const Tree::Entry& entry : state->entries) tree.take(entry.value);
  const std::string word = state->kind == Tree::Kind::kScalar ? state->text
                           : state->entries.empty()           ? "up"
                                                              : state->entries.front().key;
  if (word != "up" && word != "down") tree.fail(*state, fmt::format("'{}'", word), "up or down");
  return word == "down";
}

void read_nvue_port(const NvueTree& tree, NvuePort& port, const std::map<std::string, NvuePort>& all) {
  port.config.mtu = kNvueMtu;
  if (const Tree* const link = port.last({"link", "mtu"})) port.config.mtu = *tree.number(*link, {}, 576, 9216);
  if (const Tree* const said = port.last({"link", "speed"})) {
    const std::string text = tree.text(*said, {}).value_or("");
    if (text != "auto") {
      const auto speed = speed_of(text);
      if (!speed) tree.fail(*said, fmt::format("'{}'", text), "auto, or a speed such as 100G");
      port.config.speed = *speed;
      port.says_speed = true;
    }
  }
  if (const Tree* const description = port.last({"description"}))
    port.config.peer = split(tree.text(*description, {}).value_or(""), ' ').empty()
                           ? ""
                           : split(tree.text(*description, {}).value_or(""), ' ').front();
  if (const Tree* const type = port.last({"type"})) tree.take(*type);
  if (const Tree* const breakout = port.last({"link", "breakout"})) {
    tree.take(*breakout);
    for (const Tree::Entry& entry : breakout->entries) tree.take(entry.value);
  }
  const auto part = all.lower_bound(port.config.name + "s");
  const bool is_broken_out = part != all.end() && part->first.starts_with(port.config.name + "s");
  port.config.linked = !is_broken_out && !is_down(tree, port);
}

}  // namespace

const Tree* NvuePort::last(std::initializer_list<std::string_view> keys) const {
  const Tree* out = nullptr;
  for (const Tree* at : said) {
    for (const std::string_view key : keys)
      if (at != nullptr) at = at->find(key);
    if (at != nullptr) out = at;
  }
  return out;
}

std::vector<NvuePort> read_nvue_ports(const NvueTree& tree, const std::string& switch_name,
                                      std::vector<std::string>& notes) {
  std::map<std::string, NvuePort> by_name = nvue_ports_by_name(tree);
  std::vector<NvuePort> ports;
  for (auto& [name, port] : by_name) {
    read_nvue_port(tree, port, by_name);
    // A cage whose parts are ports is none.
    if (port.config.linked || !port.last({"link", "breakout"})) ports.push_back(port);
  }
  std::ranges::sort(ports, {}, [](const NvuePort& p) { return std::pair(digits_of(p.config.name), p.config.name); });
  std::vector<std::int64_t> speeds_said;
  std::vector<std::string> silent;
  std::vector<PortConfig> configs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].config.number = static_cast<int>(i) + 1;
    if (ports[i].says_speed) speeds_said.push_back(ports[i].config.speed);
    if (!ports[i].says_speed && ports[i].config.linked) silent.push_back(ports[i].config.name);
    configs.push_back(ports[i].config);
  }
  if (std::ranges::none_of(configs, &PortConfig::linked))
    tree.fail(tree.set(), "no interface swp1, swp2, ... with a link", "one or more");
  const std::int64_t usual = speeds_said.empty() ? kNvueSpeed : most_common(speeds_said);
  name_peers(configs, switch_name);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].config = configs[i];
    if (!ports[i].says_speed) ports[i].config.speed = usual;
  }
  if (!silent.empty())
    notes.push_back(fmt::format("link.speed of {}{}: not said; {} Gb/s is taken{}", silent.front(),
                                silent.size() > 1 ? fmt::format(" and {} more", silent.size() - 1) : "", usual / 1000,
                                speeds_said.empty() ? "" : ", as at most ports that say one"));
  return ports;
}

}  // namespace railyard::importing
