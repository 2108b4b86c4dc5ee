#include "control/import/from_eos.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/import/eos_maps.h"
#include "control/import/eos_queues.h"
#include "control/import/fabric_text.h"
#include "control/import/line_ports.h"
#include "control/import/most_common.h"
#include "control/import/setting_values.h"
#include "control/spec/value.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kRoutedMtu = 1500;  // of a port that says none
constexpr std::int64_t kSwitchedMtu = 9214;
constexpr std::int64_t kUsualDetect = 200;  // ms; of a watchdog that a port enables without a timeout
const char* const kOneEosProfile = "not as at most ports; a switch has one QoS profile";

class EosReader {
 public:
  EosReader(const RunningConfig& config, std::vector<std::string>& notes) : config_(config), notes_(notes) {}

  SwitchConfig read() {
    read_name();
    std::vector<LinePort> ports = read_line_ports(config_, out_.name, notes_);
    set_missing_mtus(ports, [](const LinePort& p) { return p.is_routed ? kRoutedMtu : kSwitchedMtu; });
    out_.ports = configs_of(ports);
    for (const LinePort& port : ports) qos_.push_back(qos_of(port));
    maps_ = read_eos_maps(config_);
    choose(ports);
    read_pfc();
    read_watchdog();
    read_memory();
    return std::move(out_);
  }

 private:
  void read_name() {
    out_.hostname = "eos";
    if (const ConfigLine* const line = config_.first({"hostname"}); line != nullptr && line->words.size() == 2)
      if (!node_name(line->words[1]).empty()) out_.hostname = take(*line).words[1];
    out_.name = node_name(out_.hostname);
  }

  EosPortQos qos_of(const LinePort& port) {
    EosPortQos out;
    if (const ConfigLine* const line = port.last({"service-profile"}); line != nullptr && line->words.size() == 2)
      read_eos_port(config_, profile_named(take(*line)).below, out);
    for (const ConfigLine* block : port.blocks) read_eos_port(config_, block->below, out);
    settle_eos_scheduling(config_, out);
    if (!out.trust_pcp) out.trust_pcp = !port.is_routed;
    return out;
  }

  const ConfigLine& profile_named(const ConfigLine& by) const {
    std::vector<std::string> names;
    for (const ConfigLine* line : config_.all({"qos", "profile"})) {
      if (line->words.size() != 3) continue;
      if (line->words[2] == by.words[1]) return take(*line);
      names.push_back(line->words[2]);
    }
    config_.fail(by, fmt::format("service-profile '{}'", by.words[1]),
                 names.empty() ? "the name of a `qos profile`; the file has none"
                               : fmt::format("the name of a `qos profile`: {}", fmt::join(names, ", ")));
  }

  // Trust and queues of most linked ports are those of the switch.
  void choose(const std::vector<LinePort>& ports) {
    using Form = std::pair<bool, std::array<QueueSettings, kClasses>>;
    std::vector<Form> forms;
    std::vector<std::size_t> linked;
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (ports[i].config.linked) {
        forms.emplace_back(*qos_[i].trust_pcp, qos_[i].queues);
        linked.push_back(i);
      }
    const Form most = most_common(forms);
    const std::size_t first = linked[static_cast<std::size_t>(std::ranges::find(forms, most) - forms.begin())];
    const EosPortQos& model = qos_[first];
    out_.queues = most.second;
    for (std::size_t q = 0; q < kClasses; ++q)
      for (const ConfigLine* line : model.queue_lines[q])
        if (line->below.empty() && line->why_left.empty()) out_.sources[q].push_back(line->source());
    for (std::size_t k = 0; k < linked.size(); ++k)
      if (forms[k] != most) leave_queues(qos_[linked[k]], model);
    set_maps(most.first, model);
  }

  static void leave_queues(const EosPortQos& other, const EosPortQos& model) {
    for (std::size_t q = 0; q < kClasses; ++q)
      for (const ConfigLine* line : other.queue_lines[q])
        if (std::ranges::find(model.queue_lines[q], line) == model.queue_lines[q].end()) leave(*line, kOneEosProfile);
    for (const ConfigLine* line : other.trust_lines)
      if (other.trust_pcp != model.trust_pcp) leave(*line, kOneEosProfile);
  }

