// The keys of switch and host profiles.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr Duration kMostLatency{kPicosecondsPerSecond};
constexpr BitRate kLeastRate{1'000'000};

// The fields that ECMP hashes, as a list of words.
Key<EcmpSpec> fields() {
  static const std::vector<std::pair<std::string, bool EcmpSpec::*>> kFields{
      {"addresses", &EcmpSpec::addresses},
      {"ports", &EcmpSpec::ports},
      {"destination-qp", &EcmpSpec::destination_qp},
      {"uet-entropy", &EcmpSpec::uet_entropy},
      {"ingress-port", &EcmpSpec::ingress_port}};
  std::vector<std::string> words;
  for (const auto& [word, member] : kFields) words.push_back(word);
  Tree schema = Tree::map(
      {{"type", Tree::string("array")}, {"items", choice_schema(words)}, {"uniqueItems", Tree::plain("true")}});
  return {"fields",
          "header fields that the hash covers; with none, all flows take the same path",
          [words](const Tree& tree, EcmpSpec& into) {
            for (const auto& [word, member] : kFields) into.*member = false;
            for (const Tree& item : tree.as_list(fmt::format("a list of {}", fmt::join(words, ", ")))) {
              const auto field =
                  std::ranges::find(kFields, item.text, &std::pair<std::string, bool EcmpSpec::*>::first);
              if (item.kind != Tree::Kind::kScalar || field == kFields.end()) fail_choice(item, words);
              if (into.*(field->second)) item.fail(fmt::format("'{}' is given twice", item.text));
              into.*(field->second) = true;
            }
          },
          [](const EcmpSpec& from) {
            Tree list = Tree::list({});
            for (const auto& [word, member] : kFields)
              if (from.*member) list.items.push_back(Tree::plain(word));
            return list;
          },
          [](const EcmpSpec& a, const EcmpSpec& b) {
            return std::ranges::all_of(kFields, [&](const auto& f) { return a.*(f.second) == b.*(f.second); });
          },
          std::move(schema)};
}

// Expanded before the profile is read (starting_profile.h).
template <typename Profile>
Key<Profile> starting_profile(const char* name, std::string help) {
  return {name,
          std::move(help),
          [](const Tree&, Profile&) {},
          [](const Profile&) { return Tree{}; },
          [](const Profile&, const Profile&) { return true; },
          any_text().schema};
}

void check_switch(const Tree& map, const SwitchProfile& profile) {
  if (profile.buffer.n < 64 * profile.cell.n)
    map.at_or_self("buffer").fail(
        fmt::format("{} is less than 64 cells of {}", format(profile.buffer), format(profile.cell)));
  if (profile.headroom_pool >= profile.buffer)
    map.at_or_self("headroom-pool")
        .fail(fmt::format("{} is not less than the whole buffer ({})", format(profile.headroom_pool),
                          format(profile.buffer)));
}

void check_watchdog(const Tree& map, const PfcWatchdog& w) {
  for (const auto& [name, value] : {std::pair{"detect", w.detect}, std::pair{"restore", w.restore}})
    if (value < w.poll)
      map.at_or_self(name).fail(fmt::format("{} ({}) is shorter than poll ({}); expected at least one poll", name,
                                            format(value), format(w.poll)));
}

void check_receive(const Tree& map, const ReceiveSpec& receive) {
  if (receive.xon >= receive.xoff)
    map.at_or_self("xon").fail(
        fmt::format("xon ({}) is not below xoff ({}); expected xon < xoff", format(receive.xon), format(receive.xoff)));
  if (receive.xoff > receive.buffer)
    map.at_or_self("xoff").fail(fmt::format("xoff ({}) is above the buffer ({}); expected xoff <= buffer",
                                            format(receive.xoff), format(receive.buffer)));
}

constexpr const char* kLatencyHelp = "time from the arrival of a pause frame to its first effect: MAC and pipeline";
constexpr const char* kPauseResponseHelp =
    "time from the end of a received pause frame until no new frame starts; default: the maximum that IEEE 802.3 "
    "allows";
