// What a run has brought: plain numbers, collected once, shown as JSON or as text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/build/built_lab.h"
#include "control/report/bundle_report.h"
#include "control/fault/faults.h"
#include "control/report/audit.h"
#include "control/report/collective_report.h"
#include "control/report/expectation.h"
#include "control/report/link_tiers.h"
#include "control/report/path_groups.h"
#include "control/report/percentiles.h"
#include "control/rerouting/rerouting.h"
#include "control/report/service_report.h"
#include "control/report/thresholds.h"
#include "control/report/traffic_report.h"
#include "control/report/probe_report.h"
#include "control/report/transients.h"
#include "control/report/uet_report.h"
#include "control/report/verdict.h"
#include "control/telemetry/deadlock.h"
#include "control/telemetry/int_report.h"
#include "control/telemetry/pause_tree.h"
#include "control/telemetry/port_watch.h"
#include "dataplane/device/counters.h"

namespace railyard::report {

// What is needed to run it again.
struct RunInfo {
  std::string spec;  // the file
  std::string name;  // of the lab
  std::uint64_t seed = 0;
  std::string clock;  // "virtual" or "wall"
  std::string version;
  int workers = 1;
  std::string payload;  // "elided" or "real"
  std::string scale = "1";
  std::string command = {};            // as typed, for a shell
  std::string lab_digest = {};         // of the expanded lab without seed and workers: equal in runs of the same lab
  spec::DiagnosisSpec diagnosis = {};  // of a failure whose signature the counters have; empty: of none
  bool interrupted = false;            // a signal ended it before its end
};

// Of what the lab is made.
struct LabReport {
  int hosts = 0;
  int switches = 0;
  int links = 0;
  int attached_nics = 0;
  int roce_flows = 0;
  int generator_flows = 0;
  int uet_flows = 0;
};

// An RDMA device that an agent drives at an end of a flow, and what its port has counted meanwhile.
struct AgentDevice {
  std::string host;
  std::string device;
  std::map<std::string, std::uint64_t> hw_counters;
};

// Of a flow over RoCE: its QPs' counters, of both ends together, under the names that hardware has for them.
struct RoceReport {
  std::string operation;       // "write", "send" or "read"
  std::string qp_type = "rc";  // or "uc"
  int qps = 1;
  std::uint64_t messages = 0;   // complete; of UC, which nobody answers: sent
  std::uint64_t verified = 0;   // came whole, and every octet (elided payload: every packet) was what was sent
  Percentiles message_ns;       // from post to completion
  std::uint64_t discarded = 0;  // packets that the receiver had no use for: out of sequence, or there already
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t out_of_sequence = 0;  // gaps that the responder answered by a NAK
  std::uint64_t packet_seq_err = 0;   // such NAKs received
  std::uint64_t implied_nak_seq_err = 0;
  std::uint64_t duplicate_request = 0;
  std::uint64_t out_of_buffer = 0;  // RNR NAKs sent
  std::uint64_t rnr_nak_received = 0;
  std::uint64_t local_ack_timeout_err = 0;
  std::uint64_t ecn_marked = 0;  // packets with CE received
  std::uint64_t cnp_sent = 0;
  std::uint64_t cnp_handled = 0;
  std::uint64_t cnp_ignored = 0;
  std::uint64_t completion_errors = 0;  // flushed work requests included
  std::string status;                   // of the first of them: "RETRY_EXC_ERR"; empty: none
  std::optional<std::int64_t> failed_ns;
  // Of ends that agents have, in the order source, sink: then the counters above are the built-in end's alone.
  std::vector<AgentDevice> agents;
};

struct FlowReport {
  std::string name;
  std::string source;
  std::string destination;
  int priority = 0;
  bool measured = true;                 // false: an attached host receives it, and what arrived there is not known
  std::uint64_t bytes = 0;              // of payload, sent
  std::uint64_t packets = 0;            // sent
  std::uint64_t delivered_bytes = 0;    // arrived, each once; RoCE: taken by the transport
  std::uint64_t delivered_packets = 0;  // arrived, duplicates not counted
  std::uint64_t arrived_packets = 0;    // all that arrived with their payload, those of no use included
  std::uint64_t in_flight = 0;          // still in the fabric, copies left out
  std::uint64_t lost = 0;               // sent, not arrived, and not in the fabric any more; a copy is not it
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;  // RxFlowCounters::duplicated
  std::uint64_t corrupted = 0;
  std::uint64_t marked = 0;       // of arrived_packets: with CE
  std::uint64_t trimmed = 0;      // arrived without their payload; neither delivered nor lost
  std::uint64_t asked_bytes = 0;  // of payload, that it has in all; 0: it has no end
  // Packets sent by the end that retransmits, retransmissions included: the source's with payload; of READs over RoCE
  // the requests.
  std::uint64_t requester_packets = 0;
  // Goodput: payload delivered in the time that the flow was asked to send; see set_goodput(). 0 ns: nobody measured
  // it, or the flow has not begun.
  std::uint64_t goodput_bytes = 0;
  std::int64_t goodput_ns = 0;
  std::int64_t start_ns = 0;
  std::string waits_for;               // not empty: it has not started, and which trigger it waits for
  std::optional<std::int64_t> fct_ns;  // flows with an end, once it is all there
  // Of payload, from its first packet's arrival to its last's, or to the end of the time of its goodput if it is not
  // complete. Nothing: not measured.
  std::optional<double> arrival_bps;
  // Of payload, what its rate leaves of it, in the mean over the time of its goodput; 0: it has none.
  double offered_bps = 0;
  std::optional<std::int64_t> first_packet_ns;  // from its start to the first packet's arrival
  std::optional<std::int64_t> last_packet_ns;   // ... to the last's
  // ... to the last's whose payload was of use (not a duplicate, nor out of sequence), in the time of its goodput.
  std::optional<std::int64_t> last_delivered_ns;
  // QPs: what a REQ of the connection manager and its REP would take on an empty fabric, before a first packet may go.
  // Computed: the QPs of flows are connected without a word. A PDC is set up by its first packet.
  std::optional<std::int64_t> handshake_ns;
  double limit_bps = 0;  // of goodput: what framing leaves of NICs, PCI Express or the flow's rate; the mean
  std::optional<std::int64_t>
      ideal_ns;  // FCT on an empty fabric: its octets at limit_bps, and the way there (and back)
  Percentiles latency_ns;
  std::uint64_t least_latency_ns = 0;  // of packets that waited nowhere, if there are any; known where latency_ns is
  std::optional<RoceReport> roce;  // over RoCE;
  std::optional<UetReport> uet;    // over UET; neither: of the generator
  std::size_t traffic = 0;         // of Report::traffic

