// report.json for programs: every field has its name, its place and its type.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/report/port_case.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using namespace literals;
using Json = nlohmann::json;

Json parsed(const Report& r) { return Json::parse(r.json()); }

// Ports are written one at a time: of a large lab they are most of a report.
TEST(Json, PortsThatAreWrittenOneByOneMakeTheSameText) {
  Report r = sample();
  EXPECT_EQ(r.json(), json_text(r.value(), 2));
  EXPECT_TRUE(r.value_without_ports().at("ports").empty());
  r.ports[0].node = "a \"quoted\"\nname\xff";
  EXPECT_EQ(r.json(), json_text(r.value(), 2));
  r.ports.clear();
  EXPECT_EQ(r.json(), json_text(r.value(), 2));
}

void expect_same(const doctor::PortCase& a, const doctor::PortCase& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.peer, b.peer);
  EXPECT_EQ(a.is_switch, b.is_switch);
  EXPECT_EQ(a.rate_bps, b.rate_bps);
  EXPECT_EQ(a.slot_bps, b.slot_bps);
  EXPECT_EQ(a.propagation_ns, b.propagation_ns);
  EXPECT_EQ(a.utilisation, b.utilisation);
  EXPECT_EQ(a.link_downs, b.link_downs);
  EXPECT_EQ(a.received, b.received);
  EXPECT_EQ(a.busy, b.busy);
  EXPECT_EQ(a.slow, b.slow);
  EXPECT_EQ(a.slow_bps, b.slow_bps);
  EXPECT_EQ(a.drops, b.drops);
  const auto counts = [](const doctor::ClassCase& c) {
    return std::tuple(c.rx, c.tx, c.marked, c.trimmed, c.xoff_sent, c.xoff_received, c.pfc_received, c.pfc_not_enabled,
                      c.pause_share, c.paused_ns, c.deepest, c.headroom_cells, c.first_ce, c.first_xoff, c.storms, c.drops);
  };
  for (std::size_t k = 0; k < a.classes.size(); ++k)
    EXPECT_TRUE(counts(a.classes[k]) == counts(b.classes[k])) << a.name() << " class " << k;
}

