#include "control/import/from_nvue.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/import/fabric_text.h"
#include "control/import/most_common.h"
#include "control/import/nvue_ports.h"
#include "control/import/nvue_qos.h"

namespace railyard::importing {
namespace {

using spec::Tree;

const char* const kOneNvueProfile = "not as at most ports; a switch has one QoS profile";

// Packet memory by the first digit of the model (SN2700, MSN3700C): data sheets of Spectrum to Spectrum-4, in octets.
std::optional<std::int64_t> memory_of(const std::string& model) {
  const std::size_t at = model.find("SN");
  if (at == std::string::npos || at + 2 >= model.size()) return std::nullopt;
  static const std::map<char, std::int64_t> memories{
      {'2', 16'000'000}, {'3', 42'000'000}, {'4', 64'000'000}, {'5', 160'000'000}};
  const auto found = memories.find(model[at + 2]);
  return found == memories.end() ? std::nullopt : std::optional(found->second);
}

class NvueReader {
 public:
  NvueReader(const NvueTree& tree, std::vector<std::string>& notes) : tree_(tree), notes_(notes) {}

  SwitchConfig read() {
    out_.hostname = "cumulus";
    if (const auto name = tree_.text(tree_.set(), {"system", "hostname"}); name && !node_name(*name).empty())
      out_.hostname = *name;
    out_.name = node_name(out_.hostname);
    out_.model = tree_.header("model");
    ports_ = read_nvue_ports(tree_, out_.name, notes_);
    roce_ = read_nvue_roce(tree_);
    choose();
    read_pfc();
    for (const NvuePort& port : ports_) out_.ports.push_back(port.config);
    sources_of_pfc();
    read_watchdog();
    read_memory();
    return std::move(out_);
  }

 private:
  // The name of a profile that a port has, and where it is said; the global one if it names none.
  std::pair<std::string, const Tree*> named(const NvuePort& port, std::string_view feature) const {
    const Tree* const said = port.last({"qos", feature, "profile"});
    if (said == nullptr) return {std::string(kGlobalProfile), nullptr};
    return {tree_.text(*said, {}).value_or(""), said};
  }

  // Names that most linked ports have; other ports are left.
  std::pair<std::string, const Tree*> common(std::string_view feature) const {
    std::vector<std::string> names;
    for (const NvuePort& port : ports_)
      if (port.config.linked) names.push_back(named(port, feature).first);
    std::pair<std::string, const Tree*> out{most_common(names), nullptr};
    for (const NvuePort& port : ports_) {
      const auto [name, said] = named(port, feature);
      if (said == nullptr || !port.config.linked) continue;
      nvue_profile(tree_, feature, name, said);
      if (name == out.first)
        out.second = said;
      else
        tree_.leave(*said, kOneNvueProfile);
    }
    return out;
  }

  void choose() {
    const auto profile = [&](std::string_view feature) {
      const auto [name, said] = common(feature);
      return std::pair(nvue_profile(tree_, feature, name, said), name == kGlobalProfile);
    };
    const auto [mapping, global_mapping] = profile("mapping");
    const auto [scheduler, global_scheduler] = profile("egress-scheduler");
    const auto [congestion, global_congestion] = profile("congestion-control");
    NvueMaps maps = read_nvue_maps(tree_, mapping, roce_);
    class_of_priority_ = maps.class_of_priority;
    out_.maps = std::move(maps.maps);
    out_.sources_of_maps = std::move(maps.sources);
    NvueQueues queues = read_nvue_queues(tree_, scheduler, congestion, global_scheduler, global_congestion, roce_);
    out_.queues = queues.queues;
    out_.sources = std::move(queues.sources);
  }

  // PFC of a switch priority is PFC of its traffic class.
  void read_pfc() {
    out_.maps.has_pfc.resize(ports_.size());
    out_.buffers.groups.resize(ports_.size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const auto [name, said] = named(ports_[i], "pfc");
      if (!pfc_.contains(name)) pfc_[name] = read_nvue_pfc(tree_, nvue_profile(tree_, "pfc", name, said), roce_);
      const NvuePfc& pfc = pfc_.at(name);
      if (!pfc.cable.empty()) ports_[i].config.cable = pfc.cable;
      for (const int priority : pfc.priorities) {
        const auto c = static_cast<std::size_t>(class_of_priority_[static_cast<std::size_t>(priority)]);
        if (!out_.maps.is_reached[c]) {
          const std::string note =
              fmt::format("pfc of switch-priority {}: no code point leads to traffic class {}, so PFC protects nothing",
                          priority, c);
          if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
          continue;
        }
        out_.maps.has_pfc[i][c] = true;
        if (pfc.says_group) out_.buffers.groups[i][c] = pfc.group;
      }
    }
  }

