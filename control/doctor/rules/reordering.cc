// Packets that come in another order, or twice.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// Nothing was lost on the way: neither dropped nor missing at the far end of a link.
bool nothing_lost(const Case& c) {
  for (const PortCase& p : c.ports()) {
    std::uint64_t dropped = 0;
    for (const auto& [reason, n] : p.drops) dropped += n;
    for (const ClassCase& k : p.classes)
      for (const auto& [reason, n] : k.drops) dropped += n;
    if (dropped > 0 || p.link_downs > 0) return false;
  }
  return std::ranges::all_of(c.flows(), [](const Json& f) { return count(f, "lost") == 0; });
}

std::uint64_t gaps(const Json& f) {
  const Json& roce = below(f, "roce");
  return roce.empty() ? (text(f, "transport") == "generator" ? count(f, "reordered") : 0)
                      : count(roce, "out_of_sequence");
}

struct Ends {
  std::size_t hit = 0, all = 0;
};

// The host whose flows, and hardly any others, are hit; the switches, if many are.
std::string common_element(const Case& c, const std::map<std::string, Ends>& hosts, std::size_t hit) {
  std::string best;
  for (const auto& [host, e] : hosts)
    if (e.hit == hit && (best.empty() || e.all < hosts.at(best).all)) best = host;
  if (best.empty()) return "fabric";
  const PortCase* at = c.before(best);
  return at == nullptr ? best : at->link();
}

// Where in-band telemetry saw packets of a flow part, of those that it kept: the switch, "" if it did not.
std::string parting(const Case& c, const std::string& flow, std::vector<std::string>& evidence) {
  std::map<std::string, std::map<std::uint64_t, std::size_t>> left;  // packets by switch and port
  for (const Json& packet : items(c.in_band(), "slowest")) {
    if (text(packet, "flow") != flow) continue;
    for (const Json& hop : items(packet, "hops"))
      if (count(hop, "in") > 0 && count(hop, "out") > 0) ++left[text(hop, "node")][count(hop, "out")];
  }
  for (const auto& [node, ports] : left) {
    if (ports.size() < 2) continue;
    std::string by;
    for (const auto& [port, packets] : ports)
      by += fmt::format("{}{}:{} ({} packet{})", by.empty() ? "" : ", ", node, port, packets, packets == 1 ? "" : "s");
    evidence.push_back(fmt::format("in-band telemetry: the slowest packets of {} left {} by {}", flow, node, by));
    return node;
  }
  return {};
}

std::vector<Diagnosis> find_reordering(const Case& c) {
  constexpr std::uint64_t kLeast = 3;
  if (!nothing_lost(c)) return {};
  std::map<std::string, Ends> hosts;
  Diagnosis d{.confidence = 0.85};
  std::size_t hit = 0;
  std::set<std::string> part_at;
  for (const Json& f : c.flows()) {
    const bool is_hit = gaps(f) >= kLeast;
    for (const std::string& host : {text(f, "src"), text(f, "dst")}) {
      ++hosts[host].all;
      hosts[host].hit += is_hit ? 1 : 0;
    }
    if (!is_hit) continue;
    ++hit;
    if (d.evidence.size() < 4)
      d.evidence.push_back(fmt::format("{}: {} gaps, {} retransmitted, {} duplicates; nothing was lost anywhere",
                                       text(f, "name"), gaps(f), count(below(f, "roce"), "retransmitted_packets"),
                                       count(below(f, "roce"), "duplicate_request")));
    if (c.has(Input::kInt))
      if (std::string at = parting(c, text(f, "name"), d.evidence); !at.empty()) part_at.insert(std::move(at));
  }
  if (hit == 0) return {};
  // Whose packets take different paths, there they overtake each other.
  d.element = part_at.size() == 1 ? *part_at.begin() : common_element(c, hosts, hit);
  return {d};
}

std::vector<Diagnosis> find_duplicated_frames(const Case& c) {
  constexpr std::uint64_t kLeast = 5;
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr || p.other->rx() < p.tx() + kLeast) continue;
    out.push_back({p.direction(),
                   0.9,
                   {fmt::format("{} sent {} packets, {} received {}", p.name(), p.tx(), p.peer, p.other->rx())}});
  }
  return out;
}

}  // namespace

const Rule rules::kReordering{"reordering",
                              "Packets overtake each other; go-back-N takes that for loss and retransmits.",
                              "ECMP or flowlets for this class instead of spraying, or NICs with selective repeat "
                              "(`hosts.NAME.roce.loss-recovery`).",
                              "Packets were dropped: then the gaps are real.", find_reordering,
                              {Input::kFlows, Input::kLinks, Input::kPorts}};
const Rule rules::kDuplicatedFrames{"duplicated-frames", "A link delivers frames twice.",
                                    "Devices in between: a loop, a mirror session, a broken bond.",
                                    "Counters of both ends were not read at the same time.", find_duplicated_frames,
                                    {Input::kLinks}};

}  // namespace railyard::doctor
