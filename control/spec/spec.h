// A lab as plain data: what a fabric file says once it is read, checked and expanded.
//
// Labs compare equal when they say the same: every member counts except `place`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/spec/attachment_spec.h"
#include "control/spec/collective_spec.h"
#include "control/spec/compare_spec.h"
#include "control/spec/condition_spec.h"
#include "control/spec/control_spec.h"
#include "control/spec/diagnosis_spec.h"
#include "control/spec/probe_spec.h"
#include "control/spec/fault_spec.h"
#include "control/spec/flow_sizes.h"
#include "control/spec/place.h"
#include "control/spec/qos_spec.h"
#include "control/spec/roce_spec.h"
#include "control/spec/routing_spec.h"
#include "control/spec/sites_spec.h"
#include "control/spec/uet_spec.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/polling.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::spec {

// A length of cable.
struct Length {
  std::int64_t mm = 0;

  auto operator<=>(const Length&) const = default;
};

// Signals in fibre and copper travel at about two thirds of the speed of light: 5 ns/m.
constexpr Duration propagation(Length cable) noexcept { return {cable.mm * 5}; }

// ---- Devices -------------------------------------------------------------------------------------------------------

enum class ForwardingMode { kStoreAndForward, kCutThrough };

struct EcmpSpec {
  bool addresses = true;
  bool ports = true;
  bool destination_qp = false;
  bool uet_entropy = false;
  bool ingress_port = false;
  bool resilient = true;              // a member that is lost moves no other flow than its own
  std::optional<std::uint64_t> seed;  // nothing: one per switch, from the run's seed

  bool operator==(const EcmpSpec&) const = default;
};

