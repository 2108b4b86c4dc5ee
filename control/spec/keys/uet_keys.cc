// The keys of built-in Ultra Ethernet NICs: NSCC with every parameter, multipath, acknowledgements, the encapsulation.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "dataplane/wire/udp.h"

namespace railyard::spec {
namespace {

constexpr Duration kLeastTime{100'000};
constexpr Duration kMostTime{10 * kPicosecondsPerSecond};

// Above 0, at most 1.
Form<Ratio> fraction() {
  return checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator <= value.denominator) return std::nullopt;
    return fmt::format("{} is above 1; expected a part such as 4/5", format(value));
  });
}

Form<int> power_of_two_of(int least, int most) {
  return checked<int>(integer(least, most), [=](const int& n) -> std::optional<std::string> {
    if ((n & (n - 1)) == 0) return std::nullopt;
    return fmt::format("{} is no power of two; expected one in {}..{}", n, least, most);
  });
}

Form<Duration> period_of_uet() { return duration(kLeastTime, kMostTime); }
Form<std::optional<bool>> auto_or_bool() {
  return either("auto", std::optional<bool>{}, maybe(boolean()));
}

// The set that the other keys replace values of.
Key<UetNicSpec> uet_profile() {
  const auto form =
      choice<UetProfile>({{"standard", UetProfile::kStandard}, {"ref-prov", UetProfile::kRefProv}});
  return Key<UetNicSpec>{
      "profile",
      "what the other keys begin as: standard, or ref-prov for what the public reference provider "
      "speaks (no UDP, plain ACKs, one path, windows of 128, no NOOPs, its dialect; resource indices "
      "from 15 on; its path-mtu is 1024, which traffic has to say)",
      [form](const Tree& tree, UetNicSpec& into) { into = UetNicSpec::of(form.read(tree)); },
      [form](const UetNicSpec& from) { return form.write(from.profile); },
      [](const UetNicSpec& a, const UetNicSpec& b) { return a.profile == b.profile; },
      form.schema}
      .show();
}

bool below(const Ratio& a, const Ratio& b) {
  return static_cast<Int128>(a.numerator) * b.denominator < static_cast<Int128>(b.numerator) * a.denominator;
}

void check_nscc(const Tree& map, const NsccSpec& s) {
  const Ratio most = s.max_window.value_or(Ratio{5, 2});
  if (s.initial_window && below(most, *s.initial_window))
    map.at_or_self("initial-window")
        .fail(fmt::format("{} is above max-window ({})", format(*s.initial_window), format(most)));
}

void check_uet(const Tree& map, const UetNicSpec& s) {
  if (s.udp && map.find("ip-protocol") != nullptr)
    map.at_or_self("ip-protocol").fail("has no meaning here; expected it under encapsulation: ip");
  if (!s.udp && map.find("udp-port") != nullptr)
    map.at_or_self("udp-port").fail("has no meaning here; expected it under encapsulation: udp");
  if (s.window > s.mp_range && map.find("window") != nullptr)
    map.at_or_self("window").fail(fmt::format("{} is above mp-range ({}): a receiver would refuse some", s.window,
                                              s.mp_range));
  if (s.window > s.mp_range)
    map.at_or_self("mp-range")
        .fail(fmt::format("{} is below window ({}, which is not said): a receiver would refuse some; expected window: "
                          "{} beside it",
                          s.mp_range, s.window, s.mp_range));
  if (s.udp && s.udp_port == int{wire::kRoceV2Port})
    map.at_or_self("udp-port").fail(fmt::format("{} is RoCEv2's; expected another", int{wire::kRoceV2Port}));
  if (s.trimmed_dscp == s.control_dscp)
    map.at_or_self("trimmed-dscp").fail(fmt::format("{} is that of control packets, too", s.control_dscp));
  if (s.trimmed_lasthop_dscp == s.control_dscp)
    map.at_or_self("trimmed-lasthop-dscp").fail(fmt::format("{} is that of control packets, too", s.control_dscp));
}

Form<UetNicSpec> uet_form() {
  Form<UetNicSpec> form = map_of(uet_nic_keys());
  form.write = [](const UetNicSpec& s) { return uet_nic_keys().write(s, UetNicSpec::of(s.profile)); };
  return form;
}

}  // namespace

