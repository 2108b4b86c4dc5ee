#include "control/build/changes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "dataplane/packet/packet.h"

namespace railyard::build {
namespace {

// The worst of both rates: what has begun at the lower one takes its time while the peer sends at the higher one, and
// a pause frame that is on its way takes effect after the longer response.
HeadroomTerms in_transition(const HeadroomTerms& from, const HeadroomTerms& to) noexcept {
  const BitRate lower = std::min(from.rate, to.rate);
  HeadroomTerms t = to;
  t.rate = std::max(from.rate, to.rate);
  t.peer_response = std::max(from.peer_response, to.peer_response) +
                    Bytes{t.framing.slot(t.own_frame) + t.framing.slot(kLeastFrameOctets)} / lower;
  t.retry = std::max(from.retry, to.retry);
  return t;
}

// How long the old rate can matter: twice the longest way from a decision to pause to the last frame that comes in
// spite of it.
Duration duration_of(const HeadroomTerms& t, BitRate lower) noexcept {
  return 2 * (2 * t.propagation + t.peer_response + t.rx_latency + t.retry +
              Bytes{t.framing.slot(t.own_frame) + t.framing.slot(t.peer_frame)} / lower);
}

// What an attachment is that a running lab keeps; nullptr: it can come and go.
const char* fixed_attachment(const spec::Attachment& a) noexcept {
  if (std::holds_alternative<spec::AttachVm>(a)) return "a virtual machine";
  if (std::holds_alternative<spec::AttachPcap>(a)) return "a capture file";
  if (std::holds_alternative<spec::AttachApplication>(a)) return "a host of applications";
  return nullptr;
}

}  // namespace

Changes::Changes(const BuiltLab& running, spec::Lab to, Duration window)
    : differences_(spec::differences(running.spec(), to)) {
  if (differences_.empty()) return;
  find_attachments(running, to);
  refuse_what_is_not_live();
  // What a lab would be made of that had been so from the beginning. Nothing of it reaches outside.
  BuiltLab fresh(std::move(to), Outputs::kLeaveAlone);
  find_link_rates(running, fresh, window);
  find_settings(running, fresh);
  find_transition(running, fresh);
  refuse_other_flows(running, fresh);
  find_flow_rates(running, fresh);
  find_peers(running, fresh);
  to_ = std::move(fresh.lab_);
  headrooms_ = std::move(fresh.headrooms_);
}

// Hosts that differ in what stands behind their NICs, and in nothing else.
void Changes::find_attachments(const BuiltLab& running, const spec::Lab& to) {
  if (running.spec().nodes.size() != to.nodes.size()) return;
  for (std::size_t n = 0; n < to.nodes.size(); ++n) {
    const spec::NodeSpec& before = running.spec().nodes[n];
    spec::NodeSpec after = to.nodes[n];
    if (before == after || before.nics.size() != after.nics.size()) continue;
    for (std::size_t i = 0; i < after.nics.size(); ++i) {
      after.nics[i].attach = before.nics[i].attach;
      after.nics[i].mac = before.nics[i].mac;
    }
    if (before != after) continue;
    for (std::size_t i = 0; i < after.nics.size(); ++i)
      if (before.nics[i].attach != to.nodes[n].nics[i].attach)
        attachments_.push_back(
            {{before.name, static_cast<int>(i) + 1}, before.nics[i].attach, to.nodes[n].nics[i].attach});
  }
  for (const Attached& a : attachments_)
    for (const spec::Attachment* side : {&a.from, &a.to})
      if (const char* fixed = fixed_attachment(*side); fixed != nullptr)
        throw NotLive(
            fmt::format("{}: {} cannot be changed in a running lab; stop the lab and start it with another `attach`",
                        spec::format(a.nic), fixed));
}

void Changes::refuse_what_is_not_live() const {
  // Prefer a difference that is set in both labs: others may follow from it.
  const auto fixed = [this](const spec::Difference& d) {
    return !spec::is_live(d.path) && std::ranges::none_of(attachments_, [&](const Attached& a) {
      return d.path.starts_with("nodes." + a.nic.node + ".");
    });
  };
  auto found = std::ranges::find_if(
      differences_, [&](const spec::Difference& d) { return fixed(d) && d.from != "-" && d.to != "-"; });
  if (found == differences_.end()) found = std::ranges::find_if(differences_, fixed);
  if (found != differences_.end())
    throw NotLive(
        fmt::format("{} ({} -> {}) cannot change in a running lab; stop the lab and start it with the new value",
                    found->path, found->from, found->to));
}

// Built-in traffic belongs to the NICs that had it from the beginning.
void Changes::refuse_other_flows(const BuiltLab& running, const BuiltLab& fresh) const {
  if (attachments_.empty()) return;
  const auto same = [](const Flow& a, const Flow& b) {
    return a.plan.source == b.plan.source && a.plan.destination == b.plan.destination &&
           a.plan.traffic == b.plan.traffic;
  };
  const auto touches = [this](const Flow& f) {
    return std::ranges::any_of(
        attachments_, [&](const Attached& a) { return f.plan.source == a.nic || f.plan.destination == a.nic; });
  };
  for (const BuiltLab* lab : {&running, &fresh})
    if (const auto f = std::ranges::find_if(lab->flows(), touches); f != lab->flows().end())
      throw NotLive(fmt::format("{} has built-in traffic ({}); expected a host without `traffic`",
                                spec::format(f->plan.source), lab->spec().traffic[f->plan.traffic].name));
  for (const BuiltLab* lab : {&running, &fresh})
    for (const AgentFlow& f : lab->agent_flows())
      for (const AgentFlow::End* end : {&f.source, &f.sink})
        if (std::ranges::find(attachments_, end->nic, &Attached::nic) != attachments_.end())
          throw NotLive(fmt::format("{} is an end of {}; expected a host without `traffic`", spec::format(end->nic),
                                    f.plan.name));
  for (const BuiltLab* lab : {&running, &fresh})
    for (const Collective& c : lab->collectives())
      for (const spec::PortName& nic : c.nics)
        if (std::ranges::find(attachments_, nic, &Attached::nic) != attachments_.end())
          throw NotLive(fmt::format("{} is a rank of {}; expected a host without collectives", spec::format(nic),
                                    lab->spec().collectives[c.spec].name));
  const auto same_ranks = [](const Collective& a, const Collective& b) { return a.nics == b.nics; };
  if (!std::ranges::equal(running.flows(), fresh.flows(), same) ||
      !std::ranges::equal(running.collectives(), fresh.collectives(), same_ranks))
    throw NotLive(fmt::format(
        "another host at {} would change the ends of built-in traffic; list its ends (from, to) one by one, or "
        "stop the lab",
        spec::format(attachments_.front().nic)));
}

void Changes::find_peers(const BuiltLab& running, BuiltLab& fresh) {
  for (const Attached& a : attachments_) {
    const PortRef nic = fresh.port(a.nic);
    const PortRef other = running.fabric().peer(nic);
    Peer peer{nic, fresh.host(a.nic.node).config().nics[nic.port.index()].mac, {}, {}};
    if (fresh.is_switch(other.device)) {
      peer.of_switch = other;
      peer.known = fresh.switch_named(fresh.node_of(other.device).name).config().ports[other.port.index()].peer_mac;
    }
    peers_.push_back(peer);
  }
}

void Changes::find_link_rates(const BuiltLab& running, const BuiltLab& fresh, Duration window) {
  for (std::size_t i = 0; i < fresh.spec().links.size(); ++i) {
    const spec::LinkSpec& link = fresh.spec().links[i];
    if (link.rate == running.spec().links[i].rate) continue;
    for (const spec::PortName& end : {link.a, link.b})
      if (fresh.fabric()[fresh.port(end).device].cuts_through())
        throw NotLive(fmt::format(
            "links.{}.rate cannot change in a running lab: {} uses cut-through, which needs a fixed receiving rate; "
            "stop the lab and start it with the new value",
            spec::format(link.a), end.node));
    if (fresh.fabric().links()[i].credits_at_a)
      throw NotLive(fmt::format(
          "links.{}.rate cannot change in a running lab: its credits (cbfc) are sized for the present rate; stop "
          "the lab and start it with the new value",
          spec::format(link.a)));
    link_rates_.push_back({running.port(link.a), link.rate});
  }
  if (link_rates_.empty()) return;
  const Fabric::Window w = fresh.fabric().window();
  if (w.size >= window) return;
  const PortRef port = fresh.fabric().sender(w.channel);
  throw NotLive(
      fmt::format("at {} the link of {}:{} needs a window of {}, but the lab runs with windows of {}; stop the lab and "
                  "start it with the new value",
                  spec::format(fresh.rate(port)), fresh.node_of(port.device).name, port.port.value + 1,
                  spec::format(w.size), spec::format(window)));
}

namespace {

// Whether any switch listens to others as it did not before: then what its neighbours do is another thing, too.
bool other_reports(const spec::Lab& before, const spec::Lab& after) {
  const auto paths = [](const spec::Lab& lab, const spec::SwitchProfile& profile,
                        std::size_t k) -> const spec::PathSpec& { return lab.qos.at(profile.qos).classes[k].path; };
  return std::ranges::any_of(after.switches, [&](const auto& named) {
    const spec::SwitchProfile& was = before.switches.at(named.first);
    for (std::size_t k = 0; k < kPriorities; ++k)
      if (paths(before, was, k) != paths(after, named.second, k)) return true;
    return false;
  });
}

}  // namespace

void Changes::find_settings(const BuiltLab& running, BuiltLab& fresh) {
  std::vector<bool> touched(fresh.spec().nodes.size(), false);
  for (const LinkRate& l : link_rates_) {
    touched[l.port.device.index()] = true;
    touched[running.fabric().peer(l.port).device.index()] = true;
  }
  const spec::Lab& before = running.spec();
  const spec::Lab& after = fresh.spec();
  const bool reports = other_reports(before, after);
  for (std::size_t n = 0; n < after.nodes.size(); ++n) {
    const spec::NodeSpec& node = after.nodes[n];
    if (node.kind == spec::NodeSpec::Kind::kTrunk) continue;  // nothing of it can be set
    const DeviceId device{static_cast<std::uint32_t>(n)};
    if (fresh.is_switch(device)) {
      const spec::SwitchProfile& profile = after.switches.at(node.profile);
      if (!touched[n] && !reports && profile == before.switches.at(node.profile) &&
          after.qos.at(profile.qos) == before.qos.at(profile.qos) && node.ports == before.nodes[n].ports)
        continue;
      const SwitchConfig& config = fresh.switch_named(node.name).config();
      OfSwitch& s = switches_.emplace_back(OfSwitch{device, {}});
      s.settings.paths = config.paths;
      s.settings.reports = config.reports;
      for (const SwitchPortConfig& p : config.ports) s.settings.ports.push_back({p.classes, {}, p.quality, p.pfc});
    } else {
      const std::string& qos = after.hosts.at(node.profile).qos;
      if (after.qos.at(qos) == before.qos.at(qos) && node.ports == before.nodes[n].ports &&
          after.hosts.at(node.profile).pfc == before.hosts.at(node.profile).pfc)
        continue;
      OfHost& h = hosts_.emplace_back(OfHost{device, {}});
      for (const NicConfig& nic : fresh.host(node.name).config().nics) h.nics.push_back({nic.scheduling, nic.pfc});
    }
  }
}

void Changes::find_transition(const BuiltLab& running, const BuiltLab& fresh) {
  for (std::size_t i = 0; i < fresh.headrooms().size(); ++i) {
    const Headroom& from = running.headrooms()[i];
    const Headroom& to = fresh.headrooms()[i];
    // Who accepts loss is not given more.
    if (from.terms.rate == to.terms.rate || to.configured < to.computed) continue;
    const auto of = std::ranges::find(switches_, to.device, &OfSwitch::device);
    SwitchSettings& s = of->settings;
    const HeadroomTerms terms = in_transition(from.terms, to.terms);
    const Bytes cell = fresh.spec().switches.at(fresh.node_of(to.device).profile).cell;
    s.ports[to.port.index()].transition_headroom[to.priority.index()] =
        std::max({from.configured, to.configured, cell * headroom_cells(terms, cell)});
    s.transition = std::max(s.transition, duration_of(terms, std::min(from.terms.rate, to.terms.rate)));
  }
}

void Changes::find_flow_rates(const BuiltLab& running, const BuiltLab& fresh) {
  for (std::size_t i = 0; i < fresh.flows().size(); ++i) {
    const std::size_t t = fresh.flows()[i].plan.traffic;
    if (fresh.spec().traffic[t].rate != running.spec().traffic[t].rate)
      flow_rates_.push_back({i, fresh.flows()[i].rate});
  }
  for (std::size_t i = 0; i < fresh.agent_flows().size(); ++i) {
    const AgentFlow& flow = fresh.agent_flows()[i];
    if (!flow.source.is_agents() && flow.config.rate != running.agent_flows()[i].config.rate)
      agent_flow_rates_.push_back({i, flow.config.rate});
  }
}

void Changes::give_to(BuiltLab& running, Instant at) {
  if (differences_.empty()) return;
  Fabric& fabric = running.fabric();
  for (const LinkRate& l : link_rates_) fabric.set_rate_at(at, l.port, l.rate);
  for (OfSwitch& s : switches_) {
    Switch& device = dynamic_cast<Switch&>(fabric[s.device]);
    device.change_at(at, [&device, settings = std::move(s.settings)](Instant now) { device.apply(now, settings); });
  }
  for (OfHost& h : hosts_) {
    Host& device = dynamic_cast<Host&>(fabric[h.device]);
    device.change_at(at, [&device, nics = std::move(h.nics)](Instant now) {
      for (std::uint16_t nic = 0; nic < nics.size(); ++nic) {
        device.set_scheduling(PortIndex{nic}, nics[nic].scheduling);
        device.set_pfc(now, PortIndex{nic}, nics[nic].pfc);
      }
    });
  }
  for (const FlowRate& f : flow_rates_) {
    const Flow& flow = running.flows()[f.flow];
    const PortRef port = running.port(flow.paced_at());
    Host& device = dynamic_cast<Host&>(fabric[port.device]);
    device.change_at(at, [&device, nic = port.port, flow = &flow, rate = f.rate](Instant now) {
      flow->set_rate(now, rate);
      device.endpoint_changed(now, nic);
    });
  }
  for (const FlowRate& f : agent_flow_rates_) {
    const AgentFlow::End& source = running.agent_flows()[f.flow].source;
    const PortRef port = running.port(source.nic);
    Host& device = dynamic_cast<Host&>(fabric[port.device]);
    device.change_at(at, [&device, nic = port.port, &source, rate = f.rate](Instant now) {
      source.end.nic->set_rate(now, source.place, rate);
      device.endpoint_changed(now, nic);
    });
  }
  for (const Peer& p : peers_) {
    Host& host = dynamic_cast<Host&>(fabric[p.nic.device]);
    // Who was built in has an address; it stays the NIC's while a host with one of its own is behind it.
    if (p.mac != wire::MacAddress{}) host.change_at(at, [&host, p](Instant) { host.set_mac(p.nic.port, p.mac); });
    if (!p.of_switch) continue;
    Switch& leaf = dynamic_cast<Switch&>(fabric[p.of_switch->device]);
    leaf.change_at(at, [&leaf, p](Instant now) { leaf.set_peer(now, p.of_switch->port, p.known); });
  }
  // What was goes with this object, not here: the engine waits.
  std::swap(running.lab_, to_);
  std::swap(running.headrooms_, headrooms_);
}

}  // namespace railyard::build
