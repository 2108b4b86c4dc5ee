#include "control/report/port_json.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "control/base/json_text.h"
#include "control/report/json_values.h"
#include "control/report/pause_json.h"

namespace railyard::report {
namespace {

nlohmann::ordered_json drops(const DropCounts& counts) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) out[std::string(name(static_cast<DropReason>(i)))] = counts[i];
  return out;
}

nlohmann::ordered_json traffic_class(std::size_t priority, const PortReport& p) {
  const ClassCounters& c = p.counters.classes[priority];
  nlohmann::ordered_json j = {{"class", priority},
            {"rx", {{"packets", c.rx_packets}, {"bytes", c.rx_octets}}},
            {"tx", {{"packets", c.tx_packets}, {"bytes", c.tx_octets}}},
            {"ecn_marked", c.ecn_marked},
            {"trimmed", c.trimmed},
            {"pfc_sent", c.xoff_sent + c.xon_sent},
            {"xoff_sent", c.xoff_sent},
            {"pfc_received", c.xoff_received + c.xon_received},
            {"xoff_received", c.xoff_received},
            {"pfc_not_enabled", c.pfc_not_enabled},
            {"paused_ns", nanoseconds(c.paused)},
            {"pause_share", p.pause_share[priority]},
            {"stalled_ns", nanoseconds(c.stalled)},
            {"stall_share", p.stall_share[priority]},
            {"depth_bytes", c.depth_octets},
            {"max_depth_bytes", c.max_depth_octets}};
  if (p.is_switch) {
    j["max_ingress_cells"] = c.max_ingress_cells;
    j["max_headroom_cells"] = c.max_headroom_cells;
    j["first_ce_ns"] = instant_json(c.first_ce);
    j["first_xoff_ns"] = instant_json(c.first_xoff);
    j["storms_detected"] = c.storms_detected;
    j["storms_restored"] = c.storms_restored;
  }
  j["drops"] = drops(c.drops);
  return j;
}

// `text` with its lines further to the right, but for the first one. Line ends of strings are escaped in JSON.
void append_indented(std::string& out, std::string_view text, std::string_view blanks) {
  for (;;) {
    const std::size_t end = text.find('\n');
    out += text.substr(0, end);
    if (end == std::string_view::npos) return;
    out += '\n';
    out += blanks;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool touched(const ClassCounters& c) {
  return c.rx_packets + c.tx_packets + c.xoff_sent + c.xon_sent + c.xoff_received + c.xon_received + c.pfc_not_enabled +
                 c.max_depth_octets >
             0 ||
         std::ranges::any_of(c.drops, [](std::uint64_t n) { return n > 0; });
}

nlohmann::ordered_json port_json(const PortReport& p) {
  const PortCounters& c = p.counters;
  nlohmann::ordered_json j = {{"node", p.node},
            {"port", p.port},
            {"peer", p.peer},
            {"rate_bps", p.rate_bps},
            {"propagation_ns", nanoseconds(p.propagation)},
            {"rx", {{"packets", c.rx_packets()}, {"bytes", c.rx_octets()}}},
            {"tx", {{"packets", c.tx_packets()}, {"bytes", c.tx_octets()}}},
            {"utilisation", p.utilisation},
            {"link_downs", p.polled.downs},
            {"busy_intervals", p.polled.busy},
            {"slow_intervals", p.polled.slow},
            {"slow_bps", known_or_null(p.polled.slow > 0, static_cast<double>(p.polled.slow_octets) * 8 /
                                                              std::max(1e-12, seconds(p.polled.slow_time)))},
            {"lost_on_link", c.lost},
            {"lost_to_faults", c.lost_to_faults},
            {"duplicated", c.duplicated},
            {"quality_reports_sent", c.quality_reports_sent},
            {"quality_reports_received", c.quality_reports_received},
            {"drops", drops(c.drops)}};
  if (p.slot_bps > 0) j["slot_bps"] = p.slot_bps;
  if (c.credit_messages_sent + c.credit_messages_received > 0)
    j["credit_messages"] = {{"sent", c.credit_messages_sent}, {"received", c.credit_messages_received}};
  if (c.llr.on)
    j["llr"] = {{"frames", c.llr.frames},
                {"replays", c.llr.replays},
                {"latency_ns", c.llr.frames == 0 ? nlohmann::ordered_json(nullptr)
                                                 : nlohmann::ordered_json{{"mean", nanoseconds(c.llr.mean_late())},
                                                        {"min", nanoseconds(c.llr.least_late)},
                                                        {"max", nanoseconds(c.llr.most_late)}}}};
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < kPriorities; ++k)
    if (touched(c.classes[k])) classes.push_back(traffic_class(k, p));
  j["classes"] = std::move(classes);
  return j;
}

std::string json_with_ports(const nlohmann::ordered_json& rest, const std::vector<PortReport>& ports) {
  constexpr std::string_view kPlace = "\n  \"ports\": []";  // nothing further in begins a line with two blanks only
  std::string text = json_text(rest, 2);
  const std::size_t place = text.find(kPlace);
  if (ports.empty() || place == std::string::npos) return text;
  const std::string behind = text.substr(place + kPlace.size());
  text.resize(place + kPlace.size() - 1);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    text += i == 0 ? "\n    " : ",\n    ";
    append_indented(text, json_text(port_json(ports[i]), 2), "    ");
  }
  text += "\n  ]";
  return text += behind;
}

}  // namespace railyard::report
