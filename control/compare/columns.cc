#include "control/compare/columns.h"

#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/difference.h"
#include "control/spec/frame_tags.h"
#include "control/spec/keys/keys.h"
#include "control/spec/port_class.h"
#include "control/spec/select.h"

namespace railyard::compare {
namespace {

// "spray" of `path: spray` and of `path: { policy: spray, ... }`.
template <class T>
std::string word(const spec::Table<T>& table, std::string_view name, const T& value) {
  for (const spec::Key<T>& key : table.keys()) {
    if (key.name != name) continue;
    const spec::Tree tree = key.write(value);
    if (tree.kind == spec::Tree::Kind::kScalar) return tree.text;
    if (const spec::Tree* policy = tree.find("policy"); policy != nullptr) return policy->text;
  }
  return "-";
}

// How the first entry that NICs carry by messages looks, and who sends it.
struct Example {
  spec::TrafficSpec like;
  const spec::HostProfile* sender = nullptr;
};
std::optional<Example> example_of(const spec::Lab& lab) {
  for (const spec::TrafficSpec& t : lab.traffic) {
    if (!t.has_messages()) continue;
    const std::vector<spec::PortName> from = spec::senders(lab, t);
    if (from.empty()) continue;
    return Example{t, &lab.hosts.at(lab.find(from.front().node)->profile)};
  }
  for (const spec::CollectiveSpec& c : lab.collectives) {
    const std::vector<spec::PortName> ranks = spec::ranks(lab, c);
    if (ranks.empty()) continue;
    Example e{spec::like_traffic(c), &lab.hosts.at(lab.find(ranks.front().node)->profile)};
    e.like.transport = c.is_uet() ? spec::TrafficSpec::Transport::kUet : spec::TrafficSpec::Transport::kRoce;
    if (c.is_uet())
      e.like.service = c.service == spec::CollectiveService::kRod ? spec::UetService::kRod : spec::UetService::kRud;
    return e;
  }
  return std::nullopt;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

}  // namespace

ColumnFacts facts_of(const spec::Lab& lab) {
  ColumnFacts f;
  const std::optional<Example> example = example_of(lab);
  if (!example) return f;
  const auto& [like, sender] = *example;
  if (like.is_uet()) {
    f.transport = "UET " + upper(word(spec::traffic_keys(), "service", like));
    f.congestion = word(spec::uet_nic_keys(), "congestion", sender->uet);
    f.recovery = like.service == spec::UetService::kUud   ? "none"
                 : like.service == spec::UetService::kRod ? "go-back-n"
                                                          : "selective";
    f.path = word(spec::uet_nic_keys(), "path-policy", sender->uet) + " over ";
  } else {
    f.transport = like.is_uc() ? "RoCEv2 UC" : "RoCEv2 RC";
    f.congestion = word(spec::roce_nic_keys(), "congestion", sender->roce);
    if (sender->roce.is_controlled_by<roce::Dcqcn>())
      f.congestion += sender->roce.settings_of<roce::Dcqcn>().profile == roce::DcqcnConfig::Profile::kVendor
                          ? " (vendor)"
                          : " (paper)";
    f.recovery = like.is_uc() ? "none" : word(spec::roce_nic_keys(), "loss-recovery", sender->roce);
  }
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.kind != spec::NodeSpec::Kind::kSwitch) continue;
    const spec::QosProfile& qos = spec::qos_of(lab, node);
    const int number = spec::class_at_switch(lab, qos, like);
    const spec::TrafficClass& c = qos.classes[static_cast<std::size_t>(number)];
    f.path += word(spec::class_keys(), "path", c);
    f.traffic_class = fmt::format("{} {}{}", number, c.lossless ? "lossless" : "lossy", c.trim ? ", trims" : "");
    return f;
  }
  f.path += "cables";
  f.traffic_class = "-";
  return f;
}

std::vector<SettingRow> differing_settings(const std::vector<spec::Lab>& labs) {
  std::map<std::string, std::vector<std::optional<std::string>>> rows;
  std::map<std::string, std::string> first;
  for (std::size_t c = 1; c < labs.size(); ++c)
    for (spec::Difference& d : spec::differences(labs.front(), labs[c])) {
      auto& row = rows.try_emplace(d.path, labs.size()).first->second;
      row[c] = std::move(d.to);
      first[d.path] = std::move(d.from);
    }
  std::vector<std::string> transports;
  for (const spec::Lab& lab : labs) transports.push_back(facts_of(lab).transport);
  // NICs of the other transport carry nothing.
  const auto has_meaning = [&](const std::string& path, std::size_t column) {
    const bool uet = transports[column].starts_with("UET");
    return !path.starts_with("hosts.") || path.find(uet ? ".roce." : ".uet.") == std::string::npos;
  };
  std::vector<SettingRow> out;
  for (auto& [path, values] : rows) {
    SettingRow row{path, {}};
    std::set<std::string> different;
    for (std::size_t c = 0; c < values.size(); ++c) {
      const bool is_of_it = has_meaning(path, c);
      row.values.push_back(!is_of_it ? "-" : values[c] ? *values[c] : first[path]);
      if (is_of_it) different.insert(row.values.back());
    }
    if (different.size() > 1) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace railyard::compare
