#include "control/swarm/coverage.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/spec/faults/fault_kind.h"

namespace railyard::swarm {
namespace {

std::uint64_t count_in(const std::map<std::string, std::uint64_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

// Four columns of "name count".
std::string columns(const std::string& title, const std::map<std::string, std::uint64_t>& counts) {
  constexpr std::size_t kColumns = 4;
  std::string text = title + "\n";
  std::size_t i = 0;
  for (const auto& [name, n] : counts) {
    text += fmt::format("  {:<16} {:>6}", name, n);
    if (++i % kColumns == 0 || i == counts.size()) text += "\n";
  }
  return text;
}

}  // namespace

void Coverage::add(const Outcome& o) {
  hops_.push_back(o.hops);
  all_hops_ += o.hops;
  roce_packets_ += o.roce_packets;
  uet_packets_ += o.uet_packets;
  for (const auto& [name, n] : {std::pair<const char*, std::uint64_t>{"XOFF", o.xoffs},
                                {"drops", o.drops},
                                {"lost on links", o.lost},
                                {"CE marks", o.marks},
                                {"trims", o.trims},
                                {"roce packets", o.roce_packets},
                                {"uet packets", o.uet_packets},
                                {"retransmissions", o.retransmissions},
                                {"flows given up", o.failures},
                                {"deadlock", o.deadlocked ? 1 : 0}})
    if (n > 0) ++events_[name];
  for (const std::string& k : o.kinds) ++kinds_[k];
  for (const std::string& f : o.features) ++features_[f];
}

std::uint64_t Coverage::median_hops() const {
  if (hops_.empty()) return 0;
  std::vector<std::uint64_t> sorted = hops_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

std::vector<std::string> Coverage::missed(const Bars& bars) const {
  std::vector<std::string> out;
  if (median_hops() < bars.median_hops)
    out.push_back(fmt::format("the median seed has {} hops; expected {}", median_hops(), bars.median_hops));
  const auto percent = [&](const char* event, int least) {
    if (count_in(events_, event) * 100 < seeds() * static_cast<std::uint64_t>(least))
      out.push_back(
          fmt::format("{} in {} of {} seeds; expected {} %", event, count_in(events_, event), seeds(), least));
  };
  percent("XOFF", bars.xoff_percent);
  percent("drops", bars.drops_percent);
  percent("roce packets", bars.transport_percent);
  percent("uet packets", bars.transport_percent);
  for (const spec::FaultKind& kind : spec::fault_kinds())
    if (count_in(kinds_, kind.name) * 1000 < seeds() * static_cast<std::uint64_t>(bars.kind_permille))
      out.push_back(fmt::format("{} in {} of {} seeds; expected {} of 1000", kind.name, count_in(kinds_, kind.name), seeds(),
                                bars.kind_permille));
  return out;
}

std::string Coverage::text() const {
  std::map<std::string, std::uint64_t> kinds = kinds_;
  for (const spec::FaultKind& kind : spec::fault_kinds()) kinds.try_emplace(kind.name, 0);
  return fmt::format(
             "{} seeds, {:.1f} million packet-hops, {} in the median seed; {:.2f} million packets of RoCE, {:.2f} of "
             "UET\n",
             seeds(), static_cast<double>(all_hops_) / 1e6, median_hops(), static_cast<double>(roce_packets_) / 1e6,
             static_cast<double>(uet_packets_) / 1e6) +
         columns("seeds with", events_) + columns("seeds with faults that took effect", kinds) +
         columns("seeds with fabrics that have", features_);
}

std::string Coverage::json() const {
  nlohmann::ordered_json j{{"seeds", seeds()},
                           {"hops", all_hops_},
                           {"median_hops", median_hops()},
                           {"roce_packets", roce_packets_},
                           {"uet_packets", uet_packets_}};
  j["events"] = events_;
  j["faults"] = kinds_;
  j["features"] = features_;
  return json_text(j);
}

}  // namespace railyard::swarm
