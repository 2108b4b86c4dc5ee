#include "control/report/flow_json.h"

#include "control/report/json_values.h"
#include "control/report/uet_report.h"

namespace railyard::report {

using Json = nlohmann::ordered_json;

namespace {

Json roce_json(const RoceReport& r) {
  Json j = {{"operation", r.operation},
            {"qp_type", r.qp_type},
            {"qps", r.qps},
            {"messages", r.messages},
            {"verified", r.verified},
            {"message_ns", percentiles_json(r.message_ns)},
            {"discarded", r.discarded},
            {"retransmitted_packets", r.retransmitted_packets},
            {"out_of_sequence", r.out_of_sequence},
            {"packet_seq_err", r.packet_seq_err},
            {"implied_nak_seq_err", r.implied_nak_seq_err},
            {"duplicate_request", r.duplicate_request},
            {"out_of_buffer", r.out_of_buffer},
            {"rnr_nak_received", r.rnr_nak_received},
            {"local_ack_timeout_err", r.local_ack_timeout_err},
            {"ecn_marked", r.ecn_marked},
            {"cnp_sent", r.cnp_sent},
            {"cnp_handled", r.cnp_handled},
            {"cnp_ignored", r.cnp_ignored},
            {"completion_errors", r.completion_errors},
            {"status", r.status}};
  j["failed_ns"] = or_null(r.failed_ns);
  if (r.agents.empty()) return j;
  j["agents"] = Json::array();
  for (const AgentDevice& a : r.agents)
    j["agents"].push_back({{"host", a.host}, {"device", a.device}, {"hw_counters", a.hw_counters}});
  return j;
}

}  // namespace

Json flow_json(const FlowReport& f, const Budgets& budgets) {
  // What only the receiver can count.
  const auto received = [&](std::uint64_t count) { return known_or_null(f.measured, count); };
  Json j = {{"name", f.name},
            {"src", f.source},
            {"dst", f.destination},
            {"class", f.priority},
            {"measured", f.measured},
            {"bytes", f.bytes},
            {"packets", f.packets},
            {"delivered_bytes", received(f.delivered_bytes)},
            {"delivered_packets", received(f.delivered_packets)},
            {"arrived_packets", received(f.arrived_packets)},
            {"in_flight", f.in_flight},
            {"lost", received(f.lost)},
            {"reordered", received(f.reordered)},
            {"duplicated", received(f.duplicated)},
            {"corrupted", received(f.corrupted)},
            {"marked", received(f.marked)},
            {"ce_share", or_null(f.ce_share())},
            {"trimmed", received(f.trimmed)},
            {"goodput_bps", or_null(f.goodput_bps())},
            {"goodput_bytes", known_or_null(f.goodput_ns > 0, f.goodput_bytes)},
            {"goodput_ns", known_or_null(f.goodput_ns > 0, f.goodput_ns)},
            {"start_ns", f.start_ns}};
  if (!f.waits_for.empty()) {
    j["start_ns"] = nullptr;
    j["waits_for"] = f.waits_for;
  }
  j["fct_ns"] = or_null(f.fct_ns);
  j["latency_ns"] = percentiles_json(f.latency_ns);
  j["least_latency_ns"] = known_or_null(f.latency_ns.known(), f.least_latency_ns);
  j["limit_bps"] = known_or_null(f.limit_bps > 0, f.limit_bps);
  j["offered_bps"] = known_or_null(f.offered_bps > 0, f.offered_bps);
  j["arrival_bps"] = or_null(f.arrival_bps);
  j["first_packet_ns"] = or_null(f.first_packet_ns);
  j["last_packet_ns"] = or_null(f.last_packet_ns);
  j["last_delivered_ns"] = or_null(f.last_delivered_ns);
  j["handshake_ns"] = or_null(f.handshake_ns);
  j["share"] = or_null(f.share());
  j["ideal_ns"] = or_null(f.ideal_ns);
  j["slowdown"] = or_null(f.slowdown());
  j["retransmission_share"] = or_null(f.retransmission_share());
  j["within_budget"] = f.latency_ns.known() ? or_null(is_within(budgets, f.latency_ns)) : Json(nullptr);
  j["transport"] = f.transport();
  if (f.roce) j["roce"] = roce_json(*f.roce);
  if (f.uet) j["uet"] = uet_json(*f.uet);
  return j;
}

}  // namespace railyard::report
