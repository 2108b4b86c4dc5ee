#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "control/report/report.h"
#include "dataplane/packet/packet.h"

namespace railyard::report {
namespace {

std::string nic_name(const build::BuiltLab& lab, const spec::PortName& p) {
  return lab.spec().find(p.node)->nics.size() == 1 ? p.node : fmt::format("{}:{}", p.node, p.port);
}

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
  if (flow.is_roce()) r.roce = roce_report(flow);
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

Percentiles Percentiles::of(const Histogram& h) {
  return {h.percentile(0.5) / 1000,   h.percentile(0.9) / 1000,    h.percentile(0.99) / 1000,
          h.percentile(0.999) / 1000, h.percentile(0.9999) / 1000, h.max() / 1000};
}

Report collect(build::BuiltLab& lab, const Snapshot& loaded) {
  Report r;
  std::unordered_map<std::uint64_t, std::uint64_t> in_flight;  // by flow
  lab.fabric().for_each_packet([&](const Packet& p) { ++in_flight[p.stream]; });
  for (const build::Flow& f : lab.flows()) {
    const auto found = in_flight.find(f.plan.id);
    r.flows.push_back(flow_report(lab, f, found == in_flight.end() ? 0 : found->second));
  }

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
  r.audit = audit(lab, devices);
  return r;
}

}  // namespace railyard::report
