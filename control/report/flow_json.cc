#include "control/report/flow_json.h"

#include "control/report/uet_report.h"

namespace railyard::report {

using Json = nlohmann::ordered_json;

namespace {

Json percentiles_of(const Percentiles& p) {
  return {{"p50", p.p50}, {"p90", p.p90}, {"p99", p.p99}, {"p999", p.p999}, {"p9999", p.p9999}, {"max", p.max}};
}

Json roce_json(const RoceReport& r) {
  Json j = {{"operation", r.operation},
            {"qp_type", r.qp_type},
            {"qps", r.qps},
            {"messages", r.messages},
            {"verified", r.verified},
            {"message_ns", percentiles_of(r.message_ns)},
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
  j["failed_ns"] = r.failed_ns ? Json(*r.failed_ns) : Json(nullptr);
  if (r.agents.empty()) return j;
  j["agents"] = Json::array();
  for (const AgentDevice& a : r.agents)
    j["agents"].push_back({{"host", a.host}, {"device", a.device}, {"hw_counters", a.hw_counters}});
  return j;
}

}  // namespace

Json flow_json(const FlowReport& f, const Budgets& budgets) {
  Json j = {{"name", f.name},
            {"src", f.source},
            {"dst", f.destination},
            {"class", f.priority},
            {"measured", f.measured},
            {"bytes", f.bytes},
            {"packets", f.packets},
            {"delivered_bytes", f.delivered_bytes},
            {"delivered_packets", f.delivered_packets},
            {"in_flight", f.in_flight},
            {"lost", f.lost},
            {"reordered", f.reordered},
            {"duplicated", f.duplicated},
            {"corrupted", f.corrupted},
            {"marked", f.marked},
            {"trimmed", f.trimmed},
            {"goodput_bps", f.goodput_bps},
            {"start_ns", f.start_ns}};
  if (!f.waits_for.empty()) {
    j["start_ns"] = nullptr;
    j["waits_for"] = f.waits_for;
  }
  j["fct_ns"] = f.fct_ns ? Json(*f.fct_ns) : Json(nullptr);
  j["latency_ns"] = percentiles_of(f.latency_ns);
  j["limit_bps"] = f.limit_bps;
  j["offered_bps"] = f.offered_bps > 0 ? Json(f.offered_bps) : Json(nullptr);
  j["arrival_bps"] = f.arrival_bps;
  j["first_packet_ns"] = f.first_packet_ns ? Json(*f.first_packet_ns) : Json(nullptr);
  j["handshake_ns"] = f.handshake_ns ? Json(*f.handshake_ns) : Json(nullptr);
  j["share"] = f.share() ? Json(*f.share()) : Json(nullptr);
  j["ideal_ns"] = f.ideal_ns ? Json(*f.ideal_ns) : Json(nullptr);
  j["slowdown"] = f.slowdown() ? Json(*f.slowdown()) : Json(nullptr);
  j["within_budget"] = f.latency_ns.max > 0 ? Json(is_within(budgets, f.latency_ns)) : Json(nullptr);
  j["transport"] = f.transport();
  if (f.roce) j["roce"] = roce_json(*f.roce);
  if (f.uet) j["uet"] = uet_json(*f.uet);
  return j;
}

}  // namespace railyard::report