constexpr const char* kPauseQuantaHelp =
    "pause time that sent pause frames request, in units of 512 bit times; repeated while needed";
constexpr const char* kQosHelp = "name of the QoS profile";

}  // namespace

const Table<EcmpSpec>& ecmp_keys() {
  static const Table<EcmpSpec> table{"ecmp",
                                     "Path selection among equal-cost paths",
                                     {fields(),
                                      key("seed", &EcmpSpec::seed, seed_form(),
                                          "seed of the hash; default: one per switch, derived from the run's seed"),
                                      key("resilient", &EcmpSpec::resilient, boolean(),
                                          "true: a link failure moves only the flows on that link; false: it rehashes "
                                          "all flows")}};
  return table;
}

Form<ControlSpec> control_form() {
  using Kind = ControlSpec::Kind;
  constexpr std::size_t kLongestPath = 4096;
  const Form<ControlSpec> word = choice<ControlSpec>(
      {{"model", {}}, {"namespace", {Kind::kNamespace, {}}}, {"frr", {Kind::kFrr, {}}}});
  const Form<std::string> path = file_path(kLongestPath);
  const Tree with_file = Tree::map({{"type", Tree::string("object")},
                                    {"properties", Tree::map({{"frr", path.schema}})},
                                    {"required", Tree::list({Tree::string("frr")})},
                                    {"additionalProperties", Tree::plain("false")}});
  return {[=](const Tree& tree) {
            if (tree.kind == Tree::Kind::kScalar) return word.read(tree);
            tree.as_map("model, namespace, frr, or { frr: FILE }");
            refuse_unknown_keys(tree, {"frr"});
            const Tree* file = tree.find("frr");
            if (file == nullptr) tree.fail("found an empty map; expected model, namespace, frr, or { frr: FILE }");
            return ControlSpec{Kind::kFrr, path.read(*file)};
          },
          [=](const ControlSpec& control) {
            return control.config.empty() ? word.write(control) : Tree::map({{"frr", path.write(control.config)}});
          },
          any_of_schemas({word.schema, with_file})};
}

const Table<PfcWatchdog>& pfc_watchdog_keys() {
  constexpr Duration kLeast{1'000'000};
  constexpr Duration kMost{60 * kPicosecondsPerSecond};
  static const Table<PfcWatchdog> table{
      "pfc-watchdog",
      "PFC watchdog: handling of a lossless queue that stays paused",
      {key("detect", &PfcWatchdog::detect, duration(kLeast, kMost),
           "a queue that is paused and sends nothing for this time is in a storm")
           .show(),
       key("restore", &PfcWatchdog::restore, duration(kLeast, kMost),
           "the storm ends when the queue has not been paused for this time")
           .show(),
       key("poll", &PfcWatchdog::poll, duration(kLeast, kMost), "polling interval").show(),
       key("action", &PfcWatchdog::action,
           choice<PfcWatchdog::Action>({{"drop", PfcWatchdog::Action::kDrop},
                                        {"forward", PfcWatchdog::Action::kForward},
                                        {"alert", PfcWatchdog::Action::kAlert}}),
           "action in a storm: drop queued and arriving frames, send in spite of the pause, or only count")
           .show()},
      check_watchdog};
  return table;
}

const Table<ReductionSpec>& reduction_keys() {
  static const Table<ReductionSpec> table{
      "reduction",
      "In-network reduction: a switch adds what ranks send up a tree, and multicasts the sum",
      {key("rate", &ReductionSpec::rate, either("all-ports", std::optional<BitRate>{}, maybe(rate(kLeastRate))),
           "at which the switch takes in data to reduce, and sends results to its ports together. all-ports: the rates of "
           "its links together"),
       key("latency", &ReductionSpec::latency, duration({}, kMostLatency),
           "time from the arrival of a message at the reducer until its sum can be sent")}};
  return table;
}

