// ECN marks that come after PFC pauses: an ingress group reaches XOFF before the queue has marked enough packets.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/report/framing.h"
#include "control/report/units.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

// Marks that a queue must have made, in the mean, when the first group reaches XOFF. They are nearly independent draws:
// with three, the first mark comes before the first pause in 1 - exp(-3), 95 % of the cases.
constexpr double kEnoughMarks = 3;
// The same of the values in a fix: 99 %.
constexpr double kSureMarks = 5;

// What flows of an entry send from one NIC to another, together.
struct Offer {
  double bps = 0;     // infinite: as fast as they can
  double octets = 0;  // that are under way at most: messages outstanding, or all that the flows have to send
};
using Offers = std::map<std::tuple<std::string, spec::PortName, spec::PortName>, Offer>;

Offers offers_of(const Facts& facts) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  Offers offers;
  for (const build::Flow& f : facts.built().flows()) {
    const spec::TrafficSpec& t = facts.lab().traffic[f.plan.traffic];
    Offer& offer = offers[{fmt::format("traffic.{}", f.plan.traffic), f.plan.source, f.plan.destination}];
    offer.bps += f.rate.bps == 0 ? kNoLimit : static_cast<double>(f.rate.bps);
    const double outstanding =
        t.has_messages() ? static_cast<double>(t.roce.outstanding) * t.roce.message * t.roce.qps : kNoLimit;
    offer.octets += std::min(outstanding, f.total.n > 0 ? static_cast<double>(f.total.n) : kNoLimit);
  }
  return offers;
}

// The senders of an egress queue.
struct Queue {
  struct Sender {
    double bps = 0;       // at most its link's
    std::set<int> ports;  // by which it comes in
  };
  std::map<spec::PortName, Sender> senders;
  bool has_ect = false;
  double frame = 0;   // octets of the longest frame
  double octets = 0;  // of payload that can be under way to it

  // By ingress port. Packets of a sender that come in by several ports are spread evenly.
  std::map<int, double> offered(const Facts& facts, const std::string& node) const {
    std::map<int, double> all;
    for (const auto& [nic, s] : senders)
      for (const int port : s.ports) all[port] += s.bps / static_cast<double>(s.ports.size());
    for (auto& [port, bps] : all) bps = std::min(bps, static_cast<double>(facts.link_at({node, port}).rate.bps));
    return all;
  }
};
using Queues = std::map<std::tuple<std::size_t, int, int, int>, Queue>;  // node, port, classes in and out

Queues queues_of(const Facts& facts) {
  Queues queues;
  const Offers offers = offers_of(facts);
  for (const Stream& s : facts.streams()) {
    const auto link = static_cast<double>(facts.link_at(s.from).rate.bps);
    const auto known = offers.find({s.path, s.from, s.to});
    // Ranks of collectives send as fast as they can.
    const Offer offer = known == offers.end() ? Offer{link, std::numeric_limits<double>::infinity()} : known->second;
    const double frame = report::data_frame_octets(s.like, facts.host(s.from.node).uet);
    std::set<Queue*> met;
    for (const Hop& h : facts.hops(s)) {
      Queue& q = queues[{h.node, h.out_port, h.in_class, h.out_class}];
      Queue::Sender& sender = q.senders[s.from];
      sender.ports.insert(h.in_port);
      if (!met.insert(&q).second) continue;
      sender.bps = std::min(link, sender.bps + offer.bps);
      q.octets += offer.octets;
      q.has_ect |= s.like.ect;
      q.frame = std::max(q.frame, frame);
    }
  }
  return queues;
}

// The ingress group that is the first to reach XOFF, and how deep the queue is then.
struct FirstXoff {
  double depth = std::numeric_limits<double>::infinity();
  double part = 1;  // of the queue that the group holds
  int port = 0;
};

