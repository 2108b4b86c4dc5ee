// Paths that are lossless in part, and RDMA that must not lose and may.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

bool lossless(const Facts& facts, const spec::NodeSpec& node, int priority) {
  return facts.qos(node).classes[static_cast<std::size_t>(priority)].lossless;
}

void find_lossy_on_lossless_path(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.streams()) {
    const spec::NodeSpec* with = nullptr;
    const spec::NodeSpec* without = nullptr;
    int priority = 0;
    for (const Hop& h : facts.hops(s)) {
      const spec::NodeSpec& node = facts.lab().nodes[h.node];
      if (lossless(facts, node, h.in_class)) {
        with = &node;
      } else {
        without = &node;
        priority = h.in_class;
      }
    }
    if (with == nullptr || without == nullptr) continue;
    findings.add(Facts::class_path(facts.qos_name(*without), priority) + ".lossless",
                 fmt::format("{} drops when {} pauses: the class of {} (DSCP {}) is lossless at {} and lossy at {}.",
                             without->name, with->name, s.name, s.like.dscp, with->name, without->name),
                 fmt::format("Make class {} lossless in qos.{}, or lossy everywhere.", priority,
                             facts.qos_name(*without)));
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
  for (const Stream& s : facts.streams()) {
    if (!suffers_from_loss(facts, s)) continue;
    const std::vector<Hop> hops = facts.hops(s);
    const bool is_lossy = std::ranges::none_of(
        hops, [&](const Hop& h) { return lossless(facts, facts.lab().nodes[h.node], h.in_class); });
    if (hops.empty() || !is_lossy) continue;
    const std::string& profile = facts.lab().find(s.from.node)->profile;
    findings.add(s.path + ".dscp",
                 fmt::format("RoCE runs in a lossy class: {} uses DSCP {}, which is class {} at {}; {}.", s.name,
                             s.like.dscp, hops.front().in_class, facts.lab().nodes[hops.front().node].name,
                             s.like.is_uc() ? "an unreliable connection loses its messages"
                                            : "go-back-N repeats everything behind a lost packet"),
                 s.like.is_uc()
                     ? std::string("Use a DSCP of a lossless class, or qp-type: rc.")
                     : fmt::format("Use a DSCP of a lossless class, or hosts.{}.roce.loss-recovery: selective-repeat.",
                                   profile));
  }
}

// The sender's side of the first link, and the receiver's of the last: between switches, lossy-on-lossless-path says it.
void find_pfc_on_one_side(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.streams()) {
    const std::vector<Hop> hops = facts.hops(s);
    if (hops.empty()) continue;
    const spec::NodeSpec& sender = *facts.lab().find(s.from.node);
    const spec::NodeSpec& leaf = facts.lab().nodes[hops.front().node];
    const bool at_nic = lossless(facts, sender, s.nic_class);
    const bool at_leaf = lossless(facts, leaf, hops.front().in_class);
    if (at_leaf && !at_nic && s.nic_class == hops.front().in_class)
      findings.add(Facts::class_path(facts.qos_name(sender), s.nic_class) + ".lossless",
                   fmt::format("PFC is on at one side only: {} pauses class {}, and NIC {} has it lossy.", leaf.name,
                               s.nic_class, spec::format(s.from)),
                   fmt::format("Make class {} lossless in qos.{}, or lossy in qos.{}.", s.nic_class,
                               facts.qos_name(sender), facts.qos_name(leaf)));
    if (at_nic && !at_leaf && s.nic_class == hops.front().in_class)
      findings.add(Facts::class_path(facts.qos_name(leaf), s.nic_class) + ".lossless",
                   fmt::format("PFC is on at one side only: NIC {} has class {} lossless, and {} drops in it.",
                               spec::format(s.from), s.nic_class, leaf.name),
                   fmt::format("Make class {} lossless in qos.{}, or lossy in qos.{}.", s.nic_class,
                               facts.qos_name(leaf), facts.qos_name(sender)));
  }
}

}  // namespace

const Rule kLossyOnLosslessPath{"lossy-on-lossless-path", Severity::kWarning,
                                "A class is lossless at one switch of a path and lossy at another, which then drops "
                                "what the first one saved.",
                                find_lossy_on_lossless_path};
const Rule kRdmaInLossyClass{"rdma-in-lossy-class", Severity::kWarning,
                             "RoCE with go-back-N, or over unreliable connections, uses a class that is lossy on the "
                             "whole path.",
                             find_rdma_in_lossy_class};
const Rule kPfcOnOneSide{"pfc-on-one-side", Severity::kWarning,
                         "A NIC and its switch do not agree whether a class is lossless.", find_pfc_on_one_side};

}  // namespace railyard::lint