const Table<SwitchProfile>& switch_keys() {
  static const Table<SwitchProfile> table{
      "switch-profile",
      "A switch profile",
      {starting_profile<SwitchProfile>(
           "asic",
           "ASIC profile to start from: one of those in topologies/profiles, or the path of your own file. The other "
           "keys here override its values"),
       key("ports", &SwitchProfile::ports, either("unlimited", 0, integer(1, 4096)),
           "radix: highest port number that may have a link"),
       key("port-rate", &SwitchProfile::port_rate, either("unlimited", BitRate{}, rate(kLeastRate)),
           "maximum rate of a link at a port"),
       key("breakout", &SwitchProfile::breakout, integer(1, 8),
           "breakout cables: each port is split in N ports of 1/N of port-rate. Ports 1 to N are the first one, and so on"),
       key("buffer", &SwitchProfile::buffer, size(Bytes{4096}, Bytes{std::int64_t{1} << 40}),
           "packet memory shared by all ports, in bytes")
           .show(),
       key("cell", &SwitchProfile::cell, size(Bytes{64}, Bytes{4096}),
           "size of a memory cell; memory is allocated in cells")
           .show(),
       key("headroom-pool", &SwitchProfile::headroom_pool, size({}, Bytes{std::int64_t{1} << 40}),
           "part of the buffer that the lossless classes of all ports share for frames that arrive after XOFF. It "
           "replaces their own headroom or extends it"),
       key("latency", &SwitchProfile::latency, duration({}, kMostLatency), kLatencyHelp).show(),
       key("pause-response", &SwitchProfile::pause_response, duration(Duration{1}, kMostLatency), kPauseResponseHelp),
       key("pause-quanta", &SwitchProfile::pause_quanta, integer(1, 65535), kPauseQuantaHelp).show(),
       key("pfc-watchdog", &SwitchProfile::pfc_watchdog,
           either("off", std::optional<PfcWatchdog>{}, maybe(map_of(pfc_watchdog_keys()))),
           "PFC watchdog: handling of queues that stay paused"),
       key("mode", &SwitchProfile::mode,
           choice<ForwardingMode>(
               {{"store-and-forward", ForwardingMode::kStoreAndForward}, {"cut-through", ForwardingMode::kCutThrough}}),
           "whether a frame may leave before it has arrived completely")
           .show(),
       key("ecmp", &SwitchProfile::ecmp, map_of(ecmp_keys()), "path selection among equal-cost paths"),
       key("reduction", &SwitchProfile::reduction,
           either("off", std::optional<ReductionSpec>{}, maybe(map_of(reduction_keys()))),
           "the switch reduces for collectives with algorithm: in-network; {} for the defaults"),
       key("control", &SwitchProfile::control, control_form(),
           "who decides what a switch of a live lab forwards by. model: `routing`. frr: FRR in a network namespace with the "
           "ports of the switch; { frr: FILE }: with your configuration. namespace: what you start there. Under the "
           "virtual clock, `routing` stands in for all of these"),
       key("qos", &SwitchProfile::qos, name_form(), kQosHelp).show()},
      check_switch};
  return table;
}

const Table<ReceiveSpec>& receive_keys() {
  static const Table<ReceiveSpec> table{
      "receive",
      "How fast a host takes received frames; a slow host fills its buffer and pauses its switch port",
      {key("rate", &ReceiveSpec::rate, either("unlimited", std::optional<BitRate>{}, maybe(rate(kLeastRate))),
           "rate at which the host takes frames; default: as fast as they arrive"),
       key("buffer", &ReceiveSpec::buffer, size(Bytes{9238}, Bytes{std::int64_t{1} << 40}),
           "receive buffer of a NIC, shared by all classes"),
       key("xoff", &ReceiveSpec::xoff, size(Bytes{1}), "pause a class when it holds this much of the buffer"),
       key("xon", &ReceiveSpec::xon, size(), "resume the class when it holds no more than this")},
      check_receive};
  return table;
}

