#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/report/collective_json.h"
#include "control/report/storage_json.h"
#include "control/report/timeline_json.h"
#include "control/report/drop_places.h"
#include "control/report/flow_json.h"
#include "control/report/int_text.h"
#include "control/report/inference_json.h"
#include "control/report/json_values.h"
#include "control/report/pause_json.h"
#include "control/report/port_json.h"
#include "control/rerouting/tables.h"
#include "control/report/report.h"
#include "control/report/summary.h"
#include "control/report/traffic_json.h"

namespace railyard::report {
namespace {

using Json = nlohmann::ordered_json;

Json service_nic(const ServiceNicReport& n) {
  Json j = {{"nic", n.nic},
            {"packets_sent", n.packets_sent},
            {"packets_received", n.packets_received},
            {"retransmitted_packets", n.retransmitted_packets},
            {"out_of_sequence", n.out_of_sequence},
            {"packet_seq_err", n.packet_seq_err},
            {"implied_nak_seq_err", n.implied_nak_seq_err},
            {"duplicate_request", n.duplicate_request},
            {"out_of_buffer", n.out_of_buffer},
            {"rnr_nak_received", n.rnr_nak_received},
            {"local_ack_timeout_err", n.local_ack_timeout_err},
            {"dropped", n.dropped},
            {"cm",
             {{"received", n.cm_received},
              {"sent", n.cm_sent},
              {"sent_again", n.cm_sent_again},
              {"ignored", n.cm_ignored},
              {"malformed", n.cm_malformed}}}};
  j["services"] = Json::array();
  for (const ServiceReport& s : n.services)
    j["services"].push_back({{"name", s.name},
                             {"connections", s.connections},
                             {"open", s.open},
                             {"refused", s.refused},
                             {"pings", s.rounds},
                             {"verified_bytes", s.verified_bytes},
                             {"corrupted", s.corrupted},
                             {"violations", s.violations},
                             {"failed", s.failed},
                             {"status", s.status}});
  return j;
}

Json rping(const RpingReport& r) {
  return {{"name", r.name},
          {"source", r.source},
          {"destination", r.destination},
          {"state", r.state},
          {"failure", r.failure},
          {"reason", r.reason},
          {"attempts_failed", r.attempts_failed},
          {"pings", r.rounds},
          {"verified_bytes", r.verified_bytes},
          {"corrupted", r.corrupted},
          {"latency_ns", percentiles_json(r.latency_ns)}};
}

Json message_times(const CollectiveReport::Messages& m) {
  if (m.count == 0 || !m.ns.known()) return nullptr;
  Json out = percentiles_json(m.ns);
  out["mean"] = m.mean_ns;
  return out;
}

Json rank_messages(const CollectiveReport::Messages& m) {
  Json out = Json::array();
  for (const auto& median : m.median_ns_by_rank) out.push_back(or_null(median));
  return out;
}

Json job_figures(const CollectiveReport& c) {
  if (!c.figures) return nullptr;
  Json out{{"ideal_ns", c.figures->ideal_ns}, {"efficiency", or_null(c.figures->efficiency)}, {"training", nullptr}, {"inference", nullptr}};
  if (c.figures->inference) out["inference"] = inference_json(*c.figures->inference);
  if (!c.figures->training) return out;
  const JobFigures::Training& t = *c.figures->training;
  Json volumes = Json::object();
  for (const JobFigures::Training::Volume& v : t.volumes) volumes[v.kind] = v.bytes;
  out["training"] = {{"parallelism", t.parallelism}, {"microbatches", t.microbatches},
                     {"tokens", t.tokens},           {"tokens_per_second", or_null(t.tokens_per_second)},
                     {"mfu", or_null(t.mfu)},        {"sent_bytes", std::move(volumes)}};
  return out;
}

Json storage_json(const CollectiveReport& c) {
  if (!c.storage) return nullptr;
  const StorageFigures& s = *c.storage;
  return {{"checkpoint_bytes", s.checkpoint_bytes}, {"checkpoints", s.checkpoints},
          {"checkpoint_ns", or_null(s.checkpoint_ns)}, {"restores", s.restores},
          {"restore_ns", or_null(s.restore_ns)},       {"failures", s.failures},
          {"lost_steps", s.lost_steps},                {"ettr", or_null(s.ettr)},
          {"eras", eras_json(s)}};
}

Json collective(const CollectiveReport& c) {
  Json iterations = Json::array();
  for (const CollectiveReport::Repeat& r : c.iterations)
    iterations.push_back({{"start_ns", r.start_ns}, {"time_ns", or_null(r.time_ns)}});
  return {{"name", c.name},
          {"collective", c.collective},
          {"algorithm", c.algorithm},
          {"transport", c.transport},
          {"ranks", c.ranks},
          {"bytes", c.bytes},
          {"chunk", c.chunk},
          {"channels", c.channels},
          {"repeats", c.repeats},
          {"iterations", iterations},
          {"time_ns",
           {{"min", or_null(c.min_ns)},
            {"median", or_null(c.median_ns)},
            {"p99", or_null(c.p99_ns)},
            {"max", or_null(c.max_ns)}}},
          {"algbw_bps", known_or_null(c.has_bandwidth(), c.algbw_bps)},
          {"busbw_factor", c.factor},
          {"busbw_bps", known_or_null(c.has_bandwidth(), c.busbw_bps)},
          {"framing_limit_bps", known_or_null(c.limit_bps > 0, c.limit_bps)},
          {"share_of_limit", or_null(c.share_of_limit())},
          {"job", c.job ? Json{{"compute_ns", c.job->compute_ns},
                               {"buckets", c.job->buckets},
                               {"utilisation", c.job->utilisation},
                               {"idle", 1 - c.job->utilisation},
                               {"idle_cost_per_hour", or_null(c.job->idle_cost_per_hour)},
                               {"overlap_fraction", or_null(c.job->overlap)},
                               {"straggler", c.job->straggler ? Json{{"rank", c.job->straggler->rank},
                                                                     {"factor", c.job->straggler->factor}}
                                                              : Json(nullptr)}}
                        : Json(nullptr)},
          {"schedule", job_figures(c)},
          {"storage", storage_json(c)},
          {"timeline", c.timeline ? timeline_json(*c.timeline) : Json(nullptr)},
          {"scale_up", c.scale_up ? Json{{"messages", c.scale_up->messages},
                                         {"bytes", c.scale_up->bytes},
                                         {"busy_ns", c.scale_up->busy_ns},
                                         {"first_octet_latency_ns", percentiles_json(c.scale_up->latency_ns)}}
                                  : Json(nullptr)},
          {"messages", c.messages.count},
          {"message_ns", message_times(c.messages)},
          {"rank_message_ns", rank_messages(c.messages)},
          {"fabric_bytes", c.fabric_bytes},
          {"completed", c.completed},
          {"stalled", c.stalled},
          {"verified", c.verified},
          {"wrong_bytes", c.wrong_bytes},
          {"wrong_messages", c.wrong_messages},
          {"wrong", c.wrong},
          {"packets", c.packets},
          {"retransmitted_packets", c.retransmitted_packets},
          {"out_of_order", c.out_of_order},
          {"packet_seq_err", c.packet_seq_err},
          {"local_ack_timeout_err", c.local_ack_timeout_err},
          {"ecn_marked", c.ecn_marked},
          {"cnp_sent", c.cnp_sent},
          {"cnp_handled", c.cnp_handled}};
}

Json trunk(const TrunkReport& t) {
  return {{"node", t.node},
          {"wire", t.wire},
          {"state", t.state},
          {"sent", t.counters.sent},
          {"received", t.counters.received},
          {"lost", t.counters.lost},
          {"late", t.counters.late},
          {"lateness_ns", percentiles_json(t.lateness_ns)},
          {"round_trip_ns", t.counters.round_trip_ps / 1000},
          {"discarded", t.counters.discarded},
          {"unconfirmed", t.counters.unconfirmed},
          {"refused", t.counters.wire.refused},
          {"carrier", t.counters.has_carrier},
          {"fragmented", t.counters.wire.fragmented},
          {"incomplete", t.counters.wire.incomplete},
          {"foreign", t.counters.wire.foreign},
          {"overrun", t.counters.wire.overrun},
          {"stale", t.counters.stale},
          {"malformed", t.counters.malformed},
          {"other_version", t.counters.other_version},
          {"clock_jumps", t.counters.clock_jumps},
          {"downs", t.counters.downs}};
}

Json bundle(const BundleReport& b) {
  Json members = Json::array();
  for (const BundleReport::Member& m : b.members)
    members.push_back({{"port_a", m.port_a},
                       {"port_b", m.port_b},
                       {"up", m.up},
                       {"a_to_b", {{"packets", m.packets_a_to_b}, {"bytes", m.octets_a_to_b}}},
                       {"b_to_a", {{"packets", m.packets_b_to_a}, {"bytes", m.octets_b_to_a}}}});
  return {{"name", b.name},
          {"members_up", b.up()},
          {"rate_bps", b.member_bps * static_cast<std::int64_t>(b.members.size())},
          {"up_bps", b.member_bps * static_cast<std::int64_t>(b.up())},
          {"members", std::move(members)}};
}

Json path_group(const PathGroupReport& g) {
  Json members = Json::array();
  for (const PathGroupReport::Member& m : g.members)
    members.push_back({{"port", m.port}, {"peer", m.peer}, {"packets", m.packets}, {"bytes", m.bytes}});
  return {{"node", g.node},
          {"members", std::move(members)},
          {"max_over_mean", known_or_null(g.bytes() > 0, g.max_over_mean())},
          {"jain_index", known_or_null(g.bytes() > 0, g.jain_index())}};
}

Json engine_json(const EngineReport& e) {
  Json j = {{"packet_hops", e.packet_hops},      {"windows", e.windows},
            {"window_ps", e.window_ps},          {"cpu_seconds", e.cpu_seconds},
            {"wall_seconds", e.wall_seconds},    {"simulated_seconds", e.simulated_seconds},
            {"peak_rss_bytes", e.peak_rss_bytes}};
  // Under the virtual clock nothing is late.
  const bool wall = e.lateness_ns.has_value();
  j["lateness_ns"] = wall ? Json{{"p50", e.lateness_ns->p50}, {"p99", e.lateness_ns->p99}, {"max", e.lateness_ns->max}}
                          : Json(nullptr);
  j["slip_ns"] = known_or_null(wall, e.slip_ns);
  j["busy_seconds"] = known_or_null(wall, e.busy_seconds);
  j["gaps"] = known_or_null(wall, e.gaps);
  for (const ProcessReport& p : e.processes)
    j["processes"].push_back({{"devices", p.devices},
                              {"cpu_seconds", p.cpu_seconds},
                              {"wait_seconds", p.wait_seconds},
                              {"peak_rss_bytes", p.peak_rss_bytes},
                              {"frames_sent", p.frames_sent},
                              {"bytes_sent", p.bytes_sent}});
  return j;
}

Json expectations_json(const std::vector<Expectation>& all) {
  Json out = Json::array();
  for (const Expectation& e : all) {
    Json j = {{"expected", e.text},
              {"met", e.met},
              {"found", or_null(e.found)},
              {"found_text", e.found_text},
              {"where", e.where}};
    if (!e.place.file.empty()) j["place"] = spec::to_string(e.place);
    out.push_back(std::move(j));
  }
  return out;
}

double number_of(const spec::Ratio& r) { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

}  // namespace

Json collective_json(const CollectiveReport& c) { return collective(c); }

nlohmann::ordered_json Report::value() const {
  Json j = value_without_ports();
  for (const PortReport& p : ports) j["ports"].push_back(port_json(p));
  return j;
}

nlohmann::ordered_json Report::value_without_ports() const {
  Json j;
  j["run"] = {{"spec", run.spec},
              {"name", run.name},
              {"seed", run.seed},
              {"clock", run.clock},
              {"version", run.version},
              {"workers", run.workers},
              {"payload", run.payload},
              {"scale", run.scale},
              {"command", run.command},
              {"lab_digest", run.lab_digest},
              {"interrupted", run.interrupted}};
  if (!run.diagnosis.empty())
    j["diagnosis"] = {{"symptom", run.diagnosis.symptom},
                      {"cause", run.diagnosis.cause},
                      {"fix", run.diagnosis.fix},
                      {"set", run.diagnosis.set},
                      {"evidence", expectations_json(evidence)}};
  j["lab"] = {{"hosts", lab.hosts},           {"switches", lab.switches},
              {"links", lab.links},           {"attached_nics", lab.attached_nics},
              {"roce_flows", lab.roce_flows}, {"generator_flows", lab.generator_flows},
              {"uet_flows", lab.uet_flows}};
  for (const Figure& f : report::summary(*this)) j["summary"][f.name] = f.value;
  j["verdicts"] = verdicts_json(verdicts());
  const auto ns = [](const std::optional<Duration>& d) { return d ? Json(nanoseconds(*d)) : Json(nullptr); };
  j["budgets"] = {{"scale_out_ns", ns(budgets.scale_out)},
                  {"scale_up_ns", ns(budgets.scale_up)},
                  {"percentile", budgets.percentile / 100.0},
                  {"pause_share", budgets.pause_share ? Json(number_of(*budgets.pause_share)) : Json(nullptr)},
                  {"xoff_rate", or_null(budgets.xoff_rate)}};
  if (!expectations.empty()) j["expectations"] = expectations_json(expectations);
  j["load_interval"] = {{"from_ns", load.from_ns}, {"to_ns", load.to_ns}};
  if (steady_pauses)
    j["steady_pauses"] = {{"from_ns", steady_pauses->from_ns},
                          {"to_ns", steady_pauses->to_ns},
                          {"share", steady_pauses->share},
                          {"share_at", steady_pauses->share_at},
                          {"xoff_per_second", steady_pauses->xoff_per_second},
                          {"xoff_at", steady_pauses->xoff_at}};
  j["traffic"] = Json::array();
  for (const TrafficReport& t : traffic) j["traffic"].push_back(traffic_json(t));
  j["link_tiers"] = link_tiers_json(link_tiers);
  j["flows"] = Json::array();
  for (const FlowReport& f : flows) j["flows"].push_back(flow_json(f, budgets));
  j["collectives"] = Json::array();
  for (const CollectiveReport& c : collectives) j["collectives"].push_back(collective(c));
  if (!rank_latency.empty()) {
    j["rank_latency"] = Json::array();
    for (const RankLatency& n : rank_latency)
      j["rank_latency"].push_back({{"nic", n.nic}, {"latency_ns", percentiles_json(n.latency_ns)}});
  }
  if (!uet_nics.empty()) {
    j["uet_nics"] = Json::array();
    for (const UetNicReport& n : uet_nics) j["uet_nics"].push_back(uet_nic_json(n));
  }
  if (!service_nics.empty()) {
    j["rdma_services"] = Json::array();
    for (const ServiceNicReport& n : service_nics) j["rdma_services"].push_back(service_nic(n));
    j["rping"] = Json::array();
    for (const RpingReport& r : rpings) j["rping"].push_back(rping(r));
  }
  j["ports"] = Json::array();
  j["thresholds"] = thresholds_json(thresholds);
  j["drops"] = drop_places_json(drop_places(*this));
  j["path_groups"] = Json::array();
  for (const PathGroupReport& g : path_groups) j["path_groups"].push_back(path_group(g));
  j["attachments"] = Json::array();
  for (const AttachmentReport& a : attachments) {
    j["attachments"].push_back({{"node", a.node},
                                {"nic", a.nic},
                                {"device", a.device},
                                {"received", a.received},
                                {"sent", a.sent},
                                {"host_ring_full", a.host_ring_full},
                                {"no_memory", a.no_memory},
                                {"not_sent", a.not_sent}});
    if (!a.is_capture) continue;
    j["attachments"].back()["pfc_replayed"] = a.pfc_sent;
    j["attachments"].back()["left_out"] = a.left_out;
  }
  if (!trunks.empty()) {
    j["trunks"] = Json::array();
    for (const TrunkReport& t : trunks) j["trunks"].push_back(trunk(t));
  }
  j["deadlocks"] = deadlocks_json(deadlocks);
  j["pause_trees"] = pause_trees_json(pause_trees);
  j["reroutings"] = rerouting::reroutings_json(reroutings);
  j["bundles"] = Json::array();
  for (const BundleReport& b : bundles) j["bundles"].push_back(bundle(b));
  j["faults"] = Json::array();
  for (const fault::FaultStatus& f : faults)
    j["faults"].push_back({{"name", f.name},
                           {"what", f.what},
                           {"on", f.where},
                           {"active", f.active},
                           {"removed", f.removed},
                           {"occurrences", f.occurrences},
                           {"frames", f.frames}});
  if (in_band) j["int"] = int_json(*in_band);
  if (probes) j["probes"] = probe_json(*probes);
  if (transients) j["transients"] = transients_json(*transients);
  j["engine"] = engine_json(engine);
  j["audit"] = {
      {"balanced", audit.balanced}, {"unbalanced", audit.unbalanced},   {"generated", audit.generated},
      {"consumed", audit.consumed}, {"dropped", audit.dropped},         {"lost_on_links", audit.lost_on_links},
      {"queued", audit.queued},     {"on_the_wire", audit.on_the_wire}, {"drained", audit.drained}};
  // Text, not a number: JSON readers keep 53 bits.
  j["trace_digest"] = trace_digest ? Json(fmt::format("{:016x}", *trace_digest)) : Json(nullptr);
  return j;
}

std::string Report::json() const { return json_with_ports(value_without_ports(), ports); }

}  // namespace railyard::report