  void set_maps(bool trust_pcp, const EosPortQos& model) {
    ClassMaps& maps = out_.maps;
    maps.trust_pcp = trust_pcp;
    const auto queue_of = [&](int tc) { return maps_.queue_of_traffic_class[static_cast<std::size_t>(tc)]; };
    for (std::size_t d = 0; d < 64; ++d) maps.class_of_dscp[d] = queue_of(maps_.traffic_class_of_dscp[d]);
    for (std::size_t p = 0; p < 8; ++p) maps.class_of_pcp[p] = queue_of(maps_.traffic_class_of_cos[p]);
    for (const int c : maps.class_of_dscp) maps.is_reached[static_cast<std::size_t>(c)] |= !trust_pcp;
    for (const int c : maps.class_of_pcp) maps.is_reached[static_cast<std::size_t>(c)] |= trust_pcp;
    if (model.trust_lines.empty())
      out_.sources_of_maps.push_back(trust_pcp ? "no qos trust: CoS, EOS's default of switched ports"
                                               : "no qos trust: DSCP, EOS's default of routed ports");
    else
      out_.sources_of_maps.push_back(model.trust_lines.back()->source());
    out_.sources_of_maps.insert(out_.sources_of_maps.end(), maps_.sources.begin(), maps_.sources.end());
  }

  // PFC of a priority is PFC of the queue of its traffic class.
  void read_pfc() {
    out_.maps.has_pfc.resize(out_.ports.size());
    out_.buffers.groups.resize(out_.ports.size());
    std::set<const ConfigLine*> used;
    std::map<const ConfigLine*, std::string> unused;  // and why; a line of a profile may be both
    for (std::size_t i = 0; i < out_.ports.size(); ++i) {
      const EosPortQos& qos = qos_[i];
      for (const ConfigLine* line : qos.pfc_lines) {
        if (!line->begins({"priority-flow-control", "priority"}) || line->words.back() != "no-drop") continue;
        const int priority = static_cast<int>(*config_.number_after(*line, "priority", 0, 7));
        const auto c = static_cast<std::size_t>(maps_.queue_of_traffic_class[static_cast<std::size_t>(priority)]);
        if (!qos.pfc_on || !qos.no_drop.contains(priority)) {
          unused[line] = "priority-flow-control is not on at the port";
        } else if (!out_.maps.is_reached[c]) {
          unused[line] = fmt::format("no code point leads to queue {}, so PFC protects nothing", c);
        } else {
          if (!out_.is_lossless(c)) out_.sources[c].insert(out_.sources[c].begin(), line->source());
          out_.maps.has_pfc[i][c] = true;
          used.insert(line);
        }
      }
    }
    for (const auto& [line, why] : unused)
      if (!used.contains(line)) leave(*line, why);
  }

  static WatchdogConfig times_of(const EosWatchdog& w) {
    WatchdogConfig out;
    out.detect = w.timeout > 0 ? w.timeout : kUsualDetect;
    out.restore = w.recovery > 0 ? w.recovery : out.detect;
    out.action = w.action == "notify-only" ? "alert" : "drop";
    return out;
  }

  void read_watchdog() {
    EosWatchdog of_all;
    std::vector<const ConfigLine*> lines = config_.all({"priority-flow-control", "pause", "watchdog"});
    for (const ConfigLine* line : lines) read_eos_watchdog(config_, *line, of_all);
    std::vector<EosWatchdog> of_lossless;
    for (std::size_t i = 0; i < out_.ports.size(); ++i) {
      if (!out_.ports[i].linked || std::ranges::none_of(out_.maps.has_pfc[i], [](bool on) { return on; })) continue;
      EosWatchdog w = of_all;
      for (const ConfigLine* line : qos_[i].watchdog_lines) read_eos_watchdog(config_, *line, w);
      of_lossless.push_back(w);
    }
    if (of_lossless.empty()) {
      for (const ConfigLine* line : lines) leave(*line, "no port has PFC");
      return;
    }
    const EosWatchdog most = most_common(of_lossless);
    for (const EosPortQos& qos : qos_)
      for (const ConfigLine* line : qos.watchdog_lines) lines.push_back(line);
    if (!most.on) {
      for (const ConfigLine* line : lines) leave(*line, "without a timeout the watchdog is off");
      return;
    }
    out_.watchdog = times_of(most);
    const std::int64_t longest = std::min(out_.watchdog->detect, out_.watchdog->restore) / 2;
    out_.watchdog_poll = most.polling > 0 && most.polling <= longest ? most.polling : std::max<std::int64_t>(longest, 1);
    for (const ConfigLine* line : lines) out_.sources_of_watchdog.push_back(line->source());
    if (most.polling > longest)
      config_.remark(*lines.front(), fmt::format("polling-interval {} ms", most.polling),
                     fmt::format("more than half of timeout or recovery-time: EOS takes half, {} ms", longest));
    if (most.action != "drop" && most.action != "notify-only")
      config_.remark(*lines.front(), most.action.empty() ? "priority-flow-control pause watchdog without an action" : "action errdisable",
                     "EOS shuts the port down; here the queue drops");
  }