Form<UetNicSpec> uet_nic_form() { return uet_form(); }

const Table<NsccSpec>& nscc_keys() {
  static const Table<NsccSpec> table{
      "nscc",
      "NSCC, congestion control by the sender's window; names are those of UE-Spec 1.0 and the public simulator. a is "
      "BDP / 150 kB, b the target / 12us, mtu the payload of a packet",
      {key("base-rtt", &NsccSpec::base_rtt, period_of_uet(),
           "round trip without queues; without it the longest between NICs of this lab that speak UET"),
       key("target", &NsccSpec::target, period_of_uet(),
           "queueing delay that is wanted; without it 3/4 of the base RTT if switches trim, else all of it, or "
           "max-window - 1 times the base RTT if that is more"),
       key("max-window", &NsccSpec::max_window, ratio(),
           "in BDPs (link rate times base RTT); without it 5/2 if switches trim, else 3/2, the reference's"),
       key("initial-window", &NsccSpec::initial_window, ratio(), "in BDPs; without it max-window"),
       key("min-window", &NsccSpec::min_window, ratio(),
           "in full packets; below 1: when the only packet in flight is trimmed or lost the window is halved, and kept "
           "by pacing (1: never, as the reference has it)"),
       key("part-gain", &NsccSpec::part_gain, fraction(),
           "increase of a window below a packet, a part of each packet that arrives; if switches do not trim, and is "
           "not "
           "marked"),
       key("alpha", &NsccSpec::alpha, ratio(), "proportional increase, times mtu a b / target"),
       key("fi", &NsccSpec::fi, ratio(), "fair increase, times mtu a"),
       key("eta", &NsccSpec::eta, ratio(), "increase once per adjust-period, times mtu a"),
       key("fi-scale", &NsccSpec::fi_scale, ratio(), "fast increase, times a"),
       key("gamma", &NsccSpec::gamma, fraction(), "multiplicative decrease, of how far the delay is over the target"),
       key("max-md-jump", &NsccSpec::max_md_jump, fraction(), "the least part that one decrease leaves"),
       key("qa-gate", &NsccSpec::qa_gate, integer(0, 16),
           "quick adapt when less than max-window / 2^this was delivered in a round trip and target"),
       key("qa-threshold", &NsccSpec::qa_threshold, ratio(),
           "quick adapt when the delay is over so many targets, or something was lost"),
       key("adjust-period", &NsccSpec::adjust_period, period_of_uet(),
           "increases are carried out so often; without it the base RTT"),
       key("adjust-packets", &NsccSpec::adjust_packets, integer(1, 65536), "or after so many full packets"),
       key("no-queue", &NsccSpec::no_queue, duration({}, kMostTime), "a delay below is none: fast increase"),
       key("delay-weight", &NsccSpec::delay_weight, fraction(), "of a sample in the average of the delay")},
      check_nscc};
  return table;
}

