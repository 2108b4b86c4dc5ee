#include "control/hunt/damage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "control/estimate/flow_network.h"
#include "control/hunt/fluid.h"
#include "control/report/compare.h"
#include "control/spec/fault_match.h"
#include "control/spec/select.h"
#include "control/spec/value.h"

namespace railyard::hunt {
namespace {

using HuntJson = nlohmann::ordered_json;

constexpr double kSignsWeight = 0.05;

double number(const HuntJson& j, const char* key, double otherwise) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? found->get<double>() : otherwise;
}

bool touches(const spec::FaultPlace& place, const spec::PortName& port) {
  return spec::matches(place.node, port.node) && (place.port == 0 || place.port == port.port);
}

// The fabric that is left of a lab under its faults.
struct Degraded {
  spec::Lab lab;
  std::set<spec::PortName> cut_off;  // NICs

  explicit Degraded(const spec::Lab& of) : lab(of) {
    for (const spec::FaultSpec& f : of.faults)
      for (const spec::FaultPlace& place : f.on) take(f, place);
  }

 private:
  void take(const spec::FaultSpec& f, const spec::FaultPlace& place) {
    const auto slow_down = [&](double share) {
      for (spec::LinkSpec& l : lab.links)
        if (touches(place, l.a) || touches(place, l.b))
          l.rate.bps = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(l.rate.bps) * share));
    };
    const auto share_of = [](Ratio r) { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); };
    if (const auto* rate = std::get_if<spec::fault::Rate>(&f.action)) slow_down(share_of(rate->share));
    if (const auto* straggle = std::get_if<spec::fault::Straggle>(&f.action)) slow_down(share_of(straggle->share));
    if (const auto* receive = std::get_if<spec::fault::SlowReceiver>(&f.action))
      for (spec::LinkSpec& l : lab.links)
        if (touches(place, l.a) || touches(place, l.b)) l.rate = std::min(l.rate, receive->rate);
    if (std::holds_alternative<spec::fault::Down>(f.action) || std::holds_alternative<spec::fault::Flap>(f.action))
      std::erase_if(lab.links, [&](const spec::LinkSpec& l) { return touches(place, l.a) || touches(place, l.b); });
    if (std::holds_alternative<spec::fault::PfcStorm>(f.action))
      for (const spec::LinkSpec& l : lab.links)
        for (const spec::PortName& end : {l.a, l.b})
          if (touches(place, end)) cut_off.insert(end);
  }
};

// Octets on the wire per octet of payload: headers, FCS, preamble and gap of RoCEv2 and UET over IPv4, about 82 a
// packet.
double wire_factor(const spec::TrafficSpec& t) {
  constexpr double kPerPacket = 82;
  const double payload = std::min(static_cast<double>(t.roce.path_mtu), static_cast<double>(t.roce.message));
  return (payload + kPerPacket) / std::max(payload, 1.0);
}

// The most that a flow's work requests let through, octets of payload a nanosecond: `latency_ns` passes until the first octet
// of a message has come, and as much until its ACK is back.
double window_rate(const spec::TrafficSpec& t, double limit_bps, double latency_ns) {
  const double message = t.roce.message;
  const double round_ns = message * 8e9 / limit_bps + 2 * latency_ns;
  return t.roce.qps * t.roce.outstanding * message / std::max(round_ns, 1.0);
}

const spec::TrafficSpec* traffic_of(const spec::Lab& lab, const std::string& flow) {
  const auto found = std::ranges::find(lab.traffic, flow.substr(0, flow.find('/')), &spec::TrafficSpec::name);
  return found == lab.traffic.end() ? nullptr : &*found;
}

// As reports name them: "h1" of a host with one NIC, "h1:2" of others.
spec::PortName nic_of(const std::string& name) {
  const auto port = spec::parse_port_name(name);
  return port ? *port : spec::PortName{name, 1};
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

double largest_pause(const HuntJson& report) {
  double most = 0;
  for (const auto& port : report["ports"])
    for (const auto& c : port["classes"]) most = std::max(most, number(c, "pause_share", 0));
  return most;
}

std::map<std::string, double> signs_of(const HuntJson& report) {
  const auto figure = [&](const char* name) { return report::figure_of(report, name).value_or(0); };
  double packets = 1, marked = 0;
  for (const auto& f : report["flows"]) {
    packets += number(f, "packets", 0);
    marked += number(f, "marked", 0);
  }
  const auto share = [&](double part) { return std::min(1.0, part / packets); };
  return {{"paused", std::min(1.0, largest_pause(report))},
          {"dropped", share(figure("drops"))},
          {"retransmitted", share(figure("retransmitted"))},
          {"marked", share(marked)},
          {"out of order", share(figure("out_of_order"))}};
}

}  // namespace

