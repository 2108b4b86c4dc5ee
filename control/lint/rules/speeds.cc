// Rates that cannot be reached, or are wasted.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/spec/pcie.h"
#include "control/spec/rank_links.h"
#include "control/spec/value.h"

namespace railyard::lint {
namespace {

void find_path_slower_than_nics(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    // A reducer's link is as fast as all ports of its switch together.
    if (facts.lab().find(s.from.node)->reduces || facts.lab().find(s.to.node)->reduces) continue;
    const BitRate from = facts.link_at(s.from).rate;
    const BitRate to = facts.link_at(s.to).rate;
    const BitRate ends = std::min({from, to, s.like.rate.value_or(from)});
    const BitRate path = facts.bottleneck(s);
    if (path.bps == 0 || path >= ends) continue;
    findings.add(
        s.path,
        fmt::format("The fabric is slower than the NICs: a flow from {} ({}) to {} ({}) is limited to {}.",
                    spec::format(s.from), spec::format(from), spec::format(s.to), spec::format(to), spec::format(path)),
        fmt::format("Use links of at least {} between the switches, or slower NICs.", spec::format(ends)));
  }
}

void find_rate_above_link(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.streams()) {
    const BitRate nic = facts.link_at(s.from).rate;
    if (!s.like.rate || *s.like.rate <= nic) continue;
    findings.add(s.path + ".rate",
                 fmt::format("{} sets {} per flow, but the link of {} has {}.", s.name, spec::format(*s.like.rate),
                             spec::format(s.from), spec::format(nic)),
                 fmt::format("Set rate to at most {}.", spec::format(nic)));
  }
}

void find_receiver_slower_than_link(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.streams()) {
    const std::string& profile = facts.lab().find(s.to.node)->profile;
    const spec::ReceiveSpec& receive = facts.lab().hosts.at(profile).receive;
    const BitRate nic = facts.link_at(s.to).rate;
    if (!receive.rate || *receive.rate >= std::min(nic, s.like.rate.value_or(nic))) continue;
    findings.add(fmt::format("hosts.{}.receive.rate", profile),
                 fmt::format("{} receives at {} from a link of {}: its buffer fills, and it pauses its switch or "
                             "drops.",
                             s.to.node, spec::format(*receive.rate), spec::format(nic)),
                 fmt::format("Set receive.rate to at least {}, or slow the senders down.", spec::format(nic)));
  }
}

// NICs that share an uplink, and have more than it carries all together.
void find_nics_above_uplink(const Facts& facts, Findings& findings) {
  std::set<std::string> said;  // of a profile once
  for (const spec::NodeSpec& node : facts.lab().nodes)
    for (const spec::PcieGroup& group : spec::pcie_groups(facts.lab(), node)) {
      std::int64_t links = 0;
      for (const int nic : group.nics) links += facts.link_at({node.name, nic}).rate.bps;
      if (links <= group.uplink.bps || !said.insert(node.profile).second) continue;
      findings.add(fmt::format("hosts.{}.pcie", node.profile),
                   fmt::format("The {} NICs {} have {} together, but the PCI Express uplink that they share carries {:.0f} Gb/s.",
                               group.nics.size(), spec::format(node, group), spec::format(BitRate{links}),
                               static_cast<double>(group.uplink.bps) / 1e9),
                   "Let fewer NICs share an uplink, use one of more lanes or a later generation, or slower links.");
    }
}

void find_nic_above_pcie(const Facts& facts, Findings& findings) {
  find_nics_above_uplink(facts, findings);
  std::set<std::string> said;  // of a profile once
  for (const spec::NodeSpec& node : facts.lab().nodes) {
    const auto bus = spec::pcie_rate(facts.lab(), node);
    if (!bus) continue;
    for (int p = 1; p <= static_cast<int>(node.nics.size()); ++p) {
      const spec::PortName nic{node.name, p};
      const BitRate link = facts.link_at(nic).rate;
      if (link <= *bus || !said.insert(node.profile).second) continue;
      findings.add(fmt::format("hosts.{}.pcie", node.profile),
                   fmt::format("{} has a link of {}, but its PCI Express slot carries {:.0f} Gb/s.", spec::format(nic),
                               spec::format(link), static_cast<double>(bus->bps) / 1e9),
                   "Use a slot of more lanes or a later generation, or slower links.");
    }
  }
}

// Hosts with several cables between them: a channel goes over one of these.
void find_cables_unused(const Facts& facts, Findings& findings) {
  for (const build::Collective& c : facts.built().collectives()) {
    const spec::CollectiveSpec& said = facts.lab().collectives[c.spec];
    spec::RankLinks links(facts.lab(), c.nics);
    if (links.all_by_their_own()) continue;
    for (std::uint32_t r = 0; r < c.ranks.size(); ++r) {
      std::map<std::uint32_t, std::set<spec::PortName>> used;  // by peer
      const auto& connections = c.ranks[r]->program().connections;
      for (std::size_t i = 0; i < connections.size(); ++i)
        if (!connections[i].scale_up) used[connections[i].peer].insert(c.through[r][i]);
      for (const auto& [peer, nics] : used) {
        const std::size_t cables = links.all_between(r, peer).size();
        if (peer < r || nics.size() >= cables) continue;
        findings.add(Facts::collective_path(facts.lab(), c.spec) + ".channels",
                     fmt::format("{} uses {} of {} links between {} and {}: channels is {}.", said.name, nics.size(),
                                 cables, c.nics[r].node, c.nics[peer].node, said.channel_count()),
                     fmt::format("Set channels to a multiple of {}.", cables));
      }
    }
  }
}

}  // namespace

const Rule kPathSlowerThanNics{"path-slower-than-nics", Severity::kWarning,
                               "Every path between two NICs has a link that is slower than both.",
                               find_path_slower_than_nics};
const Rule kRateAboveLink{"rate-above-link", Severity::kWarning, "A flow's rate is above that of its NIC's link.",
                          find_rate_above_link};
const Rule kReceiverSlowerThanLink{"receiver-slower-than-link", Severity::kWarning,
                                   "A host's receive rate is below its link's rate.", find_receiver_slower_than_link};
const Rule kNicAbovePcie{"nic-above-pcie", Severity::kWarning, "A NIC's link is faster than its PCI Express slot, or the links of NICs that share an uplink are.",
                         find_nic_above_pcie};
const Rule kCablesUnused{"cables-unused", Severity::kWarning,
                         "A collective has fewer channels than there are links between two of its hosts.",
                         find_cables_unused};

}  // namespace railyard::lint