  const char* transport() const { return roce ? "roce" : uet ? "uet" : "generator"; }
  bool failed() const { return (roce && roce->completion_errors > 0) || (uet && uet->completion_errors > 0); }
  std::uint64_t retransmitted() const {
    return roce ? roce->retransmitted_packets : uet ? uet->retransmitted_packets : 0;
  }
  // UC, UUD: all was sent, and what is missing was lost; nothing tells the sender, and nobody repairs it.
  bool ended_with_loss = false;
  // Its start falls behind its stop or the end of run.duration: it was never asked to send.
  bool was_offered = true;
  // With an end, offered, and did not complete.
  bool is_incomplete() const { return asked_bytes > 0 && was_offered && !fct_ns && !ended_with_loss; }
  // Without an end, and nothing was delivered in the last half of the time that it was asked to send or more.
  bool stood_still() const {
    constexpr std::int64_t kLeast = 100'000;  // ns; what has just begun may have nothing there yet
    if (!measured || asked_bytes > 0 || !waits_for.empty() || goodput_ns < kLeast) return false;
    return last_delivered_ns ? *last_delivered_ns < goodput_ns / 2 : delivered_bytes == 0;
  }
  // Packets taken out of order; of go-back-N, which takes none of these: gaps answered by a NAK.
  std::uint64_t out_of_order() const { return roce ? roce->out_of_sequence : reordered; }
  // goodput_bytes x 8 / goodput_ns; goodput of what is possible, at most 1; FCT against the ideal one. Nothing: not
  // known.
  std::optional<double> goodput_bps() const;
  std::optional<double> share() const;
  std::optional<double> slowdown() const;
  // From nothing at all to the first packet's arrival; of flows of messages.
  std::optional<std::int64_t> initiation_ns() const;
  // Shares of packets, 0..1. Nothing: no packet arrived; none was sent, or the flow has no transport that retransmits.
  std::optional<double> ce_share() const;
  std::optional<double> retransmission_share() const;
  // Payload that it has asked for (of a flow without an end: its limit over the time of its goodput), and what was
  // delivered of that.
  std::pair<double, double> asked_and_delivered() const;
};

// Goodput of several flows together: from the first that starts to the end of the last's interval.
struct GoodputSum {
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> first_ns, last_ns;

