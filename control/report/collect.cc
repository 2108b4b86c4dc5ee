#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>

#include "control/report/flow_report.h"
#include "control/report/lossless.h"
#include "control/report/nic_name.h"
#include "control/report/report.h"
#include "control/report/steady_pauses.h"
#include "control/routing/path_times.h"
#include "control/spec/pcie.h"
#include "control/spec/reducers.h"
#include "dataplane/packet/packet.h"

namespace railyard::report {
namespace {

LabReport lab_report(const build::BuiltLab& lab) {
  LabReport r;
  for (const spec::NodeSpec& n : lab.spec().nodes) {
    if (n.reduces) continue;
    r.hosts += n.kind == spec::NodeSpec::Kind::kHost;
    r.switches += n.kind == spec::NodeSpec::Kind::kSwitch;
    for (const spec::NicSpec& nic : n.nics) r.attached_nics += !std::holds_alternative<std::monostate>(nic.attach);
  }
  r.links = static_cast<int>(lab.spec().links.size() - spec::reducers(lab.spec()).size());
  for (const build::Flow& f : lab.flows())
    ++(f.is_roce() ? r.roce_flows : f.is_uet() ? r.uet_flows : r.generator_flows);
  return r;
}

// How much of the time until `time` the port was sending.
double utilisation(const PortCounters& c, std::int64_t rate_bps, Framing framing, Duration time) {
  if (rate_bps <= 0 || time <= Duration{}) return 0;
  // A negative preamble makes it less than the frames.
  const std::uint64_t octets = c.tx_octets() + c.tx_packets() * static_cast<std::uint64_t>(framing.around()) +
                               (c.tx_control - c.credit_messages_sent) * framing.slot(kLeastFrameOctets) +
                               c.credit_octets_sent;
  // A frame counts when it begins, and a NIC's clock may be a little fast: never more than all.
  return std::min(1.0, static_cast<double>(octets) * 8 / (static_cast<double>(rate_bps) * seconds(time)));
}

// What the PCI Express slot of a built-in NIC carries, if it is less than its link. 0: as much, or not known.
std::int64_t slot_bps(const build::BuiltLab& lab, DeviceId device, std::size_t port) {
  const spec::NodeSpec& node = lab.node_of(device);
  if (node.kind != spec::NodeSpec::Kind::kHost || port >= node.nics.size()) return 0;
  if (!std::holds_alternative<std::monostate>(node.nics[port].attach)) return 0;
  const auto slot = spec::pcie_rate(lab.spec(), node);
  return slot && slot->bps < lab.rate({device, PortIndex{static_cast<std::uint16_t>(port)}}).bps ? slot->bps : 0;
}

}  // namespace

// Hosts that are made of capture files: what came out of the file, what went into the other, what was left out.
std::vector<AttachmentReport> replayed_captures(const build::BuiltLab& lab) {
  std::vector<AttachmentReport> all;
  for (std::size_t i = 0; i < lab.pcaps().size(); ++i) {
    const PcapEndpoint& pcap = *lab.pcaps()[i];
    const PcapEndpointCounters& c = pcap.counters();
    const auto& [nic, in, out] = lab.pcap_nics()[i];
    AttachmentReport& a = all.emplace_back();
    a.node = nic.node;
    a.nic = nic.port;
    a.device = in.empty() ? "pcap to " + out : out.empty() ? "pcap " + in : "pcap " + in + " to " + out;
    a.received = c.sent;
    a.sent = c.received;
    a.is_capture = true;
    a.pfc_sent = c.control;
    for (const auto& [why, frames] : {std::pair{"malformed", c.malformed},
                                      {"long_headers", c.long_headers},
                                      {"not_pfc", c.not_pfc},
                                      {"run_ended", pcap.not_yet_sent()}})
      if (frames > 0) a.left_out[why] = frames;
  }
  return all;
}

void add_port_watch(const telemetry::PortWatch& watch, std::vector<PortReport>& ports) {
  for (std::size_t i = 0; i < std::min(ports.size(), watch.size()); ++i) ports[i].polled = watch.seen(i);
}

Report collect(build::BuiltLab& lab, const Snapshot& loaded, Instant now, const Snapshot& warm) {
  Report r;
  std::vector<DeviceCounters> devices;
  for (const auto& d : lab.fabric().devices()) devices.push_back(d->counters());
  now = std::max(now, now_of(lab));
  std::unordered_map<std::uint64_t, std::uint64_t> in_flight;  // by flow
  lab.fabric().for_each_packet([&](const Packet& p) {
    if (p.copied == 0) ++in_flight[p.stream];
  });
  routing::PathTimes times(lab.spec());
  Histogram latency;
  for (const build::Flow& f : lab.flows()) {
    const auto found = in_flight.find(f.plan.id);
    r.flows.push_back(flow_report(lab, f, found == in_flight.end() ? 0 : found->second, now));
    add_limits(lab, f.plan, f.total, f.rate, times, r.flows.back());
    latency.merge(f.received().latency);
  }
  r.lab = lab_report(lab);
  r.budgets = lab.spec().run.budgets;
  r.latency_samples = latency.count();
  r.latency_ns = Percentiles::of(latency);
  r.traffic = traffic_reports(lab.spec(), lab.flows(), r.flows);

  for (const build::Collective& c : lab.collectives()) r.collectives.push_back(collective_report(lab, c));

  r.uet_nics = uet_nic_reports(lab);
  r.service_nics = service_nic_reports(lab);
  r.rpings = rping_reports(lab);
  const auto add_ranks = [&](const auto& nics) {
    for (const auto& [name, endpoint] : nics)
      if (endpoint->rank_latency().count() > 0)
        r.rank_latency.push_back({nic_name(lab, name), Percentiles::of(endpoint->rank_latency())});
  };
  add_ranks(lab.roce_nics());
  add_ranks(lab.uet_nics());
  r.attachments = replayed_captures(lab);

  const Duration load = loaded.empty() ? now - Instant{} : loaded.front().at - Instant{};
  r.load.to_ns = nanoseconds(load);
  r.steady_pauses = steady_pauses(warm, loaded.empty() ? devices : loaded, [&](std::size_t d, std::size_t p) {
    return lab.peer_name({DeviceId{static_cast<std::uint32_t>(d)}, PortIndex{static_cast<std::uint16_t>(p)}});
  });
  r.audit = audit(lab, devices);
  // Counters of a large lab take much memory: those of ports are moved into the report.
  std::size_t ports = 0;
  for (const DeviceCounters& c : devices) ports += c.ports.size();
  r.ports.reserve(ports);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceId id{static_cast<std::uint32_t>(d)};
    DeviceCounters& c = devices[d];
    if (lab.is_switch(id))
      r.peak_buffer_bytes =
          std::max(r.peak_buffer_bytes,
                   c.max_shared_cells *
                       static_cast<std::uint64_t>(lab.spec().switches.at(lab.spec().find(c.name)->profile).cell.n));
    std::ranges::move(path_groups(lab, id, c), std::back_inserter(r.path_groups));
    for (std::size_t p = 0; p < c.ports.size(); ++p) {
      const PortRef ref{id, PortIndex{static_cast<std::uint16_t>(p)}};
      PortReport port;
      port.node = c.name;
      port.port = static_cast<int>(p) + 1;
      port.peer = lab.peer_name(ref);
      port.is_switch = lab.is_switch(id);
      port.rate_bps = lab.rate(ref).bps;
      port.slot_bps = slot_bps(lab, id, p);
      port.propagation = lab.delay(ref);
      port.counters = std::move(c.ports[p]);
      const PortCounters& under_load = loaded.empty() ? port.counters : loaded[d].ports[p];
      port.utilisation = utilisation(under_load, port.rate_bps, lab.framing(ref), load);
      for (std::size_t k = 0; k < kPriorities && load > Duration{}; ++k) {
        port.pause_share[k] = std::min(1.0, seconds(under_load.classes[k].paused) / seconds(load));
        port.stall_share[k] = std::min(1.0, seconds(under_load.classes[k].stalled) / seconds(load));
      }
      if (port.is_switch) r.engine.packet_hops += port.counters.tx_packets();
      r.ports.push_back(std::move(port));
    }
  }
  add_path_links(lab, r);
  r.link_tiers = link_tiers(lab, r.ports);
  r.bundles = bundle_reports(lab, r.ports);
  r.thresholds = effective_thresholds(lab.spec());
  r.lossless_drops = lossless_drops(lab, r.ports);
  return r;
}

}  // namespace railyard::report