const Table<ScaleUpSpec>& scale_up_keys() {
  static const Table<ScaleUpSpec> table{
      "scale-up",
      "Scale-up network between ranks of collectives in one host, or in several, modelled as a pipe without a fabric",
      {key("rate", &ScaleUpSpec::rate, rate(kLeastRate, BitRate{100'000'000'000'000}), "at which each rank sends, and takes in").require(),
       key("latency", &ScaleUpSpec::latency, duration(Duration{1'000}, kMostLatency),
           "time from a rank's first byte sent to its arrival at the other rank"),
       key("hosts", &ScaleUpSpec::hosts, integer(1, 1024),
           "consecutive hosts of this profile, in the order of the lab, that share one network: 18 hosts of 4 GPUs are a rack of "
           "72. The last network has the rest"),
       key("reduces", &ScaleUpSpec::reduces, boolean(),
           "its switches reduce for collectives with algorithm: in-network, as NVLink SHARP (NVLS) does")}};
  return table;
}

const Table<HostProfile>& host_keys() {
  static const Table<HostProfile> table{
      "host-profile",
      "A host profile",
      {starting_profile<HostProfile>(
           "server",
           "server to start from, with its GPUs, scale-up network and PCI Express slots: one of those in topologies/servers, or "
           "the path of your own file. The other keys here override its values"),
       key("attach", &HostProfile::attach, made_host_form(),
           "namespace or vm: default for hosts without attach"),
       key("latency", &HostProfile::latency, duration({}, kMostLatency), kLatencyHelp).show(),
       key("pause-response", &HostProfile::pause_response, duration(Duration{1}, kMostLatency), kPauseResponseHelp),
       key("pause-quanta", &HostProfile::pause_quanta, integer(1, 65535), kPauseQuantaHelp).show(),
       key("vlan", &HostProfile::vlan,
           either("auto", HostProfile::kVlanAuto, either("off", HostProfile::kVlanOff, integer(0, 4094))),
           "802.1Q tag of frames that built-in NICs send: a VID (0: a priority tag), with the PCP that the QoS "
           "profile's pcp map gives the frame's class. auto: VLAN 2, or a priority tag at a port with vlans, where the "
           "switch trusts PCP"),
       key("pfc", &HostProfile::pfc, pfc_form(),
           "PFC of the host's NICs, for all classes. off: a NIC without PFC; auto: per class, from the QoS profile"),
       key("clock-error", &HostProfile::clock_error_ppb, clock_error(),
           "maximum frequency error of each NIC's clock, in either direction; its error and phase are drawn from the "
           "seed. IEEE 802.3 allows 100ppm. 0: all NICs are exact and in phase")
           .show(),
       key("receive", &HostProfile::receive, map_of(receive_keys()), "how fast the host takes received frames"),
       key("pcie", &HostProfile::pcie, either("unlimited", std::optional<PcieSpec>{}, maybe(pcie_form())),
           "PCI Express slot of each NIC, or a map if NICs share an uplink. A built-in NIC sends and receives at most what its "
           "slot carries. gen4x16 carries 252 Gb/s, gen5x16 504 Gb/s"),
       key("roce", &HostProfile::roce, map_of(roce_nic_keys()), "its NICs as RoCEv2 endpoints, for transport: roce"),
       key("uet", &HostProfile::uet, uet_nic_form(), "its NICs as Ultra Ethernet endpoints, for transport: uet"),
       key("scale-up", &HostProfile::scale_up,
           either("off", std::optional<ScaleUpSpec>{}, maybe(map_of(scale_up_keys()))),
           "network between ranks of collectives in one host, or in several; off: they use their NICs and the fabric"),
       key("gpus", &HostProfile::gpus, maybe(integer(1, 1024)),
           "GPUs of a host: each is a rank of collectives and uses one of the NICs, which GPUs may share; needs scale-up. "
           "Default: each NIC is a rank"),
       key("gpu-nics", &HostProfile::gpu_nics, list_of(integer(1, 64)),
           "NIC of GPU 1, 2, ...; default: spread evenly, neighbours at the same NIC"),
       key("qos", &HostProfile::qos, name_form(),
           "name of the QoS profile; the scheduling of its classes is the NIC's ETS")
           .show(),
       key("interfaces", &HostProfile::interfaces, list_of(interface_name()),
           "names of NICs 1, 2, ... (in a rail design: of rails 1, 2, ...) in namespaces, /etc/hosts and exports; none: "
           "eth1, eth2, ...")}};
  return table;
}

}  // namespace railyard::spec
