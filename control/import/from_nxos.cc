#include "control/import/from_nxos.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/import/fabric_text.h"
#include "control/import/line_ports.h"
#include "control/import/most_common.h"
#include "control/import/nxos_policies.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kUsualMtu = 1500;
constexpr std::int64_t kMostWatchdogTime = 60'000;  // of the watchdog of a fabric file
const char* const kOneNxosProfile = "not as at most ports; a switch has one QoS profile";

struct NxosWatchdog {
  bool on = false;
  std::int64_t interval = 100;  // ms
  std::int64_t shutdown = 1;    // intervals
  std::int64_t restore = 10;
  bool alerts = false;  // disable-action

  bool operator==(const NxosWatchdog&) const = default;
};

class NxosReader {
 public:
  NxosReader(const RunningConfig& config, std::vector<std::string>& notes) : config_(config), notes_(notes) {}

  SwitchConfig read() {
    out_.hostname = "nxos";
    for (const char* key : {"hostname", "switchname"})
      if (const ConfigLine* const line = config_.first({key}); line != nullptr && line->words.size() == 2)
        if (!node_name(line->words[1]).empty()) out_.hostname = take(*line).words[1];
    out_.name = node_name(out_.hostname);
    ports_ = read_line_ports(config_, out_.name, notes_);
    read_system();
    const ConfigLine* const by_system = of_system_.contains("network-qos") ? of_system_.at("network-qos") : nullptr;
    network_ = read_nxos_network(config_, by_system == nullptr ? nullptr : policy_of("network-qos", *by_system));
    set_missing_mtus(ports_, [&](const LinePort&) { return usual_mtu(); });
    out_.ports = configs_of(ports_);
    choose();
    read_pfc();
    read_watchdog();
    return std::move(out_);
  }

 private:
  // `service-policy type queuing output NAME [no-stats]`: what it applies, "queuing output", "qos input", "network-qos".
  static std::string place_of(const ConfigLine& line) {
    if (!line.begins({"service-policy", "type"}) || line.words.size() < 4) return "";
    const bool directed = line.words[3] == "input" || line.words[3] == "output";
    if (directed && line.words.size() < 5) return "";
    return directed ? line.words[2] + " " + line.words[3] : line.words[2];
  }

  const ConfigLine* policy_of(std::string_view type, const ConfigLine& by) const {
    const bool directed = by.words[3] == "input" || by.words[3] == "output";
    return nxos_policy(config_, type, take(by), by.words[directed ? 4 : 3]);
  }

  void read_system() {
    for (const ConfigLine* block : config_.all({"system", "qos"}))
      for (const ConfigLine& line : take(*block).below)
        if (const std::string place = place_of(line); !place.empty()) of_system_[place] = &line;
  }

  std::int64_t usual_mtu() const {
    for (const NxosNetworkClass& c : network_)
      if (c.pause != nullptr && c.mtu) return *c.mtu;
    for (const NxosNetworkClass& c : network_)
      if (c.mtu) return *c.mtu;
    return kUsualMtu;
  }

  // The line that applies a policy at a port: its own, else that of the system; nothing without one.
  const ConfigLine* applied(const LinePort& port, const std::string& place) const {
    const ConfigLine* out = nullptr;
    for (const ConfigLine* block : port.blocks)
      for (const ConfigLine& line : block->below)
        if (place_of(line) == place) out = &line;
    if (out != nullptr) return out;
    const auto system = of_system_.find(place);
    return system == of_system_.end() ? nullptr : system->second;
  }

  const ConfigLine* policy_at(const LinePort& port, const std::string& place, std::string_view type) const {
    const ConfigLine* const by = applied(port, place);
    return by == nullptr ? nullptr : policy_of(type, *by);
  }