  void sources_of_pfc() {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (!ports_[i].config.linked) continue;
      const NvuePfc& pfc = pfc_.at(named(ports_[i], "pfc").first);
      for (std::size_t c = 0; c < kClasses; ++c) {
        if (!out_.maps.has_pfc[i][c]) continue;
        for (const std::string& source : pfc.sources)
          if (std::ranges::find(out_.sources[c], source) == out_.sources[c].end()) out_.sources[c].push_back(source);
      }
    }
  }

  bool is_watched(const NvuePort& port) const {
    const Tree* const said = port.last({"qos", "pfc-watchdog"});
    if (said == nullptr) return false;
    if (said->entries.empty()) tree_.take(*said);
    const std::string state = tree_.text(*said, {"state"}).value_or("enable");
    if (state != "enable" && state != "enabled" && state != "disable" && state != "disabled")
      tree_.fail(*said->find("state"), fmt::format("'{}'", state), "enable or disable");
    return state.starts_with("enable");
  }

  void read_watchdog() {
    std::vector<bool> watched;
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (const bool is = is_watched(ports_[i]);
          ports_[i].config.linked && std::ranges::any_of(out_.maps.has_pfc[i], [](bool on) { return on; }))
        watched.push_back(is);
    if (watched.empty() || !most_common(watched)) return;
    const Tree* const said = tree_.find(tree_.set(), {"qos", "pfc-watchdog"});
    const Tree nothing;
    const Tree& times = said == nullptr ? nothing : *said;
    const long long poll = tree_.number(times, {"polling-interval"}, 1, 60'000).value_or(100);
    const long long polls = tree_.number(times, {"robustness"}, 1, 1000).value_or(3);
    out_.watchdog = WatchdogConfig{std::min<std::int64_t>(poll * polls, 60'000), poll, "drop"};
    out_.watchdog_poll = poll;
    out_.sources_of_watchdog.push_back(said == nullptr ? "interface pfc-watchdog; 3 polls of 100 ms, Cumulus's default"
                                                       : tree_.source(*said));
  }

  // Memory for lossless traffic: a percentage of that of the model.
  void read_memory() {
    const Tree* const pools = tree_.find(tree_.set(), {"qos", "traffic-pool"});
    if (pools == nullptr) return;
    const bool is_lossless = std::ranges::any_of(std::array{0, 1, 2, 3, 4, 5, 6, 7}, [&](int c) {
      return out_.is_lossless(static_cast<std::size_t>(c));
    });
    for (const char* name : {"roce-lossless", "default-lossless"}) {
      const auto percent = tree_.number(*pools, {name, "memory-percent"}, 0, 100);
      if (!percent || !is_lossless) continue;
      const Tree& said = *pools->find(name)->find("memory-percent");
      const auto memory = memory_of(out_.model);
      if (!memory) {
        tree_.leave(said, "the memory of the model is not known; set buffer");
        continue;
      }
      out_.buffers.memory.buffer = *memory * *percent / 100;
      out_.buffers.memory.arithmetic =
          fmt::format("{}; {} % of {} B, the packet memory of a {}", tree_.source(said), *percent, *memory, out_.model);
    }
  }

  const NvueTree& tree_;
  std::vector<std::string>& notes_;
  SwitchConfig out_;
  std::vector<NvuePort> ports_;
  NvueRoceMode roce_;
  std::array<int, 8> class_of_priority_{};
  std::map<std::string, NvuePfc> pfc_;  // by the name of the profile
};

}  // namespace

std::string from_nvue(const std::string& text, const std::string& file, bool qos_only) {
  const NvueTree tree(text, file);
  FabricWords words{.what = "Cumulus Linux switch", .file = file, .form_of_list = "FILE:LINE: setting"};
  const SwitchConfig from = NvueReader(tree, words.more_left_out).read();
  return fabric_text(from, words, tree.left_out(), qos_only);
}

}  // namespace railyard::importing
