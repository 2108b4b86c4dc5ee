// ECN marks that come after drops, or not at all.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "control/build/link_credits.h"
#include "control/lint/rules/rules.h"
#include "control/report/units.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"
#include "transports/roce/congestion/dcqcn.h"

namespace railyard::lint {
namespace {

std::string size(double octets) { return report::size_text(static_cast<std::uint64_t>(std::max(0.0, octets))); }

// The ports by which a queue is filled.
using Feeds = std::map<std::tuple<std::size_t, int, int, int>, std::set<int>>;  // node, port, classes in and out

template <class Counts>
Feeds feeds_of(const Facts& facts, const Counts& counts) {
  // All ports of a queue matter only where they have credits.
  const auto grants = [](const auto& qos) {
    return std::ranges::any_of(qos.second.classes, [](const spec::TrafficClass& c) { return c.cbfc.has_value(); });
  };
  Feeds feeds;
  for (const Stream& s : std::ranges::any_of(facts.lab().qos, grants) ? facts.streams() : facts.kinds_of_streams())
    if (counts(s))
      for (const Hop& h : facts.hops(s)) feeds[{h.node, h.out_port, h.in_class, h.out_class}].insert(h.in_port);
  return feeds;
}
Feeds ect_feeds_of(const Facts& facts) {
  return feeds_of(facts, [](const Stream& s) { return s.like.ect; });
}

BitRate rate_at(const Facts& facts, std::size_t node, int port) {
  return facts.link_at({facts.lab().nodes[node].name, port}).rate;
}

// Where a lossy queue ends. With dynamic thresholds and all of the shared memory for it.
double limit_octets(const Facts& facts, const spec::NodeSpec& device, const spec::TrafficClass& c) {
  const Mmu& mmu = facts.built().switch_named(device.name).mmu();
  const double shared = static_cast<double>(mmu.shared_size()) * static_cast<double>(mmu.cell().n);
  const double alpha = std::ldexp(1.0, c.queue_alpha_exponent);
  return (c.queue_limit ? static_cast<double>(c.queue_limit->n) : alpha * shared / (1 + alpha)) +
         static_cast<double>(c.queue_reserved.n);
}

// What the senders to some ports have credits for: no more can wait in queues that they alone fill.
double credit_octets(const Facts& facts, const spec::NodeSpec& device, int priority, const std::set<int>& ports) {
  double octets = 0;
  for (const int port : ports) {
    const spec::PortName end{device.name, port};
    if (const auto credits = build::credits_at(facts.lab(), facts.link_at(end), end))
      octets += static_cast<double>(credits->classes[static_cast<std::size_t>(priority)].cells) * credits->cell;
  }
  return octets;
}

void find_kmin_above_limit(const Facts& facts, Findings& findings) {
  for (const auto& [queue, ports] : ect_feeds_of(facts)) {
    const auto [node, out, in_class, out_class] = queue;
    const spec::NodeSpec& device = facts.lab().nodes[node];
    const spec::TrafficClass& c = facts.qos(device).classes[static_cast<std::size_t>(out_class)];
    if (!c.ecn.enabled) continue;
    const BitRate rate = rate_at(facts, node, out);
    const auto kmin = static_cast<double>((c.ecn.auto_thresholds ? spec::automatic_kmin(rate) : c.ecn.kmin).n);
    const std::string path = Facts::class_path(facts.qos_name(device), out_class) + ".ecn.kmin";
    const spec::TrafficClass& in = facts.qos(device).classes[static_cast<std::size_t>(in_class)];
    if (in.lossless && in.cbfc) {
      std::int64_t offered = 0;
      for (const int port : ports) offered += rate_at(facts, node, port).bps;
      const double room = credit_octets(facts, device, in_class, ports);
      if (offered <= rate.bps || kmin < room) continue;
      findings.add(path,
                   fmt::format("The queue of {}:{} never reaches kmin: kmin is {}, and the {} ingress port{} that "
                               "feed{} it grant{} credits for {}.",
                               device.name, out, size(kmin), ports.size(), ports.size() == 1 ? "" : "s",
                               ports.size() == 1 ? "s" : "", ports.size() == 1 ? "s" : "", size(room)),
                   fmt::format("Set kmin below {}, or raise cbfc.credits.", size(room / 2)));
      continue;
    }
    if (c.lossless) continue;
    const double limit = limit_octets(facts, device, c);
    if (kmin < limit) continue;
    findings.add(
        path,
        fmt::format("Frames are {} before they are marked: kmin is {}, but the queue of {}:{} is limited to {}.",
                    c.trim ? "trimmed" : "dropped", size(kmin), device.name, out, size(limit)),
        fmt::format("Set kmin below {}, or raise {}.", size(limit / 2), c.queue_limit ? "queue-limit" : "queue-alpha"));
  }
}

void find_drop_above_limit(const Facts& facts, Findings& findings) {
  for (const auto& [queue, ports] : feeds_of(facts, [](const Stream&) { return true; })) {
    const auto [node, out, in_class, out_class] = queue;
    const spec::NodeSpec& device = facts.lab().nodes[node];
    const spec::TrafficClass& c = facts.qos(device).classes[static_cast<std::size_t>(out_class)];
    if (c.lossless) continue;
    const double limit = limit_octets(facts, device, c);
    const auto look = [&](const std::optional<spec::WredRamp>& ramp, const char* key) {
      if (!ramp || static_cast<double>(ramp->min.n) < limit) return;
      findings.add(fmt::format("{}.drop{}.min", Facts::class_path(facts.qos_name(device), out_class), key),
                   fmt::format("Early drops never begin: drop{}.min is {}, and the queue of {}:{} ends at {}.", key,
                               size(static_cast<double>(ramp->min.n)), device.name, out, size(limit)),
                   fmt::format("Set drop{}.min below {}, or raise {}.", key, size(limit / 2),
                               c.queue_limit ? "queue-limit" : "queue-alpha"));
    };
    look(c.drop.all, "");
    look(c.drop.ect, ".ect");
    look(c.drop.not_ect, ".not-ect");
  }
}

void find_control_without_marks(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    const std::string& profile = facts.lab().find(s.from.node)->profile;
    if (!s.like.is_roce() || s.like.is_rping()) continue;
    if (!facts.lab().hosts.at(profile).roce.is_controlled_by<roce::Dcqcn>()) continue;
    if (!s.like.ect) {
      findings.add(s.path + ".ecn",
                   fmt::format("DCQCN needs CE marks, but the packets of {} are not ECN-capable.", s.name),
                   fmt::format("Set ecn: true, or hosts.{}.roce.congestion: none.", profile));
      continue;
    }
    const std::vector<Hop> hops = facts.hops(s);
    const auto marks = [&](const Hop& h) {
      return facts.qos(facts.lab().nodes[h.node]).classes[static_cast<std::size_t>(h.out_class)].ecn.enabled;
    };
    if (hops.empty() || std::ranges::any_of(hops, marks)) continue;
    const Hop& first = hops.front();
    findings.add(
        Facts::class_path(facts.qos_name(facts.lab().nodes[first.node]), first.out_class) + ".ecn",
        fmt::format("DCQCN needs CE marks, but no switch on the path of {} marks class {}.", s.name, first.out_class),
        fmt::format("Set ecn: auto, or hosts.{}.roce.congestion: none.", profile));
  }
}

}  // namespace

const Rule kKminAboveLimit{"kmin-above-limit", Severity::kWarning,
                           "A queue ends before it is deep enough to mark: it drops or trims, or its senders have no more "
                           "credits.",
                           find_kmin_above_limit};
const Rule kDropAboveLimit{"drop-above-limit", Severity::kWarning,
                           "A lossy queue ends before it is deep enough for early drops (WRED).", find_drop_above_limit};
const Rule kControlWithoutMarks{"congestion-control-without-marks", Severity::kWarning,
                                "DCQCN runs over packets or classes that are never marked.",
                                find_control_without_marks};

}  // namespace railyard::lint
