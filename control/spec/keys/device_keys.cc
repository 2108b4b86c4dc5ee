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
          "what the hash covers; with none, all flows take the same path",
          [words](const Tree& tree, EcmpSpec& into) {
            for (const auto& [word, member] : kFields) into.*member = false;
            for (const Tree& item : tree.as_list(fmt::format("a list of {}", fmt::join(words, ", ")))) {
              const auto field =
                  std::ranges::find(kFields, item.text, &std::pair<std::string, bool EcmpSpec::*>::first);
              if (item.kind != Tree::Kind::kScalar || field == kFields.end()) fail_choice(item, words);
              if (into.*(field->second)) item.fail(fmt::format("'{}' is there twice", item.text));
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

// Expanded before the profile is read (asic.h).
Key<SwitchProfile> asic() {
  return {"asic",
          "an ASIC that the profile begins as: one of those in topologies/profiles, or the path of a file of your own; "
          "the keys beside it replace its",
          [](const Tree&, SwitchProfile&) {},
          [](const SwitchProfile&) { return Tree{}; },
          [](const SwitchProfile&, const SwitchProfile&) { return true; },
          any_text().schema};
}

void check_switch(const Tree& map, const SwitchProfile& profile) {
  if (profile.buffer.n < 64 * profile.cell.n)
    map.at_or_self("buffer").fail(
        fmt::format("{} is less than 64 cells of {}", format(profile.buffer), format(profile.cell)));
  if (profile.headroom_pool >= profile.buffer)
    map.at_or_self("headroom-pool")
        .fail(fmt::format("{} is not less than the buffer ({}), of which it is a part", format(profile.headroom_pool),
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

constexpr const char* kLatencyHelp = "from the arrival of a frame to its first effect: MAC and pipeline";
constexpr const char* kPauseResponseHelp =
    "from the end of a pause frame to no new frame started; without it the longest that IEEE 802.3 allows";
constexpr const char* kPauseQuantaHelp = "how long our pause frames ask for, in 512 bit times; repeated while needed";
constexpr const char* kQosHelp = "name of the QoS profile";

}  // namespace

const Table<EcmpSpec>& ecmp_keys() {
  static const Table<EcmpSpec> table{"ecmp",
                                     "How one of several equal paths is chosen",
                                     {fields(),
                                      key("seed", &EcmpSpec::seed, seed_form(),
                                          "of the hash; without it one per switch, from the run's seed"),
                                      key("resilient", &EcmpSpec::resilient, boolean(),
                                          "a link that goes down moves its own flows only; else all are hashed anew")}};
  return table;
}

const Table<PfcWatchdog>& pfc_watchdog_keys() {
  constexpr Duration kLeast{1'000'000};
  constexpr Duration kMost{60 * kPicosecondsPerSecond};
  static const Table<PfcWatchdog> table{
      "pfc-watchdog",
      "What becomes of a lossless queue that is held back by pause frames without end",
      {key("detect", &PfcWatchdog::detect, duration(kLeast, kMost),
           "a queue that is paused and sends nothing for so long is in a storm")
           .show(),
       key("restore", &PfcWatchdog::restore, duration(kLeast, kMost), "over when it has not been paused for so long")
           .show(),
       key("poll", &PfcWatchdog::poll, duration(kLeast, kMost), "how often it is looked").show(),
       key("action", &PfcWatchdog::action,
           choice<PfcWatchdog::Action>({{"drop", PfcWatchdog::Action::kDrop},
                                        {"forward", PfcWatchdog::Action::kForward},
                                        {"alert", PfcWatchdog::Action::kAlert}}),
           "in a storm: drop what is in the queue or comes to it, send in spite of the pause, or count only")
           .show()},
      check_watchdog};
  return table;
}

const Table<SwitchProfile>& switch_keys() {
  static const Table<SwitchProfile> table{
      "switch-profile",
      "A kind of switch",
      {asic(),
       key("ports", &SwitchProfile::ports, either("unlimited", 0, integer(1, 4096)),
           "radix: the highest port that may have a link"),
       key("port-rate", &SwitchProfile::port_rate, either("unlimited", BitRate{}, rate(kLeastRate)),
           "the fastest link that a port takes"),
       key("buffer", &SwitchProfile::buffer, size(Bytes{4096}, Bytes{std::int64_t{1} << 40}),
           "packet memory that all ports share")
           .show(),
       key("cell", &SwitchProfile::cell, size(Bytes{64}, Bytes{4096}), "memory is allocated in cells of this size")
           .show(),
       key("headroom-pool", &SwitchProfile::headroom_pool, size({}, Bytes{std::int64_t{1} << 40}),
           "of the buffer, shared by the lossless classes of all ports: what arrives after XOFF, instead of headroom "
           "of "
           "their own or beyond it"),
       key("latency", &SwitchProfile::latency, duration({}, kMostLatency), kLatencyHelp).show(),
       key("pause-response", &SwitchProfile::pause_response, duration(Duration{1}, kMostLatency), kPauseResponseHelp),
       key("pause-quanta", &SwitchProfile::pause_quanta, integer(1, 65535), kPauseQuantaHelp).show(),
       key("pfc-watchdog", &SwitchProfile::pfc_watchdog,
           either("off", std::optional<PfcWatchdog>{}, maybe(map_of(pfc_watchdog_keys()))),
           "what becomes of queues that are paused without end"),
       key("mode", &SwitchProfile::mode,
           choice<ForwardingMode>(
               {{"store-and-forward", ForwardingMode::kStoreAndForward}, {"cut-through", ForwardingMode::kCutThrough}}),
           "whether a frame may leave before all of it is there")
           .show(),
       key("ecmp", &SwitchProfile::ecmp, map_of(ecmp_keys()), "how one of several equal paths is chosen"),
       key("qos", &SwitchProfile::qos, name_form(), kQosHelp).show()},
      check_switch};
  return table;
}

const Table<ReceiveSpec>& receive_keys() {
  static const Table<ReceiveSpec> table{
      "receive",
      "How a host takes what arrives: a slow one fills its buffer and pauses its switch port",
      {key("rate", &ReceiveSpec::rate, either("unlimited", std::optional<BitRate>{}, maybe(rate(kLeastRate))),
           "at which the host takes frames; without it as fast as they come"),
       key("buffer", &ReceiveSpec::buffer, size(Bytes{9238}, Bytes{std::int64_t{1} << 40}),
           "of a NIC, all classes together"),
       key("xoff", &ReceiveSpec::xoff, size(Bytes{1}), "pause a class when this much of it is held"),
       key("xon", &ReceiveSpec::xon, size(), "let it go when no more than this is held")},
      check_receive};
  return table;
}

const Table<ScaleUpSpec>& scale_up_keys() {
  static const Table<ScaleUpSpec> table{
      "scale-up",
      "How ranks of collectives in one host reach each other: a pipe, not a fabric",
      {key("rate", &ScaleUpSpec::rate, rate(kLeastRate), "at which each rank sends, and takes in").require(),
       key("latency", &ScaleUpSpec::latency, duration(Duration{1'000}, kMostLatency),
           "from a rank's first octet sent to its arrival at the other")}};
  return table;
}

const Table<HostProfile>& host_keys() {
  static const Table<HostProfile> table{
      "host-profile",
      "A kind of host",
      {key("attach", &HostProfile::attach, made_host_form(),
           "namespace or vm: what hosts are that do not say so themselves"),
       key("latency", &HostProfile::latency, duration({}, kMostLatency), kLatencyHelp).show(),
       key("pause-response", &HostProfile::pause_response, duration(Duration{1}, kMostLatency), kPauseResponseHelp),
       key("pause-quanta", &HostProfile::pause_quanta, integer(1, 65535), kPauseQuantaHelp).show(),
       key("vlan", &HostProfile::vlan,
           either("auto", HostProfile::kVlanAuto, either("off", HostProfile::kVlanOff, integer(0, 4094))),
           "802.1Q tag of what built-in NICs send: a VID (0: a priority tag), with the PCP of the frame's class by the "
           "pcp map of the QoS profile; auto: VLAN 2, or a priority tag at a port with vlans, where the switch trusts "
           "PCP"),
       key("pfc", &HostProfile::pfc, pfc_form(),
           "of its NICs, for all classes: off is a NIC without PFC; auto: as the QoS profile says of each class"),
       key("clock-error", &HostProfile::clock_error_ppb, clock_error(),
           "how far each NIC's clock is off, either way; its error and phase are drawn from the seed. IEEE 802.3 "
           "allows 100ppm. 0: all NICs are exact and in phase")
           .show(),
       key("receive", &HostProfile::receive, map_of(receive_keys()), "how fast the host takes what arrives"),
       key("roce", &HostProfile::roce, map_of(roce_nic_keys()), "its NICs as RoCEv2 endpoints, for transport: roce"),
       key("uet", &HostProfile::uet, uet_nic_form(), "its NICs as Ultra Ethernet endpoints, for transport: uet"),
       key("scale-up", &HostProfile::scale_up,
           either("off", std::optional<ScaleUpSpec>{}, maybe(map_of(scale_up_keys()))),
           "ranks of collectives in one host reach each other over this; off: through their NICs and the fabric"),
       key("qos", &HostProfile::qos, name_form(), "name of the QoS profile; its classes' scheduling is the NIC's ETS")
           .show()}};
  return table;
}

}  // namespace railyard::spec
