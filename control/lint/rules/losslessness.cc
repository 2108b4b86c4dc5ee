// Paths that are lossless in part, and RDMA that must not lose and may.
#include <algorithm>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

bool lossless(const Facts& facts, const spec::NodeSpec& node, int priority) {
  return facts.qos(node).classes[static_cast<std::size_t>(priority)].lossless;
}

void find_lossy_on_lossless_path(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    const spec::NodeSpec* with = nullptr;
    const spec::NodeSpec* without = nullptr;
    int priority = 0;
    int dscp = 0;
    for (const Hop& h : facts.hops(s)) {
      const spec::NodeSpec& node = facts.lab().nodes[h.node];
      // The ingress group pauses by the class that packets come in, the egress queue drops by the one they leave in.
      for (const int k : {h.in_class, h.out_class}) {
        if (lossless(facts, node, k)) {
          with = &node;
        } else {
          without = &node;
          priority = k;
          dscp = k == h.in_class ? h.arrives.dscp : h.leaves.dscp;
        }
      }
    }
    if (with == nullptr || without == nullptr) continue;
    findings.add(
        Facts::class_path(facts.qos_name(*without), priority) + ".lossless",
        fmt::format("{} drops where {} pauses: the class of {} (DSCP {}) is lossless at {} and lossy at {}.",
                    without->name, with->name, s.name, dscp, with->name, without->name),
        fmt::format("Make class {} lossless in qos.{}, or lossy everywhere.", priority, facts.qos_name(*without)));
  }
}

// Whether a lost packet costs such a transport more than itself: go-back-N sends everything behind it again, an
// unreliable connection loses the message. Selective repeat and UET are made for lossy classes.
bool suffers_from_loss(const Facts& facts, const Stream& s) {
  if (!s.like.is_roce() || s.like.is_rping()) return false;
  return s.like.is_uc() ||
         facts.host(s.from.node).roce.loss_recovery == spec::RoceLossRecovery::kGoBackN;
}

void find_rdma_in_lossy_class(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    if (!suffers_from_loss(facts, s)) continue;
    const std::vector<Hop> hops = facts.hops(s);
    const bool is_lossy = std::ranges::none_of(hops, [&](const Hop& h) {
      const spec::NodeSpec& node = facts.lab().nodes[h.node];
      return lossless(facts, node, h.in_class) || lossless(facts, node, h.out_class);
    });
    if (hops.empty() || !is_lossy) continue;
    const std::string& profile = facts.lab().find(s.from.node)->profile;
    findings.add(s.path + ".dscp",
                 fmt::format("RoCE runs in a lossy class: {} uses DSCP {}, which is class {} at {}; {}.", s.name,
                             s.like.dscp, hops.front().in_class, facts.lab().nodes[hops.front().node].name,
                             s.like.is_uc() ? "an unreliable connection loses its messages"
                                            : "go-back-N retransmits every packet after a lost one"),
                 s.like.is_uc()
                     ? std::string("Use a DSCP of a lossless class, or qp-type: rc.")
                     : fmt::format("Use a DSCP of a lossless class, or hosts.{}.roce.loss-recovery: selective-repeat.",
                                   profile));
  }
}

// `from` sends the stream to `to`, which pauses it in its own class. Between switches of which one is lossy,
// lossy-on-lossless-path says it.
void check_link(const Facts& facts, const Stream& s, const spec::PortName& from, int from_class, int to_class,
                Findings& findings) {
  const spec::PortName to = facts.peer_of(from);
  const spec::NodeSpec& sender = *facts.lab().find(from.node);
  const spec::NodeSpec& receiver = *facts.lab().find(to.node);
  if (from_class != to_class) return;  // class-maps-disagree
  if (sender.kind == spec::NodeSpec::Kind::kSwitch && !lossless(facts, sender, from_class)) return;
  const BitRate rate = facts.link_at(from).rate;
  const auto has = [](PriorityMask mask, int k) { return (mask & bit(Priority{static_cast<std::uint8_t>(k)})) != 0; };
  const bool pauses = has(spec::pfc_at(facts.lab(), receiver, to.port, rate).tx, to_class);
  const bool obeys = has(spec::pfc_at(facts.lab(), sender, from.port, rate).rx, from_class);
  const auto key = [&](const spec::NodeSpec& node, int port, int k) {
    return spec::pfc_key(facts.lab(), node, port, rate, static_cast<std::size_t>(k));
  };
  if (pauses && !obeys) {
    const std::string path = key(sender, from.port, from_class);
    findings.add(path,
                 fmt::format("PFC is on at one end only: {} pauses class {} of {}, and {} ignores the pauses.",
                             spec::format(to), to_class, s.name, spec::format(from)),
                 lossless(facts, sender, from_class) ? fmt::format("Set {} to on.", path)
                                                     : fmt::format("Set {} to on, or make class {} lossless in qos.{}.",
                                                                   path, from_class, facts.qos_name(sender)));
  }
  const bool has_credits = facts.qos(receiver).classes[static_cast<std::size_t>(to_class)].cbfc.has_value();
  if (receiver.kind == spec::NodeSpec::Kind::kSwitch && lossless(facts, receiver, to_class) && !pauses && !has_credits) {
    const std::string path = key(receiver, to.port, to_class);
    findings.add(path,
                 fmt::format("Class {} is lossless at {}, but {} does not send PFC for it: it drops {} when its buffer "
                             "is full.",
                             to_class, receiver.name, spec::format(to), s.name),
                 fmt::format("Set {} to on.", path));
  }
  if (obeys && !pauses && lossless(facts, sender, from_class) && !lossless(facts, receiver, to_class) &&
      sender.kind == spec::NodeSpec::Kind::kHost)
    findings.add(Facts::class_path(facts.qos_name(receiver), to_class) + ".lossless",
                 fmt::format("PFC is on at one end only: class {1} is lossless at {0}, and {2} drops in it.",
                             spec::format(from), from_class, spec::format(to)),
                 fmt::format("Make class {} lossless in qos.{}, or lossy in qos.{}.", to_class,
                             facts.qos_name(receiver), facts.qos_name(sender)));
}

void find_pfc_on_one_side(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    const std::vector<Hop> hops = facts.hops(s);
    if (hops.empty()) continue;
    check_link(facts, s, s.from, s.nic_class, hops.front().in_class, findings);
    for (const Hop& h : hops) {
      const spec::PortName from{facts.lab().nodes[h.node].name, h.out_port};
      const spec::NodeSpec& next = *facts.lab().find(facts.peer_of(from).node);
      if (next.kind == spec::NodeSpec::Kind::kTrunk) continue;
      check_link(facts, s, from, h.out_class, facts.class_at(next, h.leaves), findings);
    }
  }
}

}  // namespace

const Rule kLossyOnLosslessPath{"lossy-on-lossless-path", Severity::kWarning,
                                "A class is lossless at one switch of a path and lossy at another, which may drop its "
                                "packets.",
                                find_lossy_on_lossless_path};
const Rule kRdmaInLossyClass{"rdma-in-lossy-class", Severity::kWarning,
                             "RoCE with go-back-N, or over unreliable connections, uses a class that is lossy on the "
                             "whole path.",
                             find_rdma_in_lossy_class};
const Rule kPfcOnOneSide{"pfc-on-one-side", Severity::kWarning,
                         "One end of a link sends PFC for a class, and the other ignores it; or a lossless class of a "
                         "switch sends no PFC; or "
                         "a class is lossless at a NIC and lossy at its switch.",
                         find_pfc_on_one_side};

}  // namespace railyard::lint
