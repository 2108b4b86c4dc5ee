#include "control/report/flow_report.h"

#include <algorithm>
#include <cmath>

#include "control/build/device_settings.h"
#include "control/report/framing.h"
#include "control/report/nic_name.h"
#include "control/report/uet_report.h"
#include "control/spec/frame_tags.h"
#include "control/spec/pcie.h"
#include "dataplane/packet/packet.h"

namespace railyard::report {

std::string_view word(FlowOperation operation) {
  switch (operation) {
    case FlowOperation::kWrite:
      return "write";
    case FlowOperation::kSend:
      return "send";
    case FlowOperation::kRead:
      return "read";
  }
  return "";
}

void set_counters(RoceReport& r, const roce::QpCounters& q) {
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
}

namespace {

RoceReport roce_report(const build::Flow& flow) {
  const roce::MessageCounters& m = flow.messages();
  RoceReport r;
  r.operation = word(flow.roce_config().operation);
  r.qp_type = flow.is_uc() ? "uc" : "rc";
  r.qps = static_cast<int>(flow.roce_config().qps);
  r.messages = m.completed;
  r.verified = flow.verified();
  r.message_ns = Percentiles::of(m.latency);
  r.discarded = flow.received().discarded;
  set_counters(r, flow.qps());
  r.completion_errors = m.errors;
  if (m.errors > 0) {
    r.status = roce::name(m.status);
    r.failed_ns = nanoseconds(m.failed_at - Instant{});
  }
  return r;
}

// Of the last packets of all QPs or PDCs together; `total`: 0, the flow has no end.
std::uint64_t last_octets(const spec::TrafficSpec& t, Bytes total) {
  if (!t.has_messages()) return t.payload;
  const auto last_packet_of = [&](std::uint64_t message) {
    const auto mtu = static_cast<std::uint64_t>(t.roce.path_mtu);
    return message % mtu != 0 ? message % mtu : mtu;
  };
  const auto qps = static_cast<std::uint64_t>(t.roce.qps);
  const std::uint64_t rest = static_cast<std::uint64_t>(total.n) % t.roce.message;
  const std::uint64_t whole = last_packet_of(t.roce.message);
  return whole * (qps - 1) + (rest != 0 ? last_packet_of(rest) : whole);
}

// READs: one request per message, and those that are retransmitted.
std::uint64_t requester_packets(const build::Flow& flow) {
  if (flow.is_roce() && !flow.roce_config().asks(true))
    return flow.messages().posted + flow.qps().retransmitted_packets;
  return flow.is_generated() ? 0 : flow.sent().packets;
}

// When the flow failed for good; never: it has not.
Instant failed_at(const build::Flow& flow) {
  if (flow.is_roce()) return flow.messages().errors > 0 ? flow.messages().failed_at : Instant::never();
  if (flow.is_uet()) return flow.uet->messages().errors > 0 ? flow.uet->messages().failed_at : Instant::never();
  return Instant::never();
}

// The rate at which payload came while it came. Half of the first packet is left out: the interval begins when it is
// there already.
double arrival_bps(const build::Flow& flow, const spec::TrafficSpec& t, Instant end, const FlowReport& r) {
  const RxFlowCounters& rx = flow.received();
  if (r.fct_ns) {
    // Packets are as far apart as the first of two takes: the time of the last one of each QP or PDC is not in it.
    if (rx.packets < 2 || rx.last <= rx.first) return 0;
    const auto last = static_cast<double>(last_octets(t, flow.total));
    return std::max(0.0, static_cast<double>(rx.payload_octets) - last) * 8 / seconds(rx.last - rx.first);
  }
  if (rx.packets == 0 || end <= rx.first) return 0;
  const double packet =
      static_cast<double>(rx.payload_octets) / static_cast<double>(std::max<std::uint64_t>(1, r.delivered_packets));
  return std::max(0.0, static_cast<double>(r.goodput_bytes) - packet / 2) * 8 / seconds(end - rx.first);
}

}  // namespace

Instant now_of(const build::BuiltLab& lab) {
  Instant now{};
  for (const auto& device : lab.fabric().devices()) now = std::max(now, device->done());
  return now;
}

void set_goodput(const GoodputInterval& of, FlowReport& r) {
  r.goodput_bytes = of.octets;
  r.goodput_ns = std::max<std::int64_t>(0, nanoseconds(of.end - of.start));
}

FlowReport flow_report(const build::BuiltLab& lab, const build::Flow& flow, std::uint64_t in_flight, Instant now) {
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
  r.delivered_packets = rx.packets - (flow.is_generated() ? rx.duplicated : rx.discarded);
  r.measured = flow.measured();
  r.asked_bytes = static_cast<std::uint64_t>(flow.total.n);
  r.in_flight = in_flight;
  r.trimmed = rx.trimmed;
  if (r.measured) r.lost = r.packets - std::min(r.packets, rx.packets - rx.duplicated + r.trimmed + r.in_flight);
  r.reordered = rx.reordered;
  r.duplicated = rx.duplicated;
  r.corrupted = rx.corrupted;
  r.marked = rx.marked;
  const Instant start = flow.started();
  if (start == Instant::never())
    r.waits_for = lab.triggers()->waits_for(static_cast<std::size_t>(&flow - lab.flows().data()));
  else
    r.start_ns = nanoseconds(start - Instant{});
  r.arrived_packets = rx.packets;
  r.requester_packets = requester_packets(flow);
  if (rx.packets > 0) {
    r.first_packet_ns = nanoseconds(rx.first - start);
    r.last_packet_ns = nanoseconds(rx.last - start);
    if (rx.payload_octets > rx.late_octets) r.last_delivered_ns = nanoseconds(rx.taken - start);
  }
  Instant end = std::min(flow.stop, now);
  std::uint64_t in_time = rx.payload_octets - rx.late_octets;
  if (const auto complete = flow.complete()) {
    r.fct_ns = nanoseconds(*complete - start);
    end = *complete;
    in_time = r.asked_bytes;
  } else if (const Instant failed = failed_at(flow); r.asked_bytes > 0 && failed < end) {
    end = std::min(end, std::max(failed, rx.last));
  }
  if (r.measured) {
    set_goodput({start, end, in_time}, r);
    r.arrival_bps = arrival_bps(flow, lab.spec().traffic[flow.plan.traffic], end, r);
  }
  r.was_offered = start == Instant::never() || start < flow.stop;
  const bool unanswered = flow.is_uc() || (flow.is_uet() && flow.uet->config().mode == uet::DeliveryMode::kUud);
  r.ended_with_loss =
      unanswered && r.asked_bytes > 0 && !r.fct_ns && r.bytes >= r.asked_bytes && r.in_flight == 0 && r.lost > 0;
  r.latency_ns = Percentiles::of(rx.latency);
  r.least_latency_ns = rx.latency.min() / 1000;
  r.traffic = flow.plan.traffic;
  if (flow.is_roce()) r.roce = roce_report(flow);
  if (flow.is_uet()) r.uet = uet_report(flow);
  return r;
}

// Of `time` from its start the part in which a flow may send; of no time: of a period.
double share_of_on(const spec::TrafficSpec& t, Duration time) {
  if (t.on <= Duration{} || t.off <= Duration{}) return 1;
  const Duration period = t.on + t.off;
  if (time <= Duration{}) return static_cast<double>(t.on.ps) / static_cast<double>(period.ps);
  const Duration rest = time - period * (time / period);
  const Duration on = t.on * (time / period) + std::min(rest, t.on);
  return static_cast<double>(on.ps) / static_cast<double>(time.ps);
}

namespace {

// What PCI Express carries are the octets of frames, with nothing around them.
constexpr Framing kBusFraming{.preamble = 0, .gap = 0};

// What a NIC's frames go over if that is slower than links: its slot, or an uplink that others want as well.
std::optional<BitRate> bus_rate(const spec::Lab& lab, const spec::PortName& nic, const routing::PathTimes& times) {
  const spec::NodeSpec& host = *lab.find(nic.node);
  const auto rate = spec::pcie_rate(lab, host);
  if (!rate || *rate < times.rate(nic)) return rate;
  for (const spec::PcieGroup& group : spec::pcie_groups(lab, host)) {
    if (std::ranges::find(group.nics, nic.port) == group.nics.end()) continue;
    std::int64_t links = 0;
    for (const int n : group.nics) links += times.rate({nic.node, n}).bps;
    if (links > group.uplink.bps) return rate;
  }
  return std::nullopt;
}

double picoseconds(std::uint32_t octets, double bps) { return static_cast<double>(octets) * 8e12 / bps; }

}  // namespace

void add_limits(const build::BuiltLab& lab, const workload::FlowPlan& plan, Bytes total, BitRate own_rate,
                routing::PathTimes& times, FlowReport& r) {
  const spec::TrafficSpec& t = lab.spec().traffic[plan.traffic];
  const auto& hosts = lab.spec().hosts;
  const spec::HostProfile& sender = hosts.at(lab.spec().find(plan.source.node)->profile);
  const bool selective =
      t.is_roce() && !t.is_uc() && sender.roce.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat;
  BitRate rate = std::min(times.rate(plan.source), times.rate(plan.destination));
  if (own_rate.bps > 0) rate = std::min(rate, own_rate);
  const bool tagged = spec::tag_of(lab.spec(), plan.source, t).has_value();
  const Framing framing = tagged ? build::with_tag(times.framing(plan.source)) : times.framing(plan.source);
  const double efficiency = framing_efficiency(t, total, selective, sender.uet, framing);
  double burst_bps = static_cast<double>(rate.bps) * efficiency;
  // As of links, it is what there is for the flow alone: others of the same NIC and of the same uplink do not count.
  const auto sends = bus_rate(lab.spec(), plan.source, times);
  const auto receives = bus_rate(lab.spec(), plan.destination, times);
  double slowest_bus = 0;  // bit/s, if one is the limit
  for (const auto& bus : {sends, receives}) {
    if (!bus) continue;
    const Framing around = tagged ? build::with_tag(kBusFraming) : kBusFraming;
    const double bps = static_cast<double>(bus->bps) * framing_efficiency(t, total, selective, sender.uet, around);
    if (bps >= burst_bps) continue;
    burst_bps = bps;
    slowest_bus = static_cast<double>(bus->bps);
  }
  const double on = share_of_on(t, Duration{r.goodput_ns * 1000});
  r.limit_bps = burst_bps * on;
  r.offered_bps = static_cast<double>(own_rate.bps) * efficiency * on;
  if (t.is_roce() && !t.is_rping()) {
    const int mad = cm_frame_octets(t);
    const auto there = times.one_way(plan.source, plan.destination, mad);
    const auto back = times.one_way(plan.destination, plan.source, mad);
    if (there && back) r.handshake_ns = nanoseconds(*there + *back);
  }
  if (total.n == 0 || rate.bps <= 0) return;
  const int frame = last_frame_octets(t, total, selective, sender.uet) + (tagged ? int{wire::Vlan::kOctets} : 0);
  const auto there = times.one_way(plan.source, plan.destination, frame);
  if (!there) return;
  // The last frame's own time is in what all of them take, and in the way of the last.
  const auto octets = static_cast<std::uint32_t>(frame);
  const double own = slowest_bus > 0 ? picoseconds(octets, slowest_bus)
                                     : picoseconds(times.framing(plan.source).slot(octets),
                                                   static_cast<double>(times.rate(plan.source).bps));
  const double sending = static_cast<double>(total.n) * 8e12 / burst_bps;
  const double silences = t.on > Duration{} ? std::max(0.0, std::ceil(sending / static_cast<double>(t.on.ps)) - 1) : 0;
  double ps = sending + silences * static_cast<double>(t.off.ps) + static_cast<double>(there->ps) - own;
  // It is stored before it goes over the bus at its end.
  if (receives) ps += picoseconds(octets, static_cast<double>(receives->bps));
  // Complete where it was asked for: the acknowledgement of a WRITE or SEND comes back, the request of a READ goes.
  const bool answered = t.has_messages() && !t.is_uc() && t.service != spec::UetService::kUud;
  if (answered)
    if (const auto back = times.one_way(plan.destination, plan.source, kLeastFrameOctets))
      ps += static_cast<double>(back->ps);
  r.ideal_ns = static_cast<std::int64_t>(ps / 1000);
}

void add_limits(const build::BuiltLab& lab, const workload::FlowPlan& plan, Bytes total, BitRate own_rate,
                FlowReport& r) {
  routing::PathTimes times(lab.spec());
  add_limits(lab, plan, total, own_rate, times, r);
}

std::optional<double> FlowReport::goodput_bps() const {
  if (goodput_ns <= 0) return std::nullopt;
  return static_cast<double>(goodput_bytes) * 8e9 / static_cast<double>(goodput_ns);
}

// A NIC's clock may be fast by what Ethernet allows, and limits are of nominal rates.
std::optional<double> FlowReport::share() const {
  const auto goodput = goodput_bps();
  if (limit_bps <= 0 || !goodput) return std::nullopt;
  return std::min(1.0, *goodput / limit_bps);
}

std::optional<double> FlowReport::ce_share() const {
  if (arrived_packets == 0) return std::nullopt;
  return static_cast<double>(marked) / static_cast<double>(arrived_packets);
}

std::optional<double> FlowReport::retransmission_share() const {
  if (requester_packets == 0) return std::nullopt;
  return static_cast<double>(retransmitted()) / static_cast<double>(requester_packets);
}

std::pair<double, double> FlowReport::asked_and_delivered() const {
  if (asked_bytes > 0)
    return {static_cast<double>(asked_bytes), static_cast<double>(std::min(asked_bytes, delivered_bytes))};
  const double asked = limit_bps * static_cast<double>(goodput_ns) / 8e9;
  return {asked, std::min(asked, static_cast<double>(goodput_bytes))};
}

void GoodputSum::add(const FlowReport& flow) {
  if (flow.goodput_ns <= 0) return;
  bytes += flow.goodput_bytes;
  first_ns = std::min(first_ns.value_or(flow.start_ns), flow.start_ns);
  last_ns = std::max(last_ns.value_or(0), flow.start_ns + flow.goodput_ns);
}

std::optional<double> GoodputSum::bps() const {
  if (ns() <= 0) return std::nullopt;
  return static_cast<double>(bytes) * 8e9 / static_cast<double>(ns());
}

std::optional<std::int64_t> FlowReport::initiation_ns() const {
  if (!first_packet_ns || (!roce && !uet)) return std::nullopt;
  return *first_packet_ns + handshake_ns.value_or(0);
}

std::optional<double> FlowReport::slowdown() const {
  if (!fct_ns || !ideal_ns || *ideal_ns <= 0) return std::nullopt;
  return static_cast<double>(*fct_ns) / static_cast<double>(*ideal_ns);
}

}  // namespace railyard::report