const std::vector<HurtWord>& hurt_words() {
  static const std::vector<HurtWord> words{
      {"goodput", Hurt::kGoodput, "goodput of the flows, against what the fabric could give them"},
      {"p99", Hurt::kP99, "flow completion times, 99th percentile, against their fair share"},
      {"jct", Hurt::kJct, "completion of the last flow, against that of fair sharing"},
      {"pause", Hurt::kPause, "time for which PFC pauses a class of a port"},
  };
  return words;
}

std::vector<FlowDamage> flow_damages(const spec::Lab& lab, const HuntJson& report) {
  const Degraded degraded(lab);
  estimate::FlowNetwork network(degraded.lab);
  std::vector<FlowDamage> out;
  std::vector<FluidFlow> fluid;
  const double end_ns = lab.run.duration ? static_cast<double>(lab.run.duration->ps) / 1e3 : 0;
  for (const auto& f : report["flows"]) {
    const auto name = f["name"].get<std::string>();
    const spec::TrafficSpec* const traffic = traffic_of(lab, name);
    const double alone = number(f, "ideal_ns", 0);
    const spec::PortName from = nic_of(f["src"]), to = nic_of(f["dst"]);
    if (!traffic || alone <= 0 || degraded.cut_off.contains(to) || degraded.cut_off.contains(from)) continue;
    const std::vector<estimate::LinkUse>& path = network.path(from, to, true, 0);
    if (path.empty()) continue;
    FlowDamage d{name, static_cast<double>(traffic->bytes.n), number(f, "start_ns", 0), number(f, "fct_ns", 0), alone};
    d.complete = f["fct_ns"].is_number();
    if (!d.complete) d.fct_ns = std::max(end_ns - d.start_ns, alone);
    const double limit = number(f, "limit_bps", 0);
    // What is not rate is latency: it is there however the links are shared.
    d.ideal_ns = limit > 0 ? std::max(0.0, alone - d.octets * 8e9 / limit) : 0;
    double most = d.octets / alone;
    if (traffic->has_messages() && limit > 0) most = std::min(most, window_rate(*traffic, limit, d.ideal_ns));
    fluid.push_back({d.octets, d.start_ns, most, wire_factor(*traffic), path});
    out.push_back(std::move(d));
  }
  std::vector<double> capacities;  // octets a nanosecond
  for (std::uint32_t l = 0; l < network.links(); ++l) capacities.push_back(network.capacity(l) / 1e9);
  const std::vector<double> times = fluid_times(capacities, fluid);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double alone = out[i].octets / fluid[i].most_rate;
    out[i].ideal_ns = std::max(alone, times[i] + out[i].ideal_ns);
  }
  return out;
}

double Damage::energy() const {
  double sum = 0;
  for (const auto& [name, sign] : signs) sum += sign;
  return value + kSignsWeight * (signs.empty() ? 0 : sum / static_cast<double>(signs.size()));
}

Damage damage_of(Hurt hurt, const spec::Lab& lab, const HuntJson& report) {
  Damage d;
  d.signs = signs_of(report);
  const std::vector<FlowDamage> flows = flow_damages(lab, report);
  if (flows.empty()) return d;
  const FlowDamage& worst = *std::ranges::max_element(flows, {}, &FlowDamage::slowdown);
  d.worst_flow = worst.name;
  d.measured_ns = worst.fct_ns;
  d.ideal_ns = worst.ideal_ns;
  if (hurt == Hurt::kPause) {
    d.value = largest_pause(report);
  } else if (hurt == Hurt::kP99) {
    std::vector<double> slowdowns;
    for (const FlowDamage& f : flows) slowdowns.push_back(f.slowdown());
    d.value = 1 - 1 / std::max(1.0, percentile(slowdowns, 0.99));
  } else if (hurt == Hurt::kGoodput) {
    double sum = 0, octets = 0;
    for (const FlowDamage& f : flows) {
      sum += f.octets * std::min(1.0, 1 / f.slowdown());
      octets += f.octets;
    }
    d.value = 1 - sum / octets;
  } else {
    const auto ends = [](double FlowDamage::*time) {
      return [time](const FlowDamage& f) { return f.start_ns + f.*time; };
    };
    const FlowDamage& last = *std::ranges::max_element(flows, {}, ends(&FlowDamage::fct_ns));
    d.worst_flow = last.name;
    d.measured_ns = ends(&FlowDamage::fct_ns)(last);
    d.ideal_ns = 0;
    for (const FlowDamage& f : flows) d.ideal_ns = std::max(d.ideal_ns, f.start_ns + f.ideal_ns);
    d.value = 1 - std::min(1.0, d.ideal_ns / d.measured_ns);
  }
  return d;
}

}  // namespace railyard::hunt