// How deep a queue is when the first of its ingress groups reaches XOFF, if they fill by what their ports offer. With a
// dynamic threshold a group that holds the part w of a queue of Q octets is there at w Q = alpha (S - Q), S the shared
// memory (Choudhury and Hahne, ToN 1998).
FirstXoff first_xoff(const Facts& facts, const spec::NodeSpec& device, int priority,
                     const std::map<int, double>& offered) {
  const Mmu& mmu = facts.built().switch_named(device.name).mmu();
  const double shared = static_cast<double>(mmu.shared_size()) * static_cast<double>(mmu.cell().n);
  double total = 0;
  double reserved = 0;
  std::map<int, spec::TrafficClass> classes;
  for (const auto& [port, bps] : offered) {
    total += bps;
    const BitRate rate = facts.link_at({device.name, port}).rate;
    classes[port] = spec::class_at(facts.lab(), device, port, rate, static_cast<std::size_t>(priority));
    reserved += static_cast<double>(classes[port].reserved.n);
  }
  FirstXoff first;
  for (const auto& [port, bps] : offered) {
    const spec::TrafficClass& c = classes[port];
    const double part = bps / total;
    const auto own = static_cast<double>(c.reserved.n);
    const double alpha = std::ldexp(1.0, c.alpha_exponent);
    const double depth =
        c.xoff ? (own + static_cast<double>(c.xoff->n)) / part : (own + alpha * (shared + reserved)) / (part + alpha);
    if (depth < first.depth) first = {depth, part, port};
  }
  return first;
}

// Marking as a queue grows from nothing.
struct Growth {
  double packets_per_octet = 0;  // that are marked or not while it grows by one
  double xoff = 0;               // its depth when a group reaches XOFF
  double pmax = 0;

  // The integral of the marking probability.
  double marks(double kmin, double kmax) const {
    const double on_ramp = std::min(xoff, kmax) - kmin;
    const double slope = kmax > kmin ? pmax / (kmax - kmin) : 0;
    const double ramp = on_ramp > 0 ? slope * on_ramp * on_ramp / 2 : 0;
    return packets_per_octet * (ramp + std::max(0.0, xoff - std::max(kmin, kmax)));
  }
  bool is_sure(double kmin, double kmax) const { return marks(kmin, kmax) >= kSureMarks; }
};

// Down to two digits.
Bytes rounded_down(double octets) {
  if (octets < 1) return {};
  const double step = std::pow(10, std::max(0.0, std::floor(std::log10(octets)) - 1));
  return {static_cast<std::int64_t>(std::floor(octets / step) * step)};
}
Bytes rounded_up(double octets) {
  const double step = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(octets, 1.0))) - 1));
  return {static_cast<std::int64_t>(std::ceil(octets / step) * step)};
}

