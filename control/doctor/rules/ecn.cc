// Marking at switches: absent, too late, too early.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

struct Congested {
  const PortCase* port = nullptr;  // with the deepest queue of a switch that sends XOFF
  std::size_t priority = 0;
  std::uint64_t xoff = 0;
  std::optional<std::int64_t> first_xoff{}, first_ce{};  // of the switch, ns
  bool is_paused = false;                                // somebody else holds it
};

std::optional<std::int64_t> earlier(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return !a ? b : !b ? a : std::min(*a, *b);
}

// By switch and class: those that sent XOFF.
std::vector<Congested> congested(const Case& c) {
  std::vector<Congested> out;
  for (std::size_t k = 0; k < 8; ++k) {
    std::map<std::string, Congested> by_node;
    for (const PortCase& p : c.ports()) {
      if (!p.is_switch) continue;
      Congested& q = by_node[p.node];
      q.priority = k;
      q.xoff += p.classes[k].xoff_sent;
      q.first_xoff = earlier(q.first_xoff, p.classes[k].first_xoff);
      q.first_ce = earlier(q.first_ce, p.classes[k].first_ce);
      if (q.port == nullptr || p.classes[k].deepest > q.port->classes[k].deepest) q.port = &p;
    }
    for (auto& [node, q] : by_node) {
      q.is_paused = q.port->classes[k].xoff_received > 0;
      if (q.xoff > 0) out.push_back(q);
    }
  }
  return out;
}

bool anyone_can_be_marked(const Case& c) {
  return std::ranges::any_of(c.flows(), [](const auto& f) { return text(f, "transport") != "generator"; }) ||
         !c.collectives().empty();
}

std::string depth_text(const Congested& q) {
  return fmt::format("the queue of {} towards {} (class {}) was {} bytes deep", q.port->name(), q.port->peer, q.priority,
                     q.port->classes[q.priority].deepest);
}

// Where packets change their class (`remap-to`), pauses are for what waits in queues of another class.
bool is_deep(const Congested& q) {
  constexpr double kLeast = 32e3, kLeastSeconds = 2e-6;
  const auto octets = static_cast<double>(q.port->classes[q.priority].deepest);
  return octets >= kLeast && octets * 8 >= kLeastSeconds * q.port->rate_bps;
}

std::vector<Diagnosis> find_ecn_absent(const Case& c) {
  std::vector<Diagnosis> out;
  if (!anyone_can_be_marked(c)) return out;
  for (const Congested& q : congested(c)) {
    if (q.port->classes[q.priority].marked > 0 || q.is_paused || !is_deep(q)) continue;
    out.push_back({q.port->name(),
                   0.8,
                   {depth_text(q) + " and marked nothing",
                    fmt::format("{} sent {} XOFF of this class: PFC acts alone", q.port->node, q.xoff)}});
  }
  return out;
}

std::vector<Diagnosis> find_ecn_late(const Case& c) {
  constexpr std::uint64_t kOften = 10;
  std::vector<Diagnosis> out;
  for (const Congested& q : congested(c)) {
    const std::uint64_t marked = q.port->classes[q.priority].marked;
    if (marked == 0 || q.is_paused || q.xoff < kOften || !q.first_xoff || !q.first_ce || *q.first_ce <= *q.first_xoff)
      continue;
    out.push_back({q.port->name(),
                   0.75,
                   {fmt::format("{} sent its first XOFF of class {} at {:.1f} us and marked first at {:.1f} us",
                                q.port->node, q.priority, static_cast<double>(*q.first_xoff) / 1e3,
                                static_cast<double>(*q.first_ce) / 1e3),
                    fmt::format("{} and marked {} packets; {} XOFF in all", depth_text(q), marked, q.xoff)}});
  }
  return out;
}

// Flows whose marked packets did not wait: more of them have CE than took long.
std::vector<Diagnosis> find_ecn_without_wait(const Case& c) {
  constexpr double kShare = 0.12, kShort = 16e3;  // ns
  constexpr std::size_t kLeast = 3;
  std::size_t flows = 0;
  std::string example;
  for (const auto& f : c.flows()) {
    const double ce = number(f, "ce_share"), p90 = number(below(f, "latency_ns"), "p90");
    if (ce < kShare || p90 <= 0 || p90 > kShort) continue;
    if (++flows == 1)
      example = fmt::format("{}: {:.0f} % of its packets have CE, and 90 % of them took {:.1f} us or less", text(f, "name"),
                            ce * 100, p90 / 1e3);
  }
  if (flows < kLeast || c.ports().empty()) return {};
  const auto most = std::ranges::max_element(c.ports(), {}, [](const PortCase& p) { return p.is_switch ? p.marked() : 0; });
  if (most->marked() == 0) return {};
  return {{most->name(), 0.8, {example, fmt::format("{} flows are like that; {} marked most: {} packets", flows, most->name(),
                                                    most->marked())}}};
}

