// Packets that one end of a link has sent and the other has not received, though the link is up.
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
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

// Where transports have noticed that packets are missing.
class Noticed {
 public:
  explicit Noticed(const Case& c) {
    for (const auto& f : c.flows()) {
      if (count(f, "lost") + count(below(f, "roce"), "retransmitted_packets") + count(below(f, "roce"), "out_of_sequence") +
              count(below(f, "uet"), "retransmitted_packets") ==
          0)
        continue;
      hosts_.insert(source_of(f));
      hosts_.insert(sink_of(f));
    }
    for (const auto& collective : c.collectives()) {
      if (count(collective, "retransmitted_packets") == 0) continue;
      for (const auto& rank : items(collective, "ranks")) {
        const std::string name = rank.template get<std::string>();
        hosts_.insert(name.substr(0, name.find_first_of(":/")));
      }
    }
  }

  // By flows of a host, or by any if the link has none.
  bool at(const PortCase& p) const {
    const PortCase* host = !p.is_switch ? &p : !p.other->is_switch ? p.other : nullptr;
    return host == nullptr ? !hosts_.empty() : hosts_.contains(host->node);
  }

 private:
  std::unordered_set<std::string> hosts_;
};

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

// What is on its way over most links when the counters are read, and so may be over any.
class UsualMissing {
 public:
  explicit UsualMissing(const Case& c) {
    for (const PortCase& p : c.ports())
      if (counts(p)) sorted_.push_back(missing_beyond_cable(c, p));
    std::ranges::sort(sorted_);
  }

  // The median of all links but this one, of which so many are missing.
  std::uint64_t than(const PortCase& p, std::uint64_t missing) const {
    if (!counts(p)) return sorted_.empty() ? 0 : sorted_[sorted_.size() / 2];
    if (sorted_.size() < 2) return 0;
    const std::size_t middle = (sorted_.size() - 1) / 2;
    const auto own = static_cast<std::size_t>(std::ranges::lower_bound(sorted_, missing) - sorted_.begin());
    return sorted_[middle < own ? middle : middle + 1];
  }

 private:
  static bool counts(const PortCase& p) { return p.other != nullptr && p.tx() > 0; }

  std::vector<std::uint64_t> sorted_;
};

std::vector<Diagnosis> find_one_way_loss(const Case& c) {
  // Some are on their way when the counters are read. If a transport has missed packets, fewer will do.
  constexpr std::uint64_t kTimesUsual = 6;
  constexpr std::uint64_t kLeast = 64, kLeastNoticed = 5;
  constexpr std::uint64_t kOneIn = 2000;
  double longest_ns = 0;
  for (const auto& f : c.flows()) longest_ns = std::max(longest_ns, number(below(f, "latency_ns"), "max"));
  const Noticed noticed(c);
  const UsualMissing usual(c);
  std::vector<std::pair<double, Diagnosis>> found;  // with the share that is missing
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr || was_down(p)) continue;
    // What arrived damaged or too long was received.
    const std::uint64_t seen =
        p.other->dropped("fcs_error") + p.other->dropped("giant") + p.other->dropped("too_short");
    const std::uint64_t missing = missing_beyond_cable(c, p);
    const std::uint64_t least = noticed.at(p) ? std::max(kLeastNoticed, kTimesUsual * usual.than(p, missing))
                                              : kLeast + on_its_way(c, p, longest_ns);
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