const Table<UetNicSpec>& uet_nic_keys() {
  static const Table<UetNicSpec> table{
      "uet-nic",
      "Built-in Ultra Ethernet NICs, for traffic with transport: uet",
      {uet_profile(),
       key("congestion", &UetNicSpec::congestion,
           choice<UetCongestion>({{"none", UetCongestion::kNone}, {"nscc", UetCongestion::kNscc}}),
           "congestion control of its PDCs"),
       key("nscc", &UetNicSpec::nscc, map_of(nscc_keys()), "NSCC's parameters"),
       key("trimming", &UetNicSpec::trimming, auto_or_bool(),
           "whether switches trim, for NSCC's target; auto: whether any has `trim` in the class of the data"),
       key("path-policy", &UetNicSpec::path_policy,
           choice<UetPathPolicy>({{"single", UetPathPolicy::kSingle},
                                  {"oblivious", UetPathPolicy::kOblivious},
                                  {"bitmap", UetPathPolicy::kBitmap},
                                  {"reps", UetPathPolicy::kReps},
                                  {"mixed", UetPathPolicy::kMixed}}),
           "which entropy value each packet of RUD has: always one, all in turn, those without penalties, or recycled "
           "ones of unmarked ACKs (reps; mixed: else by penalties)"),
       key("paths", &UetNicSpec::paths, integer(1, 256), "entropy values of a PDC"),
       key("recycled", &UetNicSpec::recycled, integer(1, 16384),
           "path-policy: mixed: so many values of unmarked ACKs wait to be used again; beyond that the oldest are "
           "forgotten"),
       key("ack-cc", &UetNicSpec::ack_cc, boolean(), "ACK_CC with SACK and NSCC's state; else plain ACKs"),
       key("ack-bytes", &UetNicSpec::ack_bytes,
           either("auto", std::optional<std::uint32_t>{}, maybe(octets(0, 1 << 24))),
           "ACK_Gen_Trigger: an acknowledgement is due with so much payload; marked, last and repeated packets have "
           "theirs at once. auto: 16384, as the reference has it, and 8192 while packets are missing"),
       key("rto", &UetNicSpec::rto, period_of_uet(), "RTO_INIT, the retransmission timeout"),
       key("rto-timer", &UetNicSpec::rto_timer,
           choice<UetRtoTimer>({{"pdc", UetRtoTimer::kPdc}, {"packet", UetRtoTimer::kPacket}}),
           "what times out: the oldest unacknowledged packet of a PDC, and all of it after that; or each packet by itself, "
           "as in uet-htsim"),
       key("rto-backoff", &UetNicSpec::rto_backoff,
           choice<UetRtoBackoff>({{"double", UetRtoBackoff::kDouble}, {"none", UetRtoBackoff::kNone}}),
           "double: RTO_INIT x 2^n after n timeouts in a row, as the standard has it; none: always RTO_INIT"),
       key("retries", &UetNicSpec::retries, integer(0, 30), "so many timeouts in a row; then the PDC has failed"),
       key("loss-inference", &UetNicSpec::loss_inference, auto_or_bool(),
           "RUD: a packet that was overtaken long ago is lost; the last one is retransmitted after a long silence. auto: in "
           "a class that all switches keep lossless only a later packet on the same path counts, not time, so that pauses "
           "are no losses; where switches spray such a class only a timeout counts"),
       key("probe", &UetNicSpec::probe, boolean(),
           "PROBE control packets when nothing was heard for long; lost is what was sent long before one that is "
           "answered quickly (but with loss-inference: auto not in a lossless class)"),
       key("window", &UetNicSpec::window, integer(1, 4096), "packets of a PDC that may be outstanding"),
       key("mp-range", &UetNicSpec::mp_range, power_of_two_of(128, 16384),
           "MP_RANGE: packets that a receiver takes beyond the first missing one, a power of two"),
       key("pdcs", &UetNicSpec::pdcs, integer(2, 65535),
           "PDCs at a time; a quarter of them, and at least one, is for those that others open"),
       key("idle-close", &UetNicSpec::idle_close, period_of_uet(),
           "a PDC that had nothing to do for so long is closed"),
       key("rudi-window", &UetNicSpec::rudi_window, integer(1, 4096),
           "RUDI packets to one NIC, in one class, that may be outstanding"),
       key("keep-alive", &UetNicSpec::keep_alive, boolean(),
           "NOOPs ask whether the target still has the PDC while data of READs are waited for"),
       key("encapsulation", &UetNicSpec::udp, choice<bool>({{"udp", true}, {"ip", false}}),
           "udp, or ip: an entropy header directly behind IP"),
       key("udp-port", &UetNicSpec::udp_port, integer(1024, 65535), "destination port"),
       key("ip-protocol", &UetNicSpec::ip_protocol, integer(143, 254), "of encapsulation: ip"),
       key("crc", &UetNicSpec::crc, boolean(), "a CRC-32C behind each packet"),
       key("control-dscp", &UetNicSpec::control_dscp, integer(0, 63),
           "DSCP_CONTROL: of ACKs, NACKs and control packets"),
       key("control-class", &UetNicSpec::control_priority, integer(0, 7),
           "their class at the NIC; without it what the host's QoS profile makes of the DSCP"),
       key("trimmed-dscp", &UetNicSpec::trimmed_dscp, integer(0, 63),
           "DSCP_TRIMMED: what comes with it was cut by a switch, outside this lab too"),
       key("trimmed-lasthop-dscp", &UetNicSpec::trimmed_lasthop_dscp, integer(0, 63),
           "DSCP_TRIMMED_LASTHOP: at the last hop")},
      check_uet};
  return table;
}

}  // namespace railyard::spec