// Marks of queues that never took long to drain.
std::vector<Diagnosis> find_ecn_early(const Case& c) {
  constexpr std::uint64_t kLeast = 5;
  constexpr double kShallow = 12e-6;  // s; usual thresholds begin at 32 us (4 KB per Gb/s)
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports())
    for (std::size_t k = 0; k < p.classes.size() && p.is_switch && p.rate_bps > 0; ++k) {
      const ClassCase& q = p.classes[k];
      const double seconds = static_cast<double>(q.deepest) * 8 / p.rate_bps;
      if (q.marked < kLeast || seconds > kShallow) continue;
      out.push_back({p.name(),
                     0.85,
                     {fmt::format("{} marked {} of {} packets of class {}, though its queue was never longer than {:.1f} us "
                                  "({} bytes)",
                                  p.name(), q.marked, q.tx, k, seconds * 1e6, q.deepest),
                      fmt::format("the port was busy for {:.0f} % of the time", p.utilisation * 100)}});
    }
  return out.empty() ? find_ecn_without_wait(c) : out;
}

// More marks at receivers than switches have made.
std::vector<Diagnosis> find_unexplained_marks(const Case& c) {
  constexpr std::uint64_t kLeast = 20;
  constexpr double kMuchMore = 1.5;
  std::uint64_t made = 0, arrived = 0;
  for (const PortCase& p : c.ports()) made += p.marked();
  // By share: the flow that got most, and the next one.
  std::string most;
  double share = 0, next = 0;
  for (const auto& f : c.flows()) {
    arrived += count(f, "marked");
    const double ce = number(f, "ce_share");
    if (ce > share) next = share, share = ce, most = text(f, "src");
    else next = std::max(next, ce);
  }
  // A packet is marked once, by the first queue that is long.
  if (arrived < kLeast + made) return {};
  const PortCase* at = c.before(most);
  const bool one = share > kMuchMore * next && at != nullptr;
  return {{one ? at->link() : std::string("fabric"),
           0.95,
           {fmt::format("receivers got {} packets with CE, switches marked {}", arrived, made),
            fmt::format("{:.0f} % of the packets from {} have CE, at most {:.0f} % of others", share * 100, most, next * 100)}}};
}

}  // namespace

const Rule rules::kEcnAbsent{
    "ecn-absent", "A queue is deep enough for PFC, and packets are not marked: ECN is off, or Kmin is too high.",
    "Kmin below the depth at which XOFF is sent; `railyard check` names the values (kmin-above-xoff).",
    "The queue is held by a pause from further on, and not by its own load.", find_ecn_absent,
    {Input::kPorts, Input::kDepths, Input::kFlows}};
const Rule rules::kEcnLate{
    "ecn-late", "PFC acts before ECN: Kmin is too high for this buffer.",
    "Kmin below the depth at which XOFF is sent; `railyard check` names the values (kmin-above-xoff).",
    "Too many senders start at once: no threshold helps in the first round trip.", find_ecn_late,
    {Input::kPorts, Input::kDepths}};
const Rule rules::kEcnEarly{"ecn-early", "A switch marks packets of queues that are not long: Kmin is too low.",
                            "Kmin and Kmax of the port's rate (`ecn: auto`: 4 and 16 KB per Gb/s).",
                            "Senders keep queues short by themselves (Swift, HPCC), and throughput is right.",
                            find_ecn_early, {Input::kPorts, Input::kDepths}};
const Rule rules::kUnexplainedMarks{"marks-unexplained", "Packets arrive with CE that no switch of the fabric has set.",
                                    "Devices in between, and hosts that send with CE set.",
                                    "A switch marks and does not count it.", find_unexplained_marks,
                                    {Input::kPorts, Input::kFlows}};

}  // namespace railyard::doctor
