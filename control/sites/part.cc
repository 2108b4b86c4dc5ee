// The lab of one site.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "control/sites/placement.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/fault_place.h"
#include "control/spec/probe_pairs.h"
#include "control/spec/select.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::sites {
namespace {

using spec::SpecError;

class Part {
 public:
  Part(const spec::Lab& lab, const Placement& placement, const std::string& site)
      : lab_(lab), placement_(placement), site_(site), crossing_(crossing_links(lab, placement)) {
    for (std::size_t n = 0; n < lab.nodes.size(); ++n) index_[lab.nodes[n].name] = n;
  }

  spec::Lab run() {
    out_ = lab_;
    out_.whole = {};
    check_switches();
    keep_nodes();
    keep_links();
    out_.make_index();
    keep_traffic();
    keep_faults();
    if (out_.probe && spec::probed_pairs(out_).empty()) out_.probe.reset();
    out_.expect.clear();
    out_.compare = {};
    out_.diagnosis = {};
    out_.whole.lab = whole();
    return std::move(out_);
  }

 private:
  const std::string& site_of(const std::string& node) const { return placement_[index_.at(node)]; }
  bool is_here(const std::string& node) const { return site_of(node) == site_; }

  void check_switches() const {
    for (const spec::NodeSpec& node : lab_.nodes)
      if (spec::is_controlled(node))
        throw SpecError(node.place, fmt::format("{} is controlled by a routing daemon, which does not reach other sites; "
                                                "expected the model (control: model)",
                                                node.name));
  }

  void keep_nodes() {
    std::erase_if(out_.nodes, [&](const spec::NodeSpec& node) { return !is_here(node.name); });
  }

  // What both sites model. Trunks carry Ethernet frames, which need time.
  spec::LinkSpec modelled(const spec::LinkSpec& link) const {
    const auto fail = [&](const std::string& what) {
      throw SpecError(link.place, fmt::format("link {} to {} crosses from site {} to site {}, and {}", spec::format(link.a),
                                              spec::format(link.b), site_of(link.a.node), site_of(link.b.node), what));
    };
    spec::LinkSpec out = link;
    if (lab_.trunks.delay && out.delay < *lab_.trunks.delay) {
      out.delay = *lab_.trunks.delay;
      out.cable.reset();
      out.medium.reset();
    }
    if (out.delay == Duration{}) fail("has no delay; expected `trunks: { delay: 1ms }`, or a delay of the link");
    if (out.llr) fail("has llr, which trunks do not carry; expected a link without it");
    if (out.framing != Framing{}) fail("has a framing of its own; expected Ethernet framing");
    for (const spec::PortName& end : {link.a, link.b}) {
      const spec::NodeSpec& node = lab_.nodes[index_.at(end.node)];
      if (lab_.switches.at(node.profile).latency == Duration{})
        fail(fmt::format("{} (profile {}) has no latency; expected one above 0", node.name, node.profile));
    }
    out.bundle.clear();
    return out;
  }

  void keep_links() {
    out_.links.clear();
    std::size_t next = 0;  // of crossing_
    for (std::size_t i = 0; i < lab_.links.size(); ++i) {
      const spec::LinkSpec& link = lab_.links[i];
      if (next < crossing_.size() && crossing_[next] == i) {
        ++next;
        if (is_here(link.a.node) || is_here(link.b.node)) add_trunk(link);
      } else if (is_here(link.a.node)) {
        out_.links.push_back(link);
      }
    }
  }

  void add_trunk(const spec::LinkSpec& link) {
    const bool a_is_here = is_here(link.a.node);
    const spec::PortName& far = a_is_here ? link.b : link.a;
    spec::NodeSpec trunk;
    trunk.name = fmt::format("to-{}-{}", far.node, far.port);
    while (index_.contains(trunk.name)) trunk.name += "-";
    trunk.kind = spec::NodeSpec::Kind::kTrunk;
    trunk.place = link.place;
    trunk.trunk.timeout = lab_.trunks.timeout;
    set_carrier(link, site_of(far.node), trunk);
    spec::LinkSpec half = modelled(link);
    (a_is_here ? half.b : half.a) = {trunk.name, 1};
    out_.nodes.push_back(std::move(trunk));
    out_.links.push_back(std::move(half));
  }

  // The i-th link between two sites uses the i-th port of both; others have a UDP port each.
  void set_carrier(const spec::LinkSpec& link, const std::string& other, spec::NodeSpec& trunk) const {
    const spec::SiteSpec& here = lab_.sites.at(site_);
    const std::size_t n = number(link, site_, other);
    if (const auto ports = here.ports.find(other); ports != here.ports.end() && n < ports->second.size()) {
      trunk.trunk.attach = ports->second[n];
      return;
    }
    trunk.trunk.udp = spec::TrunkUdp{end_of(link, site_), end_of(link, other)};
  }

  // Which of the links between the two sites it is.
  std::size_t number(const spec::LinkSpec& link, const std::string& a, const std::string& b) const {
    std::size_t n = 0;
    for (const std::size_t i : crossing_) {
      const spec::LinkSpec& l = lab_.links[i];
      if (&l == &link) break;
      const std::string& from = site_of(l.a.node);
      const std::string& to = site_of(l.b.node);
      n += (from == a && to == b) || (from == b && to == a) ? 1 : 0;
    }
    return n;
  }