  // The policies of most linked ports are those of the switch.
  void choose() {
    using Form = std::pair<const ConfigLine*, const ConfigLine*>;  // qos input, queuing output
    std::vector<Form> forms;
    std::vector<const LinePort*> linked;
    for (const LinePort& port : ports_)
      if (port.config.linked) {
        forms.emplace_back(policy_at(port, "qos input", "qos"), policy_at(port, "queuing output", "queuing"));
        linked.push_back(&port);
      }
    const Form most = most_common(forms);
    for (std::size_t k = 0; k < linked.size(); ++k) {
      if (forms[k].first != most.first) leave_policy(*linked[k], "qos input");
      if (forms[k].second != most.second) leave_policy(*linked[k], "queuing output");
    }
    read_maps(most.first);
    const std::array<NxosQueue, kClasses> queues = read_nxos_queues(config_, most.second);
    check_levels(queues);
    for (std::size_t c = 0; c < kClasses; ++c) {
      out_.queues[c] = queues[c].settings;
      out_.buffers.queues[c] = queues[c].buffer;
      for (const ConfigLine* line : queues[c].lines) {
        out_.sources[c].push_back(line->source());
        if (line->begins({"bandwidth"}) && line->words.back() == "0" && out_.maps.is_reached[c])
          config_.remark(*line, line->text, "a weight is at least 1");
      }
    }
  }

  // NX-OS serves level 1 first, a fabric file the strict class with the highest number.
  void check_levels(const std::array<NxosQueue, kClasses>& queues) const {
    long long above = 0;  // the highest level of the classes with higher numbers
    for (std::size_t c = kClasses; c-- > 0;)
      for (const ConfigLine* line : queues[c].lines) {
        const auto level = line->words[0] == "priority" ? config_.number_after(*line, "level", 1, 8) : std::nullopt;
        if (!level) continue;
        if (*level < above)
          config_.remark(*line, line->text, "strict classes with higher numbers are served first in a fabric file");
        above = std::max(above, *level);
      }
  }

  void leave_policy(const LinePort& port, const std::string& place) const {
    for (const ConfigLine* block : port.blocks)
      for (const ConfigLine& line : block->below)
        if (place_of(line) == place) leave(line, kOneNxosProfile);
  }

  void read_maps(const ConfigLine* policy) {
    const NxosGroups groups = read_nxos_groups(config_, policy);
    ClassMaps& maps = out_.maps;
    maps.trust_pcp = groups.trust_cos;
    maps.class_of_dscp = groups.of_dscp;
    maps.class_of_pcp = groups.of_cos;
    for (const int c : maps.class_of_dscp) maps.is_reached[static_cast<std::size_t>(c)] |= !maps.trust_pcp;
    for (const int c : maps.class_of_pcp) maps.is_reached[static_cast<std::size_t>(c)] |= maps.trust_pcp;
    out_.sources_of_maps = groups.sources;
    if (policy == nullptr) out_.sources_of_maps.emplace_back("no service-policy type qos input: all packets are in qos-group 0");
  }

