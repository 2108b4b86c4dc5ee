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

std::string ways_text(const Json& paths, std::size_t hop) {
  std::string out;
  for (const Json& p : paths) {
    const Json& ports = items(p, "ports");
    out += fmt::format("{}{} ({} packets, {:.1f} us)", out.empty() ? "" : ", ",
                       hop < ports.size() ? ports[hop].get<std::string>() : std::string("none"), count(p, "packets"),
                       number(below(p, "latency_ns"), "p50") / 1e3);
  }
  return out;
}

// Where in-band telemetry saw packets of such a flow part: the switch, "" if it did not.
std::string parting(const Case& c, const std::string& flow, std::vector<std::string>& evidence) {
  for (const Json& s : items(c.in_band(), "spread")) {
    if (text(s, "flow") != flow) continue;
    const Json& paths = items(s, "paths");
    for (std::size_t hop = 0; hop < items(paths[0], "ports").size(); ++hop) {
      const auto first = paths[0]["ports"][hop].get<std::string>();
      const bool same = std::ranges::all_of(paths, [&](const Json& p) {
        return hop < items(p, "ports").size() && p["ports"][hop].get<std::string>() == first;
      });
      if (same) continue;
      if (evidence.size() < 6)
        evidence.push_back(fmt::format("in-band telemetry: sampled packets of {} left {} by {}", flow, node_of(first),
                                       ways_text(paths, hop)));
      return node_of(first);
    }
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
