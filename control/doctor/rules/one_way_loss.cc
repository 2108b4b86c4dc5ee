// Packets that one end of a link has sent and the other has not received, though the link is up.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

bool was_down(const PortCase& p) {
  for (const char* reason : {"link_down", "crash", "host_gone"})
    if (p.dropped(reason) > 0 || (p.other != nullptr && p.other->dropped(reason) > 0)) return true;
  return false;
}

// Whether a transport has noticed: of flows of a host, or of any if the link has none.
bool is_noticed(const Case& c, const PortCase& p) {
  const PortCase* host = !p.is_switch ? &p : !p.other->is_switch ? p.other : nullptr;
  for (const auto& f : c.flows()) {
    if (host != nullptr && source_of(f) != host->node && sink_of(f) != host->node) continue;
    if (count(f, "lost") + count(below(f, "roce"), "retransmitted_packets") + count(below(f, "roce"), "out_of_sequence") +
            count(below(f, "uet"), "retransmitted_packets") >
        0)
      return true;
  }
  for (const auto& collective : c.collectives()) {
    if (count(collective, "retransmitted_packets") == 0) continue;
    const auto is_here = [&](const auto& rank) {
      const std::string name = rank.template get<std::string>();
      return host == nullptr || name.substr(0, name.find_first_of(":/")) == host->node;
    };
    if (std::ranges::any_of(items(collective, "ranks"), is_here)) return true;
  }
  return false;
}

// What may be on its way over a link at the end: what it carries in the time that the slowest packet of all took.
std::uint64_t on_its_way(const Case& c, const PortCase& p, double longest_ns) {
  return c.load_ns() > 0 ? static_cast<std::uint64_t>(static_cast<double>(p.tx()) * std::min(1.0, longest_ns / c.load_ns())) : 0;
}

// Beyond what a long cable holds.
std::uint64_t missing_beyond_cable(const Case& c, const PortCase& p) {
  constexpr double kRoom = 1.5;  // it may have sent more at the end than in the mean
  const std::uint64_t missing = Case::missing(p);
  const std::uint64_t there = c.load_ns() > 0 ? static_cast<std::uint64_t>(static_cast<double>(p.tx()) * kRoom * p.propagation_ns / c.load_ns()) : 0;
  return missing - std::min(missing, there);
}

// What is on its way over most other links when the counters are read, and so may be over this one.
std::uint64_t usual_missing(const Case& c, const PortCase& than) {
  std::vector<std::uint64_t> all;
  for (const PortCase& p : c.ports())
    if (p.other != nullptr && &p != &than && p.tx() > 0) all.push_back(missing_beyond_cable(c, p));
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

std::vector<Diagnosis> find_one_way_loss(const Case& c) {
  // Some are on their way when the counters are read. If a transport has missed packets, fewer will do.
  constexpr std::uint64_t kTimesUsual = 6;
  constexpr std::uint64_t kLeast = 64, kLeastNoticed = 5;
  constexpr std::uint64_t kOneIn = 2000;
  double longest_ns = 0;
  for (const auto& f : c.flows()) longest_ns = std::max(longest_ns, number(below(f, "latency_ns"), "max"));
  std::vector<std::pair<double, Diagnosis>> found;  // with the share that is missing
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr || was_down(p)) continue;
    // What arrived damaged or too long was received.
    const std::uint64_t seen =
        p.other->dropped("fcs_error") + p.other->dropped("giant") + p.other->dropped("too_short");
    const std::uint64_t missing = missing_beyond_cable(c, p);
    const std::uint64_t least = is_noticed(c, p) ? std::max(kLeastNoticed, kTimesUsual * usual_missing(c, p)) : kLeast + on_its_way(c, p, longest_ns);
    if (missing < least + seen || (missing - seen) * kOneIn < p.tx()) continue;
    const std::uint64_t n = missing - seen;
    found.push_back({static_cast<double>(n) / static_cast<double>(p.tx()),
                     {p.direction(),
                      p.other->rx() == 0 ? 0.95 : 0.9,
                      {fmt::format("{} sent {} packets, {} received {}: {} are missing, and neither end counted an error",
                                   p.name(), p.tx(), p.peer, p.other->rx(), n)}}});
  }
  std::ranges::stable_sort(found, std::greater{}, &std::pair<double, Diagnosis>::first);
  std::vector<Diagnosis> out;
  for (auto& [share, diagnosis] : found) out.push_back(std::move(diagnosis));
  return out;
}

}  // namespace

const Rule rules::kOneWayLoss{"one-way-loss", "A link loses packets in one direction and keeps its signal.",
                              "Replace the optic of the sending side; BFD finds such links when they lose everything.",
                              "Packets on their way when the counters were read: the difference then does not grow.",
                              find_one_way_loss, {Input::kLinks}};

}  // namespace railyard::doctor