  // A class pauses at ports with PFC if its network-qos class does.
  void read_pfc() {
    out_.maps.has_pfc.resize(ports_.size());
    out_.buffers.groups.resize(ports_.size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!pfc_on(ports_[i])) continue;
      for (std::size_t c = 0; c < kClasses; ++c)
        out_.maps.has_pfc[i][c] = network_[c].pause != nullptr && out_.maps.is_reached[c];
    }
    for (std::size_t c = 0; c < kClasses; ++c) {
      if (network_[c].pause == nullptr) continue;
      if (!out_.maps.is_reached[c])
        leave(*network_[c].pause, fmt::format("no code point leads to qos-group {}, so PFC protects nothing", c));
      else if (!out_.is_lossless(c))
        leave(*network_[c].pause, "no port with a link has priority-flow-control mode on");
      else
        out_.sources[c].insert(out_.sources[c].begin(), network_[c].pause->source());
    }
    read_headroom();
  }

  bool pfc_on(const LinePort& port) const {
    const ConfigLine* const line = port.last({"priority-flow-control", "mode"});
    if (line == nullptr) return false;
    const std::string& mode = take(*line).words.back();
    if (mode == "auto") leave(*line, "DCBX decides; PFC is taken as off");
    if (mode != "on" && mode != "off" && mode != "auto")
      config_.fail(*line, fmt::format("priority-flow-control mode '{}'", mode), "on, off or auto");
    return mode == "on";
  }

  // Thresholds of ingress groups, by port: a policy of type queuing, input.
  void read_headroom() {
    std::map<int, std::array<NxosPause, kClasses>> read;  // by the line of the policy
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const ConfigLine* const policy = policy_at(ports_[i], "queuing input", "queuing");
      if (policy == nullptr) continue;
      if (!read.contains(policy->number)) read[policy->number] = read_nxos_pauses(config_, policy);
      for (std::size_t c = 0; c < kClasses; ++c)
        if (out_.maps.has_pfc[i][c]) out_.buffers.groups[i][c] = read[policy->number][c].group;
    }
    for (const auto& [line, pauses] : read)
      for (std::size_t c = 0; c < kClasses; ++c) {
        if (pauses[c].line == nullptr) continue;
        if (out_.is_lossless(c))
          out_.sources[c].push_back(pauses[c].line->source());
        else
          leave(*pauses[c].line, fmt::format("class {} has no PFC", c));
      }
  }

  void read_watchdog(const ConfigLine& line, NxosWatchdog& into) const {
    if (line.begins({"priority-flow-control", "watch-dog-interval"}) && line.words.size() > 2) {
      const std::string& value = take(line).words[2];
      into.on = value != "off";
      if (value != "on" && value != "off")
        into.interval = config_.number(line, "watch-dog-interval", value, 1, kMostWatchdogTime);
      into.alerts = line.words.back() == "disable-action";
      if (const auto n = config_.number_after(line, "interface-multiplier", 1, 1000)) into.shutdown = *n;
    } else if (line.begins({"priority-flow-control", "watch-dog"})) {
      if (const auto n = config_.number_after(line, "interval", 1, kMostWatchdogTime)) into.interval = *n;
      if (const auto n = config_.number_after(line, "shutdown-multiplier", 1, 1000)) into.shutdown = *n;
      take(line);
    } else if (line.begins({"priority-flow-control", "auto-restore", "multiplier"})) {
      into.restore = *config_.number_after(take(line), "multiplier", 0, 1000);
    }
  }

  void read_watchdog() {
    NxosWatchdog of_all;
    std::vector<const ConfigLine*> lines;
    for (const ConfigLine* line : config_.all({"priority-flow-control"})) {
      read_watchdog(*line, of_all);
      if (line->read) lines.push_back(line);
    }
    std::vector<NxosWatchdog> of_lossless;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!ports_[i].config.linked || std::ranges::none_of(out_.maps.has_pfc[i], [](bool on) { return on; })) continue;
      NxosWatchdog w = of_all;
      if (const ConfigLine* const line = ports_[i].last({"priority-flow-control", "watch-dog-interval"})) {
        read_watchdog(*line, w);
        lines.push_back(line);
      }
      of_lossless.push_back(w);
    }
    if (of_lossless.empty() || !most_common(of_lossless).on) {
      for (const ConfigLine* line : lines) leave(*line, of_lossless.empty() ? "no port has PFC" : "the watchdog is off");
      return;
    }
    const NxosWatchdog most = most_common(of_lossless);
    const auto within = [&](std::int64_t ms) { return std::clamp(ms, most.interval, kMostWatchdogTime); };
    out_.watchdog = WatchdogConfig{within(most.interval * most.shutdown), within(most.interval * most.restore),
                                   most.alerts ? "alert" : "drop"};
    out_.watchdog_poll = most.interval;
    std::vector<std::string> said;
    for (const ConfigLine* line : lines) {
      if (std::ranges::find(said, line->text) != said.end()) continue;
      said.push_back(line->text);
      out_.sources_of_watchdog.push_back(line->source());
    }
    if (most.restore == 0)
      config_.remark(*lines.front(), "auto-restore multiplier 0", "NX-OS never restores the queue; here it does after a poll");
  }

  const RunningConfig& config_;
  std::vector<std::string>& notes_;
  SwitchConfig out_;
  std::vector<LinePort> ports_;
  std::map<std::string, const ConfigLine*> of_system_;  // by place_of()
  std::array<NxosNetworkClass, kClasses> network_;
};

}  // namespace

std::string from_nxos(const std::string& text, const std::string& file, bool qos_only) {
  const RunningConfig config(text, file);
  FabricWords words{.what = "NX-OS switch", .file = file, .form_of_list = "FILE:LINE: text"};
  const SwitchConfig from = NxosReader(config, words.more_left_out).read();
  return fabric_text(from, words, config.left_out(), qos_only);
}

}  // namespace railyard::importing
