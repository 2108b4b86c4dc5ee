#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>

#include "control/report/framing.h"
#include "control/report/nic_name.h"
#include "control/routing/path_times.h"
#include "control/report/report.h"
#include "dataplane/packet/packet.h"

namespace railyard::report {
namespace {

std::string_view word(roce::FlowOperation operation) {
  switch (operation) {
    case roce::FlowOperation::kWrite:
      return "write";
    case roce::FlowOperation::kSend:
      return "send";
    case roce::FlowOperation::kRead:
      return "read";
  }
  return "";
}

RoceReport roce_report(const build::Flow& flow) {
  const roce::QpCounters q = flow.qps();
  const roce::MessageCounters& m = flow.messages();
  RoceReport r;
  r.operation = word(flow.roce_config().operation);
  r.qps = static_cast<int>(flow.roce_config().qps);
  r.messages = m.completed;
  r.verified = flow.verified();
  r.message_ns = Percentiles::of(m.latency);
  r.discarded = flow.received().discarded;
  r.retransmitted_packets = q.retransmitted_packets;
  r.out_of_sequence = q.out_of_sequence;
  r.packet_seq_err = q.packet_seq_err;
  r.implied_nak_seq_err = q.implied_nak_seq_err;
  r.duplicate_request = q.duplicate_request;
  r.out_of_buffer = q.out_of_buffer;
  r.rnr_nak_received = q.rnr_nak_received;
  r.local_ack_timeout_err = q.local_ack_timeout_err;
  r.ecn_marked = q.np_ecn_marked_roce_packets;
  r.cnp_sent = q.np_cnp_sent;
  r.cnp_handled = q.rp_cnp_handled;
  r.cnp_ignored = q.rp_cnp_ignored;
  r.completion_errors = m.errors;
  if (m.errors > 0) {
    r.status = roce::name(m.status);
    r.failed_ns = nanoseconds(m.failed_at - Instant{});
  }
  return r;
}

FlowReport flow_report(const build::BuiltLab& lab, const build::Flow& flow, std::uint64_t in_flight) {
  const TxFlowCounters tx = flow.sent();
  const RxFlowCounters& rx = flow.received();
  FlowReport r;
  r.name = flow.plan.name;
  r.source = nic_name(lab, flow.plan.source);
  r.destination = nic_name(lab, flow.plan.destination);
  r.priority = flow.priority.value;
  r.bytes = tx.payload_octets;
  r.packets = tx.packets;
  r.delivered_bytes = rx.payload_octets;
  r.delivered_packets = rx.packets - rx.duplicated - rx.discarded;
  r.measured = flow.measured();
  r.in_flight = in_flight;
  r.trimmed = rx.trimmed;
  if (r.measured)
    r.lost = r.packets - std::min(r.packets, r.delivered_packets + rx.discarded + r.trimmed + r.in_flight);
  r.reordered = rx.reordered;
  r.duplicated = rx.duplicated;
  r.corrupted = rx.corrupted;
  r.marked = rx.marked;
  r.start_ns = nanoseconds(flow.start - Instant{});
  if (rx.packets > 0 && rx.last > tx.first)
    r.goodput_bps = static_cast<double>(rx.payload_octets) * 8 / seconds(rx.last - tx.first);
  if (const auto complete = flow.complete()) r.fct_ns = nanoseconds(*complete - flow.start);
  r.latency_ns = Percentiles::of(rx.latency);
  r.traffic = flow.plan.traffic;
  if (flow.is_roce()) r.roce = roce_report(flow);
  if (flow.is_uet()) r.uet = uet_report(flow);
  return r;
}

// What a flow could reach on an empty fabric.
void add_limits(const build::BuiltLab& lab, const build::Flow& flow, routing::PathTimes& times, FlowReport& r) {
  const spec::TrafficSpec& t = lab.spec().traffic[flow.plan.traffic];
  const auto& hosts = lab.spec().hosts;
  const bool selective =
      flow.is_roce() && hosts.at(lab.spec().find(flow.plan.source.node)->profile).roce.loss_recovery ==
                            spec::RoceLossRecovery::kSelectiveRepeat;
  BitRate rate = std::min(times.rate(flow.plan.source), times.rate(flow.plan.destination));
  if (flow.rate.bps > 0) rate = std::min(rate, flow.rate);
  r.limit_bps = static_cast<double>(rate.bps) * framing_efficiency(t, flow.total, selective);
  if (flow.total.n == 0 || rate.bps <= 0) return;
  const int frame = last_frame_octets(t, flow.total, selective);
  const auto there = times.one_way(flow.plan.source, flow.plan.destination, frame);
  if (!there) return;
  // The last frame's own time is in what all of them take, and in the way of the last.
  constexpr auto kAround = static_cast<int>(kPreambleOctets + kGapOctets);
  double ps = static_cast<double>(flow.total.n) * 8e12 / r.limit_bps + static_cast<double>(there->ps) -
              static_cast<double>(frame + kAround) * 8e12 / static_cast<double>(times.rate(flow.plan.source).bps);
  // Complete where it was asked for: the acknowledgement of a WRITE or SEND comes back, the request of a READ goes.
  if (t.has_messages() && t.service != spec::UetService::kUud)
    if (const auto back = times.one_way(flow.plan.destination, flow.plan.source, kLeastFrameOctets))
      ps += static_cast<double>(back->ps);
  r.ideal_ns = static_cast<std::int64_t>(ps / 1000);
}

bool is_for_room(DropReason reason) {
  switch (reason) {
    case DropReason::kIngressFull:
    case DropReason::kHeadroomFull:
    case DropReason::kEgressFull:
    case DropReason::kWred:
    case DropReason::kTrimQueueFull:
    case DropReason::kNicReceiveFull:
      return true;
    default:
      return false;
  }
}

std::optional<LosslessDrops> lossless_drops(const spec::Lab& lab, const std::vector<PortReport>& ports) {
  std::optional<LosslessDrops> sum;
  for (const PortReport& p : ports) {
    if (!p.is_switch) continue;
    const spec::QosProfile& qos = lab.qos.at(lab.switches.at(lab.find(p.node)->profile).qos);
    for (std::size_t k = 0; k < kPriorities; ++k) {
      if (!qos.classes[k].lossless) continue;
      if (!sum) sum.emplace();
      for (std::size_t reason = 0; reason < kDropReasons; ++reason)
        (is_for_room(static_cast<DropReason>(reason)) ? sum->for_room : sum->otherwise) +=
            p.counters.classes[k].drops[reason];
    }
  }
  return sum;
}

LabReport lab_report(const build::BuiltLab& lab) {
  LabReport r;
  for (const spec::NodeSpec& n : lab.spec().nodes) {
    r.hosts += n.kind == spec::NodeSpec::Kind::kHost;
    r.switches += n.kind == spec::NodeSpec::Kind::kSwitch;
    for (const spec::NicSpec& nic : n.nics) r.attached_nics += !std::holds_alternative<std::monostate>(nic.attach);
  }
  r.links = static_cast<int>(lab.spec().links.size());
  for (const build::Flow& f : lab.flows())
    ++(f.is_roce() ? r.roce_flows : f.is_uet() ? r.uet_flows : r.generator_flows);
  return r;
}

// How much of the time until `time` the port was sending.
double utilisation(const PortCounters& c, std::int64_t rate_bps, Duration time) {
  if (rate_bps <= 0 || time <= Duration{}) return 0;
  constexpr std::uint64_t kOverhead = kPreambleOctets + kGapOctets;
  const std::uint64_t octets =
      c.tx_octets() + c.tx_packets() * kOverhead + c.tx_control * (kLeastFrameOctets + kOverhead);
  return static_cast<double>(octets) * 8 / (static_cast<double>(rate_bps) * seconds(time));
}

}  // namespace

std::optional<double> FlowReport::share() const {
  if (limit_bps <= 0 || goodput_bps <= 0 || !measured) return std::nullopt;
  return goodput_bps / limit_bps;
}

std::optional<double> FlowReport::slowdown() const {
  if (!fct_ns || !ideal_ns || *ideal_ns <= 0) return std::nullopt;
  return static_cast<double>(*fct_ns) / static_cast<double>(*ideal_ns);
}

Report collect(build::BuiltLab& lab, const Snapshot& loaded) {
  Report r;
  std::unordered_map<std::uint64_t, std::uint64_t> in_flight;  // by flow
  lab.fabric().for_each_packet([&](const Packet& p) { ++in_flight[p.stream]; });
  routing::PathTimes times(lab.spec());
  Histogram latency;
  for (const build::Flow& f : lab.flows()) {
    const auto found = in_flight.find(f.plan.id);
    r.flows.push_back(flow_report(lab, f, found == in_flight.end() ? 0 : found->second));
    add_limits(lab, f, times, r.flows.back());
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

  std::vector<DeviceCounters> devices;
  for (const auto& d : lab.fabric().devices()) devices.push_back(d->counters());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceId id{static_cast<std::uint32_t>(d)};
    const DeviceCounters& c = devices[d];
    std::ranges::move(path_groups(lab, id, c), std::back_inserter(r.path_groups));
    for (std::size_t p = 0; p < c.ports.size(); ++p) {
      const PortRef ref{id, PortIndex{static_cast<std::uint16_t>(p)}};
      PortReport port;
      port.node = c.name;
      port.port = static_cast<int>(p) + 1;
      port.peer = lab.peer_name(ref);
      port.is_switch = lab.is_switch(id);
      port.rate_bps = lab.rate(ref).bps;
      port.counters = c.ports[p];
      const DeviceCounters& under_load = loaded.empty() ? c : loaded[d];
      port.utilisation = utilisation(under_load.ports[p], port.rate_bps, under_load.at - Instant{});
      if (port.is_switch) r.engine.packet_hops += c.ports[p].tx_packets();
      r.ports.push_back(std::move(port));
    }
  }
  r.link_tiers = link_tiers(lab, r.ports);
  r.lossless_drops = lossless_drops(lab.spec(), r.ports);
  r.audit = audit(lab, devices);
  return r;
}

}  // namespace railyard::report
