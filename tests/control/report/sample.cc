#include "tests/control/report/sample.h"

namespace railyard::report {

using namespace literals;

Report sample() {
  Report r;
  r.run = {"labs/incast.yaml", "incast", 7, "virtual", "0.1.0+abc", 2, "elided", "1", "railyard run labs/incast.yaml",
           "00c0ffee"};

  FlowReport done;
  done.name = "in/h2->h1";
  done.source = "h2";
  done.destination = "h1";
  done.priority = 3;
  done.bytes = done.delivered_bytes = 4'096'000;
  done.asked_bytes = 4'096'000;
  done.packets = done.delivered_packets = done.arrived_packets = 1000;
  done.marked = 250;
  done.goodput_bytes = 4'096'000;
  done.goodput_ns = 676'000;
  done.start_ns = 1000;
  done.fct_ns = 676'000;
  done.latency_ns = {2000, 3000, 250'000, 300'000, 301'000, 302'000};
  done.least_latency_ns = 1500;
  done.limit_bps = 97e9;
  done.offered_bps = 50e9;
  done.arrival_bps = 48.6e9;
  done.first_packet_ns = 3000;
  done.ideal_ns = 338'000;
  FlowReport lossy = done;
  lossy.name = "in/h3->h1";
  lossy.source = "h3";
  lossy.priority = 1;
  lossy.delivered_packets = lossy.arrived_packets = 900;
  lossy.lost = 100;
  lossy.fct_ns.reset();
  r.flows = {done, lossy};
  TrafficReport in;
  in.name = "in";
  in.pattern = "incast";
  in.transport = "generator";
  in.flows = in.measured = in.with_end = 2;
  in.complete = 1;
  in.lost = 100;
  in.packets = 2000;
  in.fct_ns = Spread::of({676'000});
  in.slowdown = Spread::of({2});
  in.latency_samples = 1900;
  in.latency_ns = done.latency_ns;
  in.latency_points = {{0, 1500}, {0.5, 2000}, {0.99, 250'000}, {1, 302'000}};
  r.traffic = {in};
  r.latency_samples = 1900;
  r.latency_ns = done.latency_ns;
  r.link_tiers = {{"leaf to host", 2, 7'907'800, 0.5, 0.987, 0.987, 2, 0.5, "leaf1:1"}};
  r.lossless_drops = LosslessDrops{};
  r.lossless_drops->any_lossless = true;
  r.watched_for_deadlocks = true;

  PortReport bottleneck;
  bottleneck.node = "leaf1";
  bottleneck.port = 1;
  bottleneck.peer = "h1:1";
  bottleneck.is_switch = true;
  bottleneck.rate_bps = 100'000'000'000;
  bottleneck.propagation = Duration{15'000};
  bottleneck.utilisation = 0.987;
  ClassCounters& lossless = bottleneck.counters.classes[3];
  lossless.tx_packets = 1000;
  lossless.tx_octets = 4'162'000;
  lossless.ecn_marked = 250;
  lossless.max_depth_octets = 1'250'000;
  ClassCounters& dropping = bottleneck.counters.classes[1];
  dropping.tx_packets = 900;
  dropping.tx_octets = 3'745'800;
  dropping.max_depth_octets = 500'000;
  dropping.drops.of(static_cast<std::size_t>(DropReason::kEgressFull)) = 100;
  PortReport leaf_to_h2 = bottleneck;
  leaf_to_h2.port = 2;
  leaf_to_h2.peer = "h2:1";
  leaf_to_h2.counters = {};
  leaf_to_h2.counters.classes[3].rx_packets = 1000;
  leaf_to_h2.counters.classes[3].xoff_sent = 12;
  leaf_to_h2.counters.classes[3].xon_sent = 12;
  PortReport h2;
  h2.node = "h2";
  h2.port = 1;
  h2.peer = "leaf1:2";
  h2.rate_bps = 100'000'000'000;
  h2.counters.classes[3].tx_packets = 1000;
  h2.counters.classes[3].xoff_received = 12;
  h2.counters.classes[3].xon_received = 12;
  h2.counters.classes[3].paused = 340_us;
  h2.pause_share[3] = 0.34;
  r.ports = {bottleneck, leaf_to_h2, h2};

  r.path_groups = {{"leaf1", {{"leaf1:3", "spine1:1", 300, 300'000}, {"leaf1:4", "spine2:1", 100, 100'000}}},
                   {"leaf2", {{"leaf2:3", "spine1:2", 0, 0}, {"leaf2:4", "spine2:2", 0, 0}}}};

  r.engine.packet_hops = 1900;
  r.engine.windows = 500;
  r.engine.window_ps = 615'000;
  r.engine.cpu_seconds = 0.25;
  r.engine.wall_seconds = 0.5;
  r.engine.simulated_seconds = 0.001;
  r.engine.peak_rss_bytes = 64'000'000;
  r.audit.generated = 2000;
  r.audit.consumed = 1900;
  r.audit.dropped = 100;
  r.audit.drained = true;
  r.trace_digest = 0x00C0FFEE;
  return r;
}

RoceReport sample_roce() {
  RoceReport r;
  r.operation = "write";
  r.qps = 2;
  r.messages = 40;
  r.verified = 39;
  r.message_ns = {1000, 2000, 3000, 4000, 5000, 6000};
  r.discarded = 11;
  r.retransmitted_packets = 12;
  r.out_of_sequence = 3;
  r.packet_seq_err = 2;
  r.implied_nak_seq_err = 1;
  r.duplicate_request = 4;
  r.out_of_buffer = 6;
  r.rnr_nak_received = 5;
  r.local_ack_timeout_err = 7;
  r.ecn_marked = 250;
  r.cnp_sent = 21;
  r.cnp_handled = 20;
  r.completion_errors = 8;
  r.status = "RETRY_EXC_ERR";
  r.failed_ns = 900'000;
  return r;
}

}  // namespace railyard::report