  void add(const FlowReport& flow);
  std::int64_t ns() const { return first_ns ? *last_ns - *first_ns : 0; }
  // Nothing: none of them is measured.
  std::optional<double> bps() const;
};

struct PortReport {
  std::string node;
  int port = 0;
  std::string peer;
  bool is_switch = false;
  std::int64_t rate_bps = 0;
  std::int64_t slot_bps = 0;  // of a built-in NIC: what its PCI Express slot carries; 0: as much as its link
  Duration propagation{};     // of its link, one way
  PortCounters counters;
  // Shares of the load interval (Report::load): of the sending direction, with preamble and gap, that it was sending;
  // and that each class was paused, or waited for credits.
  double utilisation = 0;
  std::array<double, kPriorities> pause_share{};
  std::array<double, kPriorities> stall_share{};
  // Of a port that was polled: how often its link was seen to go down, and how it sent while frames waited.
  telemetry::PortWatch::Seen polled{};
};

// One of several processes that have run a lab together.
struct ProcessReport {
  int devices = 0;  // that it ran
  double cpu_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t frames_sent = 0;  // to devices of other processes,
  std::uint64_t bytes_sent = 0;   // ... as they were packed, and
  double wait_seconds = 0;        // ... the wall time that it waited for the others
};

struct EngineReport {
  std::uint64_t packet_hops = 0;  // frames that left a switch egress port, MAC control not counted
  std::uint64_t windows = 0;
  std::int64_t window_ps = 0;
  double cpu_seconds = 0;
  double wall_seconds = 0;
  double simulated_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::optional<Percentiles> lateness_ns;  // wall clock
  std::int64_t slip_ns = 0;
  double busy_seconds = 0;  // wall clock: with something to do; the rest was waiting
  std::uint64_t gaps = 0;   // wall clock: the machine took the loop away for more than 50 us
  std::vector<ProcessReport> processes{};  // empty: there was one
};

struct AttachmentReport {
  std::string node;
  int nic = 0;
  std::string device;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  // Lost before the fabric took them, or for want of memory; refused by the outside.
  std::uint64_t host_ring_full = 0;
  std::uint64_t no_memory = 0;
  std::uint64_t not_sent = 0;
  // Of a capture file: its PFC frames that were sent, and frames of the file that were not, by why.
  bool is_capture = false;
  std::uint64_t pfc_sent = 0;
  std::map<std::string, std::uint64_t> left_out{};
};

struct TrunkReport {
  std::string node;
  std::string wire;   // what carries it
  std::string state;  // "up", or why not
  TrunkCounters counters;
  Percentiles lateness_ns;  // of frames from the far end, against the link as modelled
};

// What lossless classes have lost (control/report/lossless.h).
struct LosslessDrops {
  struct Place {
    std::string port;  // "leaf1:3"
    std::size_t priority = 0;
    DropReason reason = DropReason::kIngressFull;
    std::uint64_t frames = 0;
  };
  std::uint64_t rdma = 0;      // frames of RDMA flows, in a class that is lossless anywhere on their path
  std::uint64_t for_room = 0;  // other frames of classes that are lossless where they were dropped: for want of buffer
  // Other frames of classes that are lossless at a switch: for want of buffer where the class is not lossless itself
  // (NICs, other switches); and for other reasons.
  std::uint64_t where_lossy = 0;
  std::uint64_t otherwise = 0;
  // Frames of any kind that outages and damage took: links down, crashed switches, loss faults, wrong FCS or ICRC.
  std::uint64_t to_faults = 0;
  std::vector<Place> places;  // of `rdma` and `for_room`, the most frames first
  bool any_lossless = false;  // a class of a switch is lossless
  std::string lossy_roce;     // where RoCE enters a path that is lossy everywhere: "class 3 at leaf1"; empty: nowhere
  std::uint64_t dropped_lossy = 0;  // frames of RDMA flows whose path is lossy everywhere
};

struct RankLatency {
  std::string nic;
  Percentiles latency_ns;
};

// PFC in the steady state: from the end of the warm-up (run.budgets.warm-up) to the end of traffic.
struct SteadyPauses {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  double share = 0;            // of that time, of the class of a port that was paused longest
  std::string share_at;        // "leaf1:3 class 3"; empty: none was paused
  double xoff_per_second = 0;  // of the class of a port that sent most
  std::string xoff_at;
};

// The time that shares of time and mean rates of the run are taken over: from the start of the run until traffic ended
// (the last flow or collective completed, failed, or was no longer offered), and to the end of run.duration or the run
// at the latest.
struct LoadInterval {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};

struct Report {
  RunInfo run;
  LabReport lab;
  Budgets budgets;
  LoadInterval load;
  std::vector<FlowReport> flows;
  std::vector<TrafficReport> traffic;
  std::uint64_t latency_samples = 0;
  Percentiles latency_ns;  // of all packets of all flows
  std::vector<LinkTier> link_tiers;
  std::uint64_t peak_buffer_bytes = 0;          // of the shared buffer of one switch, the most in use at any time
  std::optional<LosslessDrops> lossless_drops;  // nothing: no class is lossless, and there is no RDMA traffic
  std::optional<SteadyPauses> steady_pauses;    // nothing: the run did not get there
  bool watched_for_deadlocks = false;
  std::vector<CollectiveReport> collectives;
  // Of packets with payload of collectives, by receiving NIC; only where run.budgets sets a limit from NIC to NIC.
  std::vector<RankLatency> rank_latency;
  std::vector<UetNicReport> uet_nics;
  std::vector<ServiceNicReport> service_nics;
  std::vector<RpingReport> rpings;
  std::vector<PortReport> ports;
  std::vector<EffectiveThreshold> thresholds;
  std::vector<PathGroupReport> path_groups;  // with at least two members
  std::vector<AttachmentReport> attachments;
  std::vector<TrunkReport> trunks;
  std::vector<fault::FaultStatus> faults;
  EngineReport engine;
  Audit audit;
  std::vector<telemetry::DeadlockWatch::Seen> deadlocks;
  telemetry::PauseTreeWatch pause_trees;
  std::vector<rerouting::Rerouting> reroutings;
  std::vector<BundleReport> bundles;
  std::optional<telemetry::IntReport> in_band;
  std::optional<std::uint64_t> trace_digest;
  std::optional<ProbeReport> probes;      // of a lab whose file asks for probes
  std::optional<Transients> transients;   // of a run that was watched for them
  std::vector<Expectation> expectations;  // of the file and the command line, in this order
  std::vector<Expectation> evidence;      // of run.diagnosis: the conditions of its signature

  // What is as it should be, and what is not; made of the rest.
  std::vector<Verdict> verdicts() const;
  // The whole as JSON; json(): as text, two blanks of indentation.
  nlohmann::ordered_json value() const;
  // The same with an empty list of ports: of a large lab these are most of it (port_json.h).
  nlohmann::ordered_json value_without_ports() const;
  std::string json() const;
  // For people: what happened, where it queued, who was held back, what was lost.
  std::string text() const;
};

// Adds what polling has shown of ports, in the order of collect().
void add_port_watch(const telemetry::PortWatch& watch, std::vector<PortReport>& ports);

// The counters of all devices at one instant, by device.
using Snapshot = std::vector<DeviceCounters>;

// Flows, collectives, ports, audit and packet_hops of a lab that rests. `loaded`: its counters when traffic ended, for
// utilisation; empty: then it has not ended. `now`: until when it ran, if that is later than its devices know: nothing
// happened any more. `warm`: its counters at the end of the warm-up; empty: it did not get there.
Report collect(build::BuiltLab& lab, const Snapshot& loaded, Instant now = {}, const Snapshot& warm = {});

}  // namespace railyard::report