  std::optional<int> power_of_two(const ConfigLine& line, const std::string& text) const {
    const auto exponent = spec::parse_power_of_two(text);
    if (!exponent) config_.fail(line, fmt::format("threshold '{}'", text), "a power of two, 1/256..128");
    return *exponent;
  }

  // The mmu queue profile that is applied, and the headroom pool.
  void read_memory() {
    const ConfigLine* applied = nullptr;
    for (const ConfigLine* line : config_.all({"platform", "trident", "mmu", "queue", "profile"}))
      if (line->words.size() == 7 && line->words.back() == "apply") applied = &take(*line);
    if (applied != nullptr)
      for (const ConfigLine* line : config_.all({"platform", "trident", "mmu", "queue", "profile", applied->words[5]}))
        for (const ConfigLine& setting : take(*line).below) read_mmu(setting);
    for (const ConfigLine* line : config_.all({"platform", "trident", "mmu", "headroom-pool", "limit"})) {
      const bool is_last = line->words.back() == "bytes" || line->words.back() == "cells";
      const std::string& unit = line->words.size() < 7 ? line->words.back() : is_last ? line->words.back() : line->words[5];
      if (unit != "bytes") {
        leave(*line, "the size of a cell is not in the file; set headroom-pool");
        continue;
      }
      out_.buffers.memory.headroom_pool =
          config_.number(take(*line), "headroom-pool limit", is_last ? line->words[5] : line->words[6], 1, 1'000'000'000);
    }
  }

  void read_mmu(const ConfigLine& line) {
    if (line.begins({"ingress", "threshold"}) && line.words.size() == 3) {
      const auto alpha = power_of_two(line, take(line).words[2]);
      for (std::size_t c = 0; c < kClasses; ++c) {
        if (!out_.is_lossless(c)) continue;
        for (auto& groups : out_.buffers.groups) {
          if (!groups[c]) groups[c].emplace();
          groups[c]->alpha_exponent = alpha;
        }
        out_.sources[c].push_back(line.source());
      }
      return;
    }
    if (!line.begins({"egress", "unicast", "queue"}) || line.words.size() < 6) return;
    const auto q = static_cast<std::size_t>(config_.number(line, "queue", line.words[3], 0, 7));
    std::optional<QueueBuffer>& queue = out_.buffers.queues[q];
    if (line.words[4] == "threshold") {
      if (out_.is_lossless(q)) {
        leave(line, "the queue of a lossless class has no limit");
        return;
      }
      if (!queue) queue.emplace();
      queue->alpha_exponent = power_of_two(line, take(line).words[5]);
    } else if (line.words[4] == "reserved" && (line.words.size() == 6 || line.words[6] == "bytes")) {
      if (!queue) queue.emplace();
      queue->reserved = config_.number(take(line), "reserved", line.words[5], 0, 100'000'000);
    } else {
      return;
    }
    out_.sources[q].push_back(line.source());
  }

  const RunningConfig& config_;
  std::vector<std::string>& notes_;
  SwitchConfig out_;
  std::vector<EosPortQos> qos_;  // by port
  EosMaps maps_;
};

// "DCS-7060CX-32S, EOS-4.29.2F" of "! device: leaf1 (DCS-7060CX-32S, EOS-4.29.2F)".
std::string model_in(const std::string& text) {
  const std::size_t at = text.find("! device: ");
  if (at == std::string::npos) return "";
  const std::string line = text.substr(at, text.find_first_of("\r\n", at) - at);
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  return open == std::string::npos || close == std::string::npos || close < open ? ""
                                                                                 : line.substr(open + 1, close - open - 1);
}

}  // namespace

std::string from_eos(const std::string& text, const std::string& file, bool qos_only) {
  const RunningConfig config(text, file);
  FabricWords words{.what = "EOS switch", .file = file, .form_of_list = "FILE:LINE: text"};
  SwitchConfig from = EosReader(config, words.more_left_out).read();
  from.model = model_in(text);
  return fabric_text(from, words, config.left_out(), qos_only);
}

}  // namespace railyard::importing