// The greatest value up to `most` for which `holds`, which holds below it too; 0: for none.
template <class Holds>
double greatest(double most, Holds&& holds) {
  double low = 0;
  double high = most;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

struct Case {
  Growth growth;
  FirstXoff first;
  double kmin = 0;
  double kmax = 0;
  bool is_automatic = false;
  double marks = 0;
  double frame = 0;
  std::size_t ports = 0;
  std::string queue;  // "leaf1:3"

  // Worse.
  bool operator<(const Case& other) const {
    return std::pair(marks, growth.xoff - kmin) < std::pair(other.marks, other.growth.xoff - other.kmin);
  }

  bool is_even() const { return std::abs(first.part * static_cast<double>(ports) - 1) < 0.001; }

  std::string text() const {
    const auto size = [](double octets) {
      return report::size_text(static_cast<std::uint64_t>(std::max(0.0, octets)));
    };
    const bool one = ports == 1;
    const std::string held =
        size(growth.xoff * first.part) + (is_even() ? " each" : fmt::format(" at port {}", first.port));
    const std::string feeds =
        fmt::format("the {} ingress port{} that feed{} {} reach{} XOFF at {} ({})", ports, one ? "" : "s",
                    one ? "s" : "", queue, one ? "es" : "", size(growth.xoff), held);
    if (kmin >= growth.xoff) return fmt::format("PFC starts before ECN: kmin is {}, but {}.", size(kmin), feeds);
    return fmt::format(
        "PFC can start before ECN: from kmin ({}) on, the queue has marked {:.1f} packets in the mean when "
        "{}; {:.0f} are enough.",
        size(kmin), marks, feeds, kEnoughMarks);
  }

  // Values that pass: of kmin alone, if that leaves room for a queue, or of both thresholds in their present
  // proportion, or of XOFF.
  std::string fix() const {
    if (!is_automatic) {
      const Bytes lower = rounded_down(greatest(kmin, [&](double k) { return growth.is_sure(k, kmax); }));
      if (static_cast<double>(lower.n) >= std::max(frame, growth.xoff / 5))
        return fmt::format("Set kmin to {} or less, or raise xoff (or alpha).", spec::format(lower));
    }
    const double part = greatest(1, [&](double f) { return growth.is_sure(f * kmin, f * kmax); });
    const Bytes to_kmin = rounded_down(part * kmin);
    const Bytes to_kmax = rounded_down(part * kmax);
    if (static_cast<double>(to_kmin.n) >= frame)
      return fmt::format("Set kmin to {} and kmax to {} or less, or raise xoff (or alpha).", spec::format(to_kmin),
                         spec::format(to_kmax));
    Growth deeper = growth;
    while (!deeper.is_sure(kmin, kmax)) deeper.xoff *= 1.1;
    return fmt::format("Set xoff to {} or more, or raise alpha.", spec::format(rounded_up(deeper.xoff * first.part)));
  }
};

void find_kmin_above_xoff(const Facts& facts, Findings& findings) {
  const auto pauses = [](const auto& qos) { return std::ranges::any_of(qos.second.classes, &spec::TrafficClass::lossless); };
  if (std::ranges::none_of(facts.lab().qos, pauses)) return;
  std::map<std::string, Case> worst;  // by the class's path
  for (const auto& [key, q] : queues_of(facts)) {
    const auto [node, out, in_class, out_class] = key;
    const spec::NodeSpec& device = facts.lab().nodes[node];
    const spec::QosProfile& qos = facts.qos(device);
    const spec::TrafficClass& in = qos.classes[static_cast<std::size_t>(in_class)];
    const spec::Ecn& ecn = qos.classes[static_cast<std::size_t>(out_class)].ecn;
    if (!q.has_ect || !in.lossless || in.cbfc || !ecn.enabled) continue;
    const BitRate rate = facts.link_at({device.name, out}).rate;
    const std::map<int, double> offered = q.offered(facts, device.name);
    double total = 0;
    for (const auto& [port, bps] : offered) total += bps;
    const auto served = static_cast<double>(rate.bps);
    if (total <= served) continue;  // nothing ever waits here
    const auto cell = static_cast<double>(facts.built().switch_named(device.name).mmu().cell().n);
    Case c;
    c.frame = std::ceil(q.frame / cell) * cell;
    c.first = first_xoff(facts, device, in_class, offered);
    c.growth = {(ecn.at_dequeue ? served : total) / (total - served) / c.frame, c.first.depth, ecn.pmax_ppm / 1e6};
    if (q.octets <= c.first.depth) continue;  // there is not so much under way
    c.kmin = static_cast<double>((ecn.auto_thresholds ? spec::automatic_kmin(rate) : ecn.kmin).n);
    c.kmax = static_cast<double>((ecn.auto_thresholds ? spec::automatic_kmax(rate) : ecn.kmax).n);
    c.is_automatic = ecn.auto_thresholds;
    c.marks = c.growth.marks(c.kmin, c.kmax);
    c.ports = offered.size();
    c.queue = fmt::format("{}:{}", device.name, out);
    if (c.marks >= kEnoughMarks) continue;
    const std::string path = Facts::class_path(facts.qos_name(device), out_class);
    const auto [known, is_new] = worst.try_emplace(path, c);
    if (!is_new && c < known->second) known->second = c;
  }
  for (const auto& [path, c] : worst) findings.add(path + ".ecn.kmin", c.text(), c.fix());
}

}  // namespace

const Rule kKminAboveXoff{
    "kmin-above-xoff", Severity::kWarning,
    "The ingress groups of a lossless queue can reach XOFF before the queue has marked packets: PFC "
    "acts before ECN.",
    find_kmin_above_xoff};

}  // namespace railyard::lint
