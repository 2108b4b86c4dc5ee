#include "control/swarm/promises.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/report/audit.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::swarm {
namespace {

constexpr int kMostOfARule = 5;

// Where every switch hashes a flow to its path, and the path stays; of the class that frames leave in, too.
std::vector<bool> classes_in_order(const spec::Lab& lab) {
  std::vector<bool> out(kPriorities, true);
  std::vector<std::pair<std::size_t, std::size_t>> remapped;
  for (const spec::NodeSpec& n : lab.nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    const spec::QosProfile& qos = lab.qos.at(lab.switches.at(n.profile).qos);
    for (std::size_t c = 0; c < kPriorities; ++c) {
      const spec::TrafficClass& k = qos.classes[c];
      if (unit_of(k.path) != PathUnit::kFlow || k.trim) out[c] = false;
      if (k.remap_to >= 0) remapped.emplace_back(c, static_cast<std::size_t>(k.remap_to));
    }
  }
  for (const auto& [from, to] : remapped)
    if (!out[to]) out[from] = false;
  return out;
}

bool remaps(const spec::Lab& lab) {
  return std::ranges::any_of(lab.qos, [](const auto& q) {
    return std::ranges::any_of(q.second.classes, [](const spec::TrafficClass& c) { return c.remap_to >= 0; });
  });
}

}  // namespace

Promises::Promises(build::BuiltLab& lab, const Reach& reach, Outcome& outcome)
    : lab_(lab),
      reach_(reach),
      excuses_(lab, reach),
      outcome_(outcome),
      keeps_order_(classes_in_order(lab.spec())),
      remaps_(remaps(lab.spec())) {
  for (const auto& d : lab.fabric().devices())
    shared_sizes_.push_back(lab.is_switch(d->id()) ? lab.switch_named(d->name()).mmu().shared_size() : 0);
}

void Promises::broken(const std::string& rule, const std::string& what) {
  if (++noted_[rule] > kMostOfARule) return;
  const Instant at = lab_.fabric().devices().front()->done();
  outcome_.violations.push_back({rule, fmt::format("at {}: {}", spec::format(at - Instant{}), what)});
}

std::string Promises::name(PortRef port) const {
  return spec::format(spec::PortName{lab_.node_of(port.device).name, port.port.value + 1});
}

std::vector<DeviceCounters> Promises::counters() const {
  std::vector<DeviceCounters> out;
  for (const auto& d : lab_.fabric().devices()) out.push_back(d->counters());
  return out;
}

std::uint64_t Promises::lost() const {
  std::uint64_t n = 0;
  for (const DeviceCounters& d : counters()) {
    n += d.dropped();
    for (const PortCounters& p : d.ports) n += p.lost;
  }
  return n;
}

bool Promises::nothing_queued() const {
  return std::ranges::all_of(lab_.fabric().devices(), [](const auto& d) { return d->counters().queued == 0; });
}

template <class F>
void Promises::for_each_port(const std::vector<DeviceCounters>& now, F&& see) const {
  for (std::uint32_t d = 0; d < now.size(); ++d)
    for (std::uint16_t p = 0; p < now[d].ports.size(); ++p) see(PortRef{DeviceId{d}, PortIndex{p}}, now[d].ports[p]);
}

void Promises::look() {
  const std::vector<DeviceCounters> now = counters();
  for (const std::string& wrong : report::audit(lab_, now).unbalanced) broken("books", wrong);
  look_at_memory();
  look_at_losses(now);
  look_at_classes(now);
  look_at_flows(now);
}

void Promises::look_at_memory() {
  for (const auto& d : lab_.fabric().devices())
    if (lab_.is_switch(d->id()))
      for (const std::string& wrong : lab_.switch_named(d->name()).audit())
        broken("memory", fmt::format("{}: {}", d->name(), wrong));
}

// By the place and the reason of each drop; in calm, of what has come since.
void Promises::look_at_losses(const std::vector<DeviceCounters>& now) {
  for_each_port(now, [&](PortRef port, const PortCounters& c) {
    const PortCounters* before = calm_.empty() ? nullptr : &calm_[port.device.index()].ports[port.port.index()];
    const auto since = [&](std::uint64_t count, std::uint64_t earlier) {
      return before == nullptr ? count : count - earlier;
    };
    const auto unexplained = [&](std::uint64_t count, const char* what) {
      broken("loss", fmt::format("{}: {} {}, which no fault explains", name(port), count, what));
    };
    const std::uint64_t to_faults = since(c.lost_to_faults, before != nullptr ? before->lost_to_faults : 0);
    if (to_faults > 0 && (before != nullptr || !excuses_.lost_to_fault(port)))
      unexplained(to_faults, "frames that never arrived");
    const std::uint64_t with_link =
        since(c.lost - c.lost_to_faults, before != nullptr ? before->lost - before->lost_to_faults : 0);
    if (with_link > 0 && (before != nullptr || !excuses_.lost_with_link(port)))
      unexplained(with_link, "frames lost with the link");
    const std::uint64_t doubled = since(c.duplicated, before != nullptr ? before->duplicated : 0);
    if (doubled > 0 && (before != nullptr || !excuses_.duplicated(port)))
      broken("duplicates", fmt::format("{}: {} frames were duplicated without a fault", name(port), doubled));
    for (std::size_t r = 0; r < kDropReasons; ++r) {
      const auto reason = static_cast<DropReason>(r);
      const std::string text(railyard::name(reason));
      const std::uint64_t n = since(c.drops[r], before != nullptr ? before->drops[r] : 0);
      if (n > 0 && !excuses_.drop_at(reason, port)) unexplained(n, fmt::format("x {}", text).c_str());
      for (std::uint8_t k = 0; k < kPriorities; ++k) {
        const Priority priority{k};
        const std::uint64_t m = since(c.classes[k].drops[r], before != nullptr ? before->classes[k].drops[r] : 0);
        if (m == 0) continue;
        if (before != nullptr ? excuses_.late_drop(reason, port, priority) : excuses_.drop(reason, port, priority))
          continue;
        unexplained(
            m, fmt::format("x {} in {} class {}{}", text, excuses_.is_lossless(port, priority) ? "lossless" : "lossy",
                           k, before != nullptr ? ", after the last fault" : "")
                   .c_str());
      }
    }
  });
}