struct PfcWatchdog {
  enum class Action { kDrop, kForward, kAlert };
  Duration detect{200'000'000'000};   // stuck for so long, a queue is in a storm
  Duration restore{200'000'000'000};  // no pause frame for so long, and it is over
  Duration poll{200'000'000'000};     // how often it is looked
  Action action = Action::kDrop;

  bool operator==(const PfcWatchdog&) const = default;
};

// In-network reduction: the switch adds what ranks of collectives send up a tree, and multicasts the sum. What does so is a host
// of its own at the switch (reducers.h).
struct ReductionSpec {
  std::optional<BitRate> rate;  // of the reducer's link; nothing: the rates of all other links of the switch
  Duration latency{};           // from a message's arrival until its sum may go on

  bool operator==(const ReductionSpec&) const = default;
};

struct SwitchProfile {
  int ports = 0;       // the most links that a switch can have; 0: any number
  BitRate port_rate{};  // the fastest link that a port takes; 0: any
  int breakout = 1;     // each of these ports is so many, of its rate divided by as much; 1..8
  Bytes buffer{32 << 20};
  Bytes cell{256};
  Bytes headroom_pool{};                   // of the buffer, for all lossless classes; 0: each has its own headroom
  Duration latency{600'000};               // MAC and pipeline
  std::optional<Duration> pause_response;  // nothing: the standard's maximum
  int pause_quanta = 65535;
  std::optional<PfcWatchdog> pfc_watchdog;
  ForwardingMode mode = ForwardingMode::kStoreAndForward;
  EcmpSpec ecmp;
  std::optional<ReductionSpec> reduction;  // nothing: it only forwards
  ControlSpec control;
  std::string qos = "default";

  bool operator==(const SwitchProfile&) const = default;

  // As links see them, with breakout.
  int linked_ports() const noexcept { return ports * breakout; }
  BitRate link_rate() const noexcept { return {port_rate.bps / breakout}; }
};

struct ReceiveSpec {
  std::optional<BitRate> rate;  // at which the host takes frames; nothing: as fast as they come
  Bytes buffer{1 << 20};
  Bytes xoff{256 << 10};
  Bytes xon{192 << 10};

  bool operator==(const ReceiveSpec&) const = default;
};

// A PCI Express link (pcie.h).
struct PcieSlot {
  int generation = 5;  // 3..6
  int lanes = 16;      // 4, 8, 16

  bool operator==(const PcieSlot&) const = default;
};

// How NICs are connected to their host.
struct PcieSpec {
  PcieSlot slot;                   // of each NIC
  std::optional<PcieSlot> uplink;  // what `shared_by` NICs share; nothing: it is like `slot`
  int shared_by = 1;               // so many neighbouring NICs of a host; 1: each has a slot of its own

  bool operator==(const PcieSpec&) const = default;
};

// How ranks of collectives in one host, or in several, reach each other without their NICs.
struct ScaleUpSpec {
  BitRate rate{};               // of each rank, in each direction
  Duration latency{500'000};  // of a first octet
  int hosts = 1;  // so many of the profile share one network (scale_up_networks.h)
  bool reduces = false;  // its switches add, for collectives with the algorithm in-network

  bool operator==(const ScaleUpSpec&) const = default;
};

struct HostProfile {
  static constexpr int kVlanAuto = -1;  // where the switch at the other end trusts PCP (frame_tags.h)
  static constexpr int kVlanOff = -2;   // no frame of a built-in NIC has a tag

  Attachment attach;  // namespace or vm: what hosts are that do not say it themselves
  Duration latency{600'000};
  std::optional<Duration> pause_response;
  int pause_quanta = 65535;
  int vlan = kVlanAuto;          // VID of what built-in NICs send, 0..4094; 0: priority-tagged
  PfcMode pfc = PfcMode::kAuto;  // of the NICs, all classes; auto: what the QoS profile says of each class
  std::uint32_t clock_error_ppb = 100'000;  // of each NIC's clock, either way at most; 0: exact, and all in phase
  ReceiveSpec receive;
  std::optional<PcieSpec> pcie;  // nothing: NICs are as fast as their links
  RoceNicSpec roce;
  UetNicSpec uet;
  std::optional<ScaleUpSpec> scale_up;  // nothing: ranks of a host reach each other through the fabric
  // Ranks of collectives are GPUs, each behind one of the host's NICs. Nothing: each NIC is a rank.
  std::optional<int> gpus;
  std::vector<int> gpu_nics;  // the NIC of GPU 1, 2, ...; empty: gpu_nic() spreads them evenly
  std::string qos = "default";  // its classes' scheduling is the NIC's ETS
  std::vector<std::string> interfaces;  // what NICs 1, 2, ... are called (interface_name.h); none: eth1, eth2, ...

  bool shares_scale_up() const noexcept { return scale_up && scale_up->hosts > 1; }
  bool operator==(const HostProfile&) const = default;
};

// ---- Nodes and links -----------------------------------------------------------------------------------------------

struct NicSpec {
  std::optional<wire::MacAddress> mac;  // expand() fills it in; an attached host's may stay unknown until it speaks
  std::optional<wire::IpAddress> address_v4;
  std::optional<wire::IpAddress> address_v6;
  Attachment attach;
  Place place;

  bool operator==(const NicSpec&) const = default;
};

struct VlanSpec {
  int native = 1;           // 1..4094
  bool all_tagged = true;   // carries every other VLAN tagged
  std::vector<int> tagged;  // these only, if not all_tagged

  bool operator==(const VlanSpec&) const = default;
};

// What is said of one port alone.
struct PortSpec {
  PfcMode pfc = PfcMode::kAuto;          // of all classes that `classes` does not mention
  std::map<int, ClassOverride> classes;  // by number, 0..7

  bool operator==(const PortSpec&) const = default;
};

// What carries a trunk over IP: the way between two daemons.
struct TrunkUdp {
  wire::UdpEndpoint local;
  wire::UdpEndpoint remote;

  bool operator==(const TrunkUdp&) const = default;
};

// The far end of a link whose other half another daemon has.
struct TrunkSpec {
  std::optional<TrunkUdp> udp;  // this carries it, or ...
  Attachment attach;            // ... this port: one that a host outside could be behind
  // Octets that frames through it carry behind their Ethernet header; else what it carries.
  std::optional<int> port_mtu;
  std::vector<wire::IpPrefix> networks;  // addresses behind it
  Duration timeout{300'000'000'000};     // of wall time: not heard for so long, the far end is gone and the link down

  bool operator==(const TrunkSpec&) const = default;
};

// A host whose RDMA devices an agent drives (tools/agent): its NICs may be ranks of collectives.
struct AgentSpec {
  std::string token;  // what the agent must know; empty: drawn when the lab comes up

  bool operator==(const AgentSpec&) const = default;
};

inline constexpr int kMostNics = 64;  // of a host

struct NodeSpec {
  enum class Kind { kSwitch, kHost, kTrunk };
  std::string name;
  Kind kind = Kind::kSwitch;
  std::string profile = "default";
  std::string role;                            // "leaf", "spine", ...: for pictures and selectors
  std::string rack;                            // what shares its power and place; empty: none is said
  std::vector<int> at;                         // switches: coordinates, for RoutingSpec::order; none: nowhere
  std::optional<wire::IpAddress> loopback_v4;  // switches
  std::optional<wire::IpAddress> loopback_v6;
  std::optional<ControlSpec> control;  // switches; nothing: what the profile says
  std::vector<NicSpec> nics;      // hosts: 1..kMostNics, port i is nics[i - 1]
  std::optional<AgentSpec> agent;  // hosts
  bool reduces = false;  // hosts: it is the reducer of the switch at its NIC, and no host that anybody counts
  std::map<int, VlanSpec> vlans;  // switches, by port number; absent: native 1, all others tagged
  std::map<int, PortSpec> ports;  // switches and hosts, by port number
  TrunkSpec trunk;                // trunks: port 1 is its only one
  Place place;

  bool operator==(const NodeSpec&) const = default;
};

// Whether a speaker is asked for at the switch; has_speaker() says whether there is one.
inline bool is_controlled(const NodeSpec& node) noexcept {
  return node.control && node.control->kind != ControlSpec::Kind::kModel;
}

struct PortName {
  std::string node;
  int port = 0;  // from 1

  auto operator<=>(const PortName&) const = default;
};

// Link-level retry: dataplane/device/link_retry.h.
struct LlrSpec {
  Duration turnaround{200'000};

  bool operator==(const LlrSpec&) const = default;
};

// cable_medium.h
enum class CableMedium : std::uint8_t { kDac, kAec, kSr, kAoc, kDr, kFr, kLr };

struct LinkSpec {
  PortName a;
  PortName b;
  BitRate rate{100'000'000'000};
  Duration delay = propagation(Length{3'000});  // one way; from `cable`, or said as such (then no `cable`)
  std::optional<Length> cable{Length{3'000}};
  std::optional<CableMedium> medium;  // nothing: any that reaches as far
  int mtu = 9216;  // longest IP packet, octets
  std::string bundle;  // links between two switches with the same name are one (link_bundle.h); empty: it stands alone
  std::optional<int> weight;  // for WCMP, at both ends; nothing: by what lies behind it
  std::optional<LlrSpec> llr;
  Framing framing;
  Place place;

  bool operator==(const LinkSpec&) const = default;
};

// ---- Traffic -------------------------------------------------------------------------------------------------------

// One flow that a file lists (flow_file.h).
struct ListedFlow {
  PortName from;
  PortName to;
  Bytes bytes{};
  Duration start{};  // after that of the traffic
  // Numbers of triggers of the same file, 0: none. What starts it, in the place of `start`; and what it fires when its
  // source has all of it acknowledged, and when its destination has received all of it.
  std::uint32_t trigger = 0;
  std::uint32_t send_done = 0;
  std::uint32_t recv_done = 0;
  std::uint32_t connection = 0;  // flows of one number are messages of one connection; 0: it has its own

  bool operator==(const ListedFlow&) const = default;
};

// What starts flows of a file when others are done (flow_file.h).
struct ListedTrigger {
  enum class Kind {
    kOneshot,    // starts all of its flows when it is fired first
    kMultishot,  // starts one more of them each time, in the file's order
    kBarrier     // starts all of them when it has been fired `count` times
  };
  std::uint32_t number = 0;
  Kind kind = Kind::kOneshot;
  std::uint32_t count = 1;

  bool operator==(const ListedTrigger&) const = default;
};

// Flows between built-in NICs, of the generator, over RoCEv2 or over UET: `from` and `to` are selectors over hosts ("h1", "h*",
// "h3:2"; select.h).
//   pairs        the i-th of `from` to the i-th of `to`; one of either to all of the other
//   incast       `fan_in` of `from` to each of `to`
//   permutation  each of `from` to one of `to`, no two to the same
//   all-to-all   each of `from` to each of `to`
//   random       each of `from` to `flows` of `to`
//   file         what `file` lists
// With `load` flows arrive at each sender at random (a Poisson process) until `stop` or the end of the run, each to one
// of the pattern's receivers for it, so that in the mean so much of its link's rate is payload.
// A host never sends to itself: such pairs are left out. All but pairs stay within a rail: NIC k sends to NIC k, if
// there is one among the receivers (incast: is received from NIC k, if there is one among the senders), else to any.
struct TrafficSpec {
  enum class Pattern { kPairs, kIncast, kPermutation, kAllToAll, kRandom, kFile };
  enum class Transport { kGenerator, kRoce, kUet };
  std::string name;  // flows are called name/source->destination
  Pattern pattern = Pattern::kPairs;
  std::vector<std::string> from{"*"};
  std::vector<std::string> to{"*"};
  int fan_in = 0;  // incast: senders per receiver; 0: all of `from`
  int flows = 1;   // random: per sender; others: parallel flows per pair, each with its own UDP port
  bool bidirectional = false;  // each flow is also there the other way round, of the same size
  Transport transport = Transport::kGenerator;
  RoceTraffic roce;  // of kRoce and kUet
  UetService service = UetService::kRud;  // of kUet
  bool tagged = false;                    // of kUet, SENDs: TAGGED_SEND
  int ip_version = 4;
  int dscp = 26;
  bool ect = true;
  std::optional<int> priority;   // class at the sending NIC; nothing: what its QoS profile makes of the DSCP
  std::optional<int> vlan;       // VID of its frames, 0..4094; nothing: the host's
  std::optional<int> pcp;        // PCP of its frames; nothing: by the class at the NIC
  std::uint32_t payload = 4096;  // generator: octets per frame, a multiple of 4
  std::optional<BitRate> rate;   // per flow, on the wire; nothing: greedy
  Bytes bytes{};                 // of payload per flow; 0: no end
  std::optional<FlowSizes> sizes;  // in the place of `bytes`: each flow's is drawn
  std::optional<Ratio> load;       // with `sizes`, or with `bytes`
  std::string file;                // file
  std::vector<ListedFlow> listed;  // file: what it says, once the lab is read
  std::vector<ListedTrigger> triggers;  // the same
  Duration start{};
  Duration stagger{};            // flow i starts i x stagger later
  std::optional<Duration> stop;  // nothing: at the end of the run
  Duration on{};                 // generator: with `off`: on/off
  Duration off{};
  // Generator with a rate: each frame waits for a drawn part of so much of a gap; nothing: all of it, none where the
  // NIC's clock is exact.
  std::optional<std::uint32_t> gap_jitter_ppm;
  Place place;

  bool is_roce() const noexcept { return transport == Transport::kRoce; }
  bool is_uet() const noexcept { return transport == Transport::kUet; }
  // Messages, not frames that nothing answers.
  bool has_messages() const noexcept { return transport != Transport::kGenerator; }
  // Messages over unreliable connections of RoCEv2.
  bool is_uc() const noexcept { return is_roce() && roce.qp_type == RoceQpType::kUc; }
  bool is_rping() const noexcept { return is_roce() && roce.operation == RoceOperation::kRping; }
  // Whether every flow has an end.
  bool has_end() const noexcept { return bytes.n > 0 || sizes || pattern == Pattern::kFile; }

  bool operator==(const TrafficSpec&) const = default;
};

// ---- The run -------------------------------------------------------------------------------------------------------

enum class Clock { kVirtual, kWall };
enum class Payload { kElided, kReal };

// In-band telemetry: which packets hops take notes of.
struct IntSpec {
  int one_in = 1000;                    // of so many packets one, chosen by a hash
  std::vector<int> classes = {};        // at the sending NIC; none: all
  std::vector<std::string> flows = {};  // names of flows, or of traffic; none: all, and what attached hosts send
  int packets = 4096;                   // of one sender at a time

  bool operator==(const IntSpec&) const = default;
};

// What a report holds a run against.
struct BudgetSpec {
  // Latency; nothing: it is not judged.
  std::optional<Duration> scale_out;  // of a packet from NIC to NIC ...
  std::optional<Duration> scale_up;   // of a message's first octet from rank to rank of a scale-up network ...
  int percentile = 9900;              // ... for this part of them, in hundredths of a per cent
  // Pauses in the steady state, from warm_up on, of any class of any port; nothing: they are not judged.
  // Of the time: a link that is paused for longer has lost a tenth of its capacity.
  std::optional<Ratio> pause_share{Ratio{1, 10}};
  // PFC frames with a pause time a second. More than one in the 50 us that DCQCN leaves between CNPs (Zhu et al.,
  // SIGCOMM 2015, section 3.3: N = 50 us): PFC controls the senders, congestion control does not.
  std::optional<int> xoff_rate = 20'000;
  std::optional<Duration> warm_up;  // nothing: a tenth of run.duration; 1 ms in runs without it

  bool operator==(const BudgetSpec&) const = default;
};

struct RunSpec {
  Clock clock = Clock::kVirtual;
  Seed seed{1};
  std::optional<Duration> duration;  // traffic stops then; nothing: when all flows with an end are done
  Duration drain{1'000'000'000};     // after that, how long frames may still be on their way
  std::int64_t scale_numerator = 1;  // scale: simulated time per wall time, e.g. 1/100
  std::int64_t scale_denominator = 1;
  // Queues that wait for each other in a circle for so long are a deadlock; 0: nobody looks.
  Duration deadlock{1'000'000'000};
  int workers = 1;
  Payload payload = Payload::kElided;
  Bytes memory{std::int64_t{4} << 30};  // ceiling for packets
  bool hugepages = false;
  Duration lag_limit{1'000'000'000};  // wall clock: further behind, simulated time slips
  Polling polling = Polling::kBalanced;  // wall clock: what idle workers do
  std::vector<int> cores{};           // wall clock: processors of the workers, one each; empty: any
  std::optional<IntSpec> in_band;     // key 'int'; nothing: no packet is followed
  BudgetSpec budgets;
  std::optional<Ratio> gpu_hour;  // what an hour of a rank's GPU costs, in whatever currency
  bool timeline = false;          // when each step of collectives begins and ends is kept, for the report
  std::optional<wire::UdpEndpoint> agents;  // TCP address and port that agents may come to; nothing: a UNIX socket only

  bool operator==(const RunSpec&) const;
};

// Where nodes are, by name: a help for Lab::find() and no part of what a lab says.
struct NodeIndex {
  std::unordered_map<std::string, std::size_t> by_name;

  bool operator==(const NodeIndex&) const noexcept { return true; }
};

struct Lab {
  std::string name;
  std::string description;
  std::map<std::string, QosProfile> qos;          // "default" is always there
  std::map<std::string, SwitchProfile> switches;  // "default" too
  std::map<std::string, HostProfile> hosts;       // "default" too
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
  std::vector<TrafficSpec> traffic;
  std::vector<CollectiveSpec> collectives;
  std::vector<FaultSpec> faults;
  RoutingSpec routing;
  RunSpec run;
  std::optional<ProbeSpec> probe;  // nothing: nobody probes
  CompareSpec compare;
  DiagnosisSpec diagnosis;
  std::vector<ConditionSpec> expect;  // what a run must measure
  std::map<std::string, SiteSpec> sites;
  TrunksSpec trunks;

  // nullptr: there is none. By `index` where that is right, else one by one.
  const NodeSpec* find(const std::string& node) const noexcept;
  // Makes `index` anew, once the nodes are there.
  void make_index();
  NodeIndex index;
  WholeLab whole;

  bool operator==(const Lab&) const = default;
};

// Whether a speaker outside decides what the switch forwards by: in a live lab.
inline bool has_speaker(const Lab& lab, const NodeSpec& node) noexcept {
  return lab.run.clock == Clock::kWall && is_controlled(node);
}

}  // namespace railyard::spec