TEST(Json, TheDoctorReadsTheSameOfPortsAndOfTheirJson) {
  Report r = sample();
  PortReport p = r.ports[0];
  p.is_switch = true;
  p.slot_bps = 64'000'000'000;
  p.polled = {.downs = 2, .busy = 9, .slow = 4, .slow_octets = 123'456, .slow_time = 17_us};
  p.pause_share[3] = 1.0 / 3;
  p.counters.drops.of(static_cast<std::size_t>(DropReason::kBadMacControl)) = 1;
  ClassCounters& c = p.counters.classes[3];
  c = {.rx_packets = 1, .rx_octets = 2, .tx_packets = 3, .tx_octets = 4, .ecn_marked = 5, .trimmed = 6, .xoff_sent = 7};
  c.xon_sent = 8, c.xoff_received = 9, c.xon_received = 10, c.pfc_not_enabled = 11, c.paused = 12_us;
  c.storms_detected = 13, c.first_xoff = Instant{} + 14_us, c.max_depth_octets = 15, c.max_headroom_cells = 16;
  c.drops.of(static_cast<std::size_t>(DropReason::kEgressFull)) = 17;
  p.counters.classes[5].drops.of(static_cast<std::size_t>(DropReason::kWred)) = 18;
  r.ports.push_back(p);
  p.is_switch = false;
  p.port = 77;
  r.ports.push_back(p);
  p.counters = {};
  p.is_switch = true;
  p.node = "idle";
  r.ports.push_back(p);
  const doctor::Case by_json(r.value(), "r");
  ASSERT_EQ(by_json.ports().size(), r.ports.size());
  std::vector<doctor::PortCase> ports;
  for (const PortReport& port : r.ports) ports.push_back(port_case(port));
  const doctor::Case by_ports(r.value_without_ports(), std::move(ports), "r");
  for (std::size_t i = 0; i < r.ports.size(); ++i) expect_same(by_ports.ports()[i], by_json.ports()[i]);
}

TEST(Json, SaysWhatWasRun) {
  EXPECT_EQ(parsed(sample())["run"], Json::parse(R"({"spec": "labs/incast.yaml", "name": "incast", "seed": 7,
    "clock": "virtual", "version": "0.1.0+abc", "workers": 2, "payload": "elided", "scale": "1",
    "command": "railyard run labs/incast.yaml", "lab_digest": "00c0ffee",
    "interrupted": false})"));
}

TEST(Json, HasEveryFieldOfAFlow) {
  Json flow = parsed(sample())["flows"][0];
  EXPECT_DOUBLE_EQ(flow["goodput_bps"].get<double>(), 4'096'000 * 8 / 676e-6);
  EXPECT_DOUBLE_EQ(flow["share"].get<double>(), 4'096'000 * 8 / 676e-6 / 97e9);
  flow.erase("goodput_bps");
  flow.erase("share");
  EXPECT_EQ(flow, Json::parse(R"({"name": "in/h2->h1", "src": "h2", "dst": "h1", "class": 3,
    "measured": true, "bytes": 4096000, "packets": 1000, "delivered_bytes": 4096000, "delivered_packets": 1000,
    "arrived_packets": 1000, "ce_share": 0.25, "goodput_bytes": 4096000, "goodput_ns": 676000,
    "retransmission_share": null, "in_flight": 0, "lost": 0, "reordered": 0, "duplicated": 0, "corrupted": 0, "marked": 250, "trimmed": 0,
    "transport": "generator", "start_ns": 1000, "fct_ns": 676000, "limit_bps": 97e9, "ideal_ns": 338000,
    "offered_bps": 50e9, "arrival_bps": 48.6e9, "first_packet_ns": 3000, "last_packet_ns": null, "last_delivered_ns": null, "handshake_ns": null,
    "slowdown": 2.0, "within_budget": null,
    "latency_ns": {"p50": 2000, "p90": 3000, "p99": 250000, "p999": 300000, "p9999": 301000, "max": 302000}, "least_latency_ns": 1500})"));
}

TEST(Json, HasEveryFieldOfAFlowOverRoce) {
  Report r = sample();
  r.flows[0].roce = sample_roce();
  const Json flow = parsed(r)["flows"][0];
  EXPECT_EQ(flow["transport"], "roce");
  EXPECT_EQ(flow["roce"],
            Json::parse(R"({"operation": "write", "qp_type": "rc", "qps": 2, "messages": 40, "verified": 39,
    "message_ns": {"p50": 1000, "p90": 2000, "p99": 3000, "p999": 4000, "p9999": 5000, "max": 6000},
    "discarded": 11, "retransmitted_packets": 12, "out_of_sequence": 3, "packet_seq_err": 2,
    "implied_nak_seq_err": 1, "duplicate_request": 4, "out_of_buffer": 6, "rnr_nak_received": 5,
    "local_ack_timeout_err": 7, "ecn_marked": 250, "cnp_sent": 21, "cnp_handled": 20, "cnp_ignored": 0,
    "completion_errors": 8, "status": "RETRY_EXC_ERR", "failed_ns": 900000})"));
  r.flows[0].roce->completion_errors = 0;
  r.flows[0].roce->status.clear();
  r.flows[0].roce->failed_ns.reset();
  EXPECT_TRUE(parsed(r)["flows"][0]["roce"]["failed_ns"].is_null());
}

TEST(Json, AFlowThatIsNotDoneHasNoCompletionTime) {
  const Json flow = parsed(sample())["flows"][1];
  EXPECT_TRUE(flow["fct_ns"].is_null());
  EXPECT_EQ(flow["lost"], 100);
}

TEST(Json, HasEveryFieldOfAPort) {
  Json port = parsed(sample())["ports"][0];
  EXPECT_EQ(port["classes"].size(), 2u) << "only classes that something happened to";
  EXPECT_EQ(port["classes"][1], Json::parse(R"({"class": 3, "rx": {"packets": 0, "bytes": 0},
    "tx": {"packets": 1000, "bytes": 4162000}, "ecn_marked": 250, "trimmed": 0, "pfc_sent": 0, "xoff_sent": 0, "pfc_received": 0,
    "xoff_received": 0, "pfc_not_enabled": 0, "paused_ns": 0, "pause_share": 0.0, "stalled_ns": 0, "stall_share": 0.0, "depth_bytes": 0, "max_depth_bytes": 1250000, "max_ingress_cells": 0,
    "max_headroom_cells": 0, "first_ce_ns": null, "first_xoff_ns": null, "storms_detected": 0, "storms_restored": 0,
    "drops": {}})"));
  EXPECT_EQ(port["classes"][0]["drops"], Json::parse(R"({"egress_full": 100})"));
  port.erase("classes");
  EXPECT_EQ(port, Json::parse(R"({"node": "leaf1", "port": 1, "peer": "h1:1", "rate_bps": 100000000000, "propagation_ns": 15,
    "rx": {"packets": 0, "bytes": 0}, "tx": {"packets": 1900, "bytes": 7907800}, "utilisation": 0.987,
    "link_downs": 0, "busy_intervals": 0, "slow_intervals": 0, "slow_bps": null, "lost_on_link": 0, "lost_to_faults": 0, "duplicated": 0, "drops": {}, "quality_reports_sent": 0,
    "quality_reports_received": 0})"));
}

TEST(Json, CountsXoffAndXonAsPfcFrames) {
  const Json report = parsed(sample());
  const Json& sender = report["ports"][1]["classes"][0];
  EXPECT_EQ(sender["pfc_sent"], 24);
  EXPECT_EQ(sender["xoff_sent"], 12);
  const Json& held = report["ports"][2]["classes"][0];
  EXPECT_EQ(held["pfc_received"], 24);
  EXPECT_EQ(held["paused_ns"], 340'000);
  EXPECT_FALSE(held.contains("max_ingress_cells")) << "hosts have no cells";
}

TEST(Json, WhatIsNotKnownIsNull) {
  Report r = sample();
  r.flows[0].ideal_ns.reset();
  r.flows[0].limit_bps = 0;
  r.flows[0].latency_ns = {};
  const Json flow = parsed(r)["flows"][0];
  for (const char* key : {"share", "ideal_ns", "slowdown", "within_budget", "latency_ns", "limit_bps"})
    EXPECT_TRUE(flow[key].is_null()) << key;
}

// Of a flow to an attached host only its sender's counts are known.
TEST(Json, WhatOnlyAReceiverCountsIsNullWithoutOne) {
  Report r = sample();
  FlowReport& f = r.flows[0];
  f.measured = false;
  f.delivered_bytes = f.delivered_packets = f.arrived_packets = f.marked = f.goodput_bytes = 0;
  f.goodput_ns = 0;
  f.latency_ns = {};
  f.arrival_bps.reset();
  const Json flow = parsed(r)["flows"][0];
  for (const char* key : {"delivered_bytes", "delivered_packets", "arrived_packets", "lost", "reordered", "duplicated",
                          "corrupted", "marked", "ce_share", "trimmed", "goodput_bps", "goodput_bytes", "goodput_ns",
                          "latency_ns", "arrival_bps", "share"})
    EXPECT_TRUE(flow[key].is_null()) << key;
  EXPECT_EQ(flow["packets"], 1000);
}

TEST(Json, HasTheFiguresThatRunsAreComparedBy) {
  const Json summary = parsed(sample())["summary"];
  EXPECT_EQ(summary["fct_p99"], 676'000);
  EXPECT_EQ(summary["slowdown_p50"], 2);
  EXPECT_EQ(summary["drops"], 100);
  EXPECT_EQ(summary["ecn_marked"], 250);
  EXPECT_EQ(summary["max_queue"], 1'250'000);
  EXPECT_EQ(summary["xoff_sent"], 12);
  EXPECT_EQ(summary["paused"], 340'000);
  EXPECT_EQ(summary["max_over_mean"], 1.5);
}

TEST(Json, HasVerdictsAndWhatTheyRestOn) {
  const Json report = parsed(sample());
  EXPECT_EQ(report["budgets"], Json::parse(R"({"scale_out_ns": null, "scale_up_ns": null, "percentile": 99.0,
    "pause_share": 0.1, "xoff_rate": 20000})"));
  std::vector<std::string> names;
  for (const Json& v : report["verdicts"]) names.push_back(v["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"lossless", "deadlock", "pauses", "ce-before-xoff", "completion", "data"}))
      << "no latency without a budget";
  EXPECT_EQ(report["verdicts"][4]["verdict"], "fail");
  Report r = sample();
  r.budgets.scale_out = 10_us;
  const Json judged = parsed(r);
  EXPECT_EQ(judged["verdicts"][0]["name"], "latency");
  EXPECT_EQ(judged["verdicts"][0]["verdict"], "fail");
  EXPECT_EQ(judged["flows"][0]["within_budget"], false);
}

TEST(Json, HasEachTrafficAndEachTierOfLinks) {
  const Json report = parsed(sample());
  EXPECT_EQ(report["traffic"][0]["name"], "in");
  EXPECT_EQ(report["traffic"][0]["fct_ns"], Json::parse(R"({"count": 1, "mean": 676000.0, "min": 676000.0,
    "p50": 676000.0, "p90": 676000.0, "p95": 676000.0, "p99": 676000.0, "p999": 676000.0, "max": 676000.0})"));
  EXPECT_TRUE(report["traffic"][0]["share"].is_null()) << "of no flow";
  EXPECT_EQ(report["link_tiers"][0]["name"], "leaf to host");
  EXPECT_EQ(report["link_tiers"][0]["utilisation"]["max"], 0.987);
}

TEST(Json, SaysHowEachGroupOfNextHopsWasShared) {
  const Json groups = parsed(sample())["path_groups"];
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0], Json::parse(R"({"node": "leaf1", "members": [
    {"port": "leaf1:3", "peer": "spine1:1", "packets": 300, "bytes": 300000},
    {"port": "leaf1:4", "peer": "spine2:1", "packets": 100, "bytes": 100000}],
    "max_over_mean": 1.5, "jain_index": 0.8})"));
  EXPECT_TRUE(groups[1]["jain_index"].is_null()) << "no traffic";
}

TEST(Json, HasTheEnginesFieldsUnderEitherClock) {
  EXPECT_EQ(parsed(sample())["engine"], Json::parse(R"({"packet_hops": 1900, "windows": 500, "window_ps": 615000,
    "cpu_seconds": 0.25, "wall_seconds": 0.5, "busy_seconds": null, "simulated_seconds": 0.001, "peak_rss_bytes": 64000000,
    "lateness_ns": null, "slip_ns": null, "gaps": null})"));
  Report live = sample();
  live.engine.lateness_ns = Percentiles{100, 200, 300, 400, 500, 600};
  live.engine.slip_ns = 7;
  EXPECT_EQ(parsed(live)["engine"]["lateness_ns"], Json::parse(R"({"p50": 100, "p99": 300, "max": 600})"));
  EXPECT_EQ(parsed(live)["engine"]["slip_ns"], 7);
}

TEST(Json, HasTheBooks) {
  EXPECT_EQ(parsed(sample())["audit"], Json::parse(R"({"balanced": true, "unbalanced": [], "generated": 2000,
    "consumed": 1900, "dropped": 100, "lost_on_links": 0, "queued": 0, "on_the_wire": 0, "drained": true})"));
}

TEST(Json, TheDigestIsTextOfSixteenDigitsOrNothing) {
  EXPECT_EQ(parsed(sample())["trace_digest"], "0000000000c0ffee");
  Report without = sample();
  without.trace_digest.reset();
  EXPECT_TRUE(parsed(without)["trace_digest"].is_null());
}

TEST(Json, SaysWhatCameThroughAttachments) {
  Report r = sample();
  r.attachments.push_back({"h9", 2, "net_tap0", 10, 20, 1, 2, 3});
  EXPECT_EQ(parsed(r)["attachments"],
            Json::parse(R"([{"node": "h9", "nic": 2, "device": "net_tap0", "received": 10, "sent": 20,
                       "host_ring_full": 1, "no_memory": 2, "not_sent": 3}])"));
}

}  // namespace
}  // namespace railyard::report