  // Of all links of a site that cross, each has a port of its own.
  wire::UdpEndpoint end_of(const spec::LinkSpec& link, const std::string& site) const {
    const spec::SiteSpec& at = lab_.sites.at(site);
    if (!at.address)
      throw SpecError(at.place, fmt::format("site {} has no address; expected `sites.{}.address`", site, site));
    int n = 0;
    for (const std::size_t i : crossing_) {
      const spec::LinkSpec& l = lab_.links[i];
      if (&l == &link) break;
      n += site_of(l.a.node) == site || site_of(l.b.node) == site ? 1 : 0;
    }
    if (at.port + n > 65535)
      throw SpecError(at.place, fmt::format("site {} needs UDP port {}; expected a lower `port`", site, at.port + n));
    return {*at.address, static_cast<std::uint16_t>(at.port + n)};
  }

  // The only site of these hosts. `what`: "traffic x".
  const std::string& one_site(const std::string& what, const spec::Place& place, const std::vector<spec::PortName>& nics) const {
    for (const spec::PortName& nic : nics)
      if (site_of(nic.node) != site_of(nics.front().node))
        throw SpecError(place, fmt::format("{} has {} at site {} and {} at site {}, and built-in traffic cannot cross sites; "
                                           "expected hosts of one site, or programs on hosts with `attach`",
                                           what, nics.front().node, site_of(nics.front().node), nic.node, site_of(nic.node)));
    return nics.empty() ? site_ : site_of(nics.front().node);
  }

  void keep_traffic() {
    std::erase_if(out_.traffic, [&](const spec::TrafficSpec& t) {
      std::vector<spec::PortName> nics = spec::senders(lab_, t);
      std::ranges::move(spec::receivers(lab_, t), std::back_inserter(nics));
      return one_site("traffic " + t.name, t.place, nics) != site_;
    });
    std::erase_if(out_.collectives, [&](const spec::CollectiveSpec& c) {
      return one_site((c.is_job() ? "job " : "collective ") + c.name, {}, spec::ranks(lab_, c)) != site_;
    });
  }

  void keep_faults() {
    std::erase_if(out_.faults, [&](spec::FaultSpec& fault) {
      std::erase_if(fault.on, [&](const spec::FaultPlace& place) { return spec::nodes_at(out_, place).empty(); });
      if (fault.on.empty()) return true;
      if (fault.when && !is_here(fault.when->node))
        throw SpecError({}, fmt::format("fault {} is at site {} and waits for a queue of {} at site {}; expected both at one "
                                        "site",
                                        fault.name, site_, fault.when->node, site_of(fault.when->node)));
      return false;
    });
  }

  // This site's nodes first: its devices have the same numbers.
  std::shared_ptr<const spec::Lab> whole() const {
    auto whole = std::make_shared<spec::Lab>(lab_);
    whole->whole = {};
    whole->nodes = out_.nodes;
    for (const spec::NodeSpec& node : lab_.nodes)
      if (!is_here(node.name)) whole->nodes.push_back(node);
    whole->traffic.clear();
    whole->collectives.clear();
    whole->faults.clear();
    whole->make_index();
    return whole;
  }

  const spec::Lab& lab_;
  const Placement& placement_;
  const std::string& site_;
  std::vector<std::size_t> crossing_;
  std::unordered_map<std::string, std::size_t> index_;  // of nodes
  spec::Lab out_;
};

// Two sites at one address need UDP ports of their own.
void check_ports(const spec::Lab& lab, const Placement& placement) {
  std::unordered_map<std::string, const std::string*> site_of;
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) site_of[lab.nodes[n].name] = &placement[n];
  std::map<std::string, int> trunks;  // by site
  for (const std::size_t i : crossing_links(lab, placement))
    for (const spec::PortName& end : {lab.links[i].a, lab.links[i].b}) ++trunks[*site_of.at(end.node)];
  std::map<wire::UdpEndpoint, std::string> users;
  for (const auto& [name, site] : lab.sites) {
    if (!site.address) continue;
    for (int i = 0; i < trunks[name]; ++i) {
      const wire::UdpEndpoint end{*site.address, static_cast<std::uint16_t>(site.port + i)};
      const auto [known, is_new] = users.try_emplace(end, name);
      if (!is_new)
        throw SpecError(site.place, fmt::format("sites {} and {} both need {}; expected another address or another `port`",
                                                known->second, name, wire::to_string(end)));
    }
  }
}

}  // namespace

spec::Lab part_of(const spec::Lab& lab, const Placement& placement, const std::string& site) {
  check_ports(lab, placement);
  return Part(lab, placement, site).run();
}

spec::Lab part_of(const spec::Lab& lab, const std::string& site) {
  std::vector<std::string> names;
  for (const auto& [name, s] : lab.sites) names.push_back(name);
  return part_of(lab, place(lab, names), site);
}

}  // namespace railyard::sites
