#include "control/import/line_ports.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/import/most_common.h"
#include "control/import/setting_values.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kLeastMtu = 576;  // of a fabric file
constexpr std::int64_t kMostMtu = 9216;
constexpr std::int64_t kUsualSpeed = 100'000;

// All ports by name, without their settings.
std::map<std::string, LinePort> ports_by_name(const RunningConfig& config) {
  std::map<std::string, LinePort> out;
  for (const ConfigLine& line : config.lines()) {
    if (!line.begins({"interface"}) || line.words.size() < 2 || !line.words[1].starts_with("Ethernet")) continue;
    // "Ethernet1-4, Ethernet6" has blanks.
    std::string list;
    for (std::size_t i = 1; i < line.words.size(); ++i) list += line.words[i];
    const auto names = port_names(list);
    if (!names || list.contains('.')) {
      if (list.contains('.')) continue;  // a subinterface: of routing
      config.fail(line, fmt::format("the interfaces '{}'", list), "names such as Ethernet1/1, or Ethernet1/1-4");
    }
    take(line);
    for (const std::string& name : *names) {
      LinePort& port = out[name];
      port.config.name = name;
      port.blocks.push_back(&line);
    }
  }
  return out;
}

void read_speed(const RunningConfig& config, LinePort& port) {
  const ConfigLine* const line = port.last({"speed"});
  if (line == nullptr) return;
  take(*line);
  // "speed forced 100gfull", "speed auto 100gfull", "speed auto".
  const std::size_t at = line->words.size() > 1 && (line->words[1] == "forced" || line->words[1] == "auto") ? 2 : 1;
  if (at == line->words.size()) {
    if (line->words.back() == "auto") return;
    config.fail(*line, "a speed without a value", speeds());
  }
  const auto speed = speed_of(line->words[at]);
  if (!speed) config.fail(*line, fmt::format("speed '{}'", line->words[at]), speeds());
  port.config.speed = *speed;
  port.says_speed = true;
}

// "gpu01" of "description to gpu01 eth0".
std::string peer_of(const std::vector<std::string>& words) {
  const auto said = std::find_if(words.begin() + 1, words.end(),
                                 [](const std::string& w) { return w != "to" && w != "To" && w != "TO" && w != "link"; });
  return said == words.end() ? "" : *said;
}

void read_port(const RunningConfig& config, LinePort& port) {
  read_speed(config, port);
  if (const ConfigLine* const line = port.last({"mtu"})) {
    if (const auto mtu = config.number_after(take(*line), "mtu", kLeastMtu, kMostMtu)) {
      port.config.mtu = *mtu;
      port.says_mtu = true;
    }
  }
  if (const ConfigLine* const line = port.last({"description"}); line != nullptr && line->words.size() > 1)
    port.config.peer = peer_of(take(*line).words);
  bool up = true;
  for (const ConfigLine* block : port.blocks)
    for (const ConfigLine& line : block->below) {
      if (line.text == "shutdown" || line.text == "no shutdown") up = take(line).words.size() == 2;
      if (line.text == "switchport" || line.text == "no switchport") port.is_routed = take(line).words.size() == 2;
    }
  port.config.linked = up;
  if (!up)
    for (const ConfigLine* block : port.blocks) leave(*block, "shut down: the port has no link");
}

void set_missing_speeds(std::vector<LinePort>& ports, std::vector<std::string>& notes) {
  std::vector<std::int64_t> said;
  std::vector<std::string> silent;
  for (const LinePort& port : ports)
    if (port.says_speed)
      said.push_back(port.config.speed);
    else if (port.config.linked)
      silent.push_back(port.config.name);
  const std::int64_t usual = said.empty() ? kUsualSpeed : most_common(said);
  for (LinePort& port : ports)
    if (!port.says_speed) port.config.speed = usual;
  if (silent.empty()) return;
  notes.push_back(fmt::format("speed of {}{}: not said; {} Gb/s is taken{}", silent.front(),
                              silent.size() > 1 ? fmt::format(" and {} more", silent.size() - 1) : "", usual / 1000,
                              said.empty() ? "" : ", as at most ports that say one"));
}

}  // namespace

const ConfigLine* LinePort::last(std::initializer_list<std::string_view> with) const {
  const ConfigLine* out = nullptr;
  for (const ConfigLine* block : blocks)
    for (const ConfigLine& line : block->below)
      if (line.begins(with)) out = &line;
  return out;
}

std::vector<LinePort> read_line_ports(const RunningConfig& config, const std::string& switch_name,
                                      std::vector<std::string>& notes) {
  std::vector<LinePort> ports;
  for (auto& [name, port] : ports_by_name(config)) ports.push_back(std::move(port));
  if (ports.empty()) config.fail("no interface Ethernet", "one or more, with their speeds");
  std::ranges::sort(ports, {}, [](const LinePort& p) { return std::pair(digits_of(p.config.name), p.config.name); });
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].config.number = static_cast<int>(i) + 1;
    read_port(config, ports[i]);
  }
  if (std::ranges::none_of(ports, [](const LinePort& p) { return p.config.linked; }))
    config.fail("no interface Ethernet with a link", "one or more that is not shut down");
  set_missing_speeds(ports, notes);
  std::vector<PortConfig> configs = configs_of(ports);
  name_peers(configs, switch_name);
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].config = configs[i];
  return ports;
}

void set_missing_mtus(std::vector<LinePort>& ports, const std::function<std::int64_t(const LinePort&)>& mtu) {
  for (LinePort& port : ports)
    if (!port.says_mtu) port.config.mtu = mtu(port);
}

std::vector<PortConfig> configs_of(const std::vector<LinePort>& ports) {
  std::vector<PortConfig> out;
  for (const LinePort& port : ports) out.push_back(port.config);
  return out;
}

}  // namespace railyard::importing