// But for classes 0 and 6: what a switch sends itself is in these, ARP and ICMP errors (CS6, RFC 1812 section 4.3.2.5), and
// it leaves in the class that it begins in.
void Promises::look_at_classes(const std::vector<DeviceCounters>& now) {
  for_each_port(now, [&](PortRef port, const PortCounters& c) {
    if (!lab_.is_switch(port.device)) return;
    const spec::NodeSpec& node = lab_.node_of(port.device);
    std::array<bool, kPriorities> leaves{};
    for (std::size_t k = 0; k < kPriorities; ++k) {
      const int number = port.port.value + 1;
      leaves[static_cast<std::size_t>(spec::remap_at(lab_.spec(), node, number, lab_.rate(port), k))] = true;
      if (const auto trim = spec::class_at(lab_.spec(), node, number, lab_.rate(port), k).trim)
        leaves[static_cast<std::size_t>(trim->to_class)] = true;
    }
    for (std::size_t k = 1; k < kPriorities; ++k)
      if (k != 6 && !leaves[k] && c.classes[k].tx_packets > 0)
        broken("classes", fmt::format("{}: {} frames left in class {}, which this port changes", name(port),
                                      c.classes[k].tx_packets, k));
  });
}

void Promises::look_at_flows(const std::vector<DeviceCounters>& now) {
  std::uint64_t doubled = 0;
  for_each_port(now, [&](PortRef, const PortCounters& c) { doubled += c.duplicated; });
  // Other ways may be faster.
  const bool reroutes = lab_.spec().routing.protocol != spec::RoutingProtocol::kStatic && !reach_.kinds().empty();
  const bool reorders = reroutes || reach_.anywhere({spec::FaultEffect::kReorders});
  std::uint64_t arrived_twice = 0;
  for (const build::Flow& f : lab_.flows()) {
    const TxFlowCounters sent = f.sent();
    const RxFlowCounters& got = f.received();
    arrived_twice += got.duplicated;
    if (got.packets - got.duplicated + got.trimmed > sent.packets + doubled)
      broken("books",
             fmt::format("{}: {} of {} packets have arrived", f.plan.name, got.packets + got.trimmed, sent.packets));
    if (got.corrupted > 0)
      broken("payload", fmt::format("{}: {} packets with a corrupted payload", f.plan.name, got.corrupted));
    // With a transport that is counted of its messages.
    if (got.reordered > 0 && f.is_generated() && keeps_order_[f.priority.index()] && !reorders)
      broken("order", fmt::format("{}: {} packets were reordered on one path", f.plan.name, got.reordered));
    // What answers a READ goes in the class in which its request came, with that class's ECN.
    const bool answers_elsewhere = remaps_ && f.is_uet() && !f.asks_at_source();
    if (got.marked > 0 && !f.ect && !answers_elsewhere)
      broken("marks", fmt::format("{}: {} packets with CE that were sent Not-ECT", f.plan.name, got.marked));
  }
  if (arrived_twice > doubled)
    broken("duplicates", fmt::format("{} packets arrived twice, but {} were duplicated", arrived_twice, doubled));
}

void Promises::calm_from_now() { calm_ = counters(); }

void Promises::look_at_the_end(std::size_t packets_in_use) {
  const std::vector<DeviceCounters> now = counters();
  const report::Audit audit = report::audit(lab_, now);
  if (!audit.drained)
    for (const DeviceCounters& d : now) {
      if (d.queued > 0)
        broken("drain", fmt::format("{} still holds {} frames, but no event is pending", d.name, d.queued));
    }
  if (audit.on_the_wire > 0) broken("drain", fmt::format("{} frames are still on the wire", audit.on_the_wire));
  if (audit.drained && packets_in_use != 0)
    broken("packets",
           fmt::format("{} packets are in use, but no device holds any", static_cast<std::int64_t>(packets_in_use)));
  for (const auto& d : lab_.fabric().devices()) {
    if (!lab_.is_switch(d->id())) continue;
    const std::uint32_t before = shared_sizes_[d->id().index()];
    if (const std::uint32_t size = lab_.switch_named(d->name()).mmu().shared_size(); size != before)
      broken("trace", fmt::format("{}: {} cells of shared memory, {} before the faults", d->name(), size, before));
  }
}

}  // namespace railyard::swarm
