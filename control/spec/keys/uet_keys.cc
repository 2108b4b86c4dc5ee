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
    return fmt::format("{} is above 1; expected a fraction such as 4/5", format(value));
  });
}

Form<int> power_of_two_of(int least, int most) {
  return checked<int>(integer(least, most), [=](const int& n) -> std::optional<std::string> {
    if ((n & (n - 1)) == 0) return std::nullopt;
    return fmt::format("{} is not a power of two; expected one in {}..{}", n, least, most);
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
      "starting values of the other keys: standard, or ref-prov for the public reference provider's protocol. ref-prov "
      "has no UDP, plain ACKs, one path, windows of 128, no NOOPs, its dialect, and resource indices from 15 on. Its "
      "path-mtu is 1024; set the same in traffic",
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
    map.at_or_self("ip-protocol").fail("does not apply here; expected encapsulation: ip");
  if (!s.udp && map.find("udp-port") != nullptr)
    map.at_or_self("udp-port").fail("does not apply here; expected encapsulation: udp");
  if (s.window > s.mp_range && map.find("window") != nullptr)
    map.at_or_self("window").fail(fmt::format("{} is above mp-range ({}): a receiver would refuse some", s.window,
                                              s.mp_range));
  if (s.window > s.mp_range)
    map.at_or_self("mp-range")
        .fail(fmt::format(
            "{} is below the default window ({}): a receiver would refuse packets; expected window: {} with it",
            s.mp_range, s.window, s.mp_range));
  if (s.udp && s.udp_port == int{wire::kRoceV2Port})
    map.at_or_self("udp-port")
        .fail(fmt::format("{} is the UDP port of RoCEv2; expected another", int{wire::kRoceV2Port}));
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
      "NSCC: congestion control by the sender's window, with names from UE-Spec 1.0 and the public simulator. a is BDP "
      "/ 150 kB, b the target / 12us, mtu the payload of a packet",
      {key("base-rtt", &NsccSpec::base_rtt, period_of_uet(),
           "round-trip time without queueing; default: the longest between NICs of this lab that use UET"),
       key("target", &NsccSpec::target, period_of_uet(),
           "target queueing delay. Default: 3/4 of the base RTT if switches trim, else the base RTT, or max-window - 1 "
           "times the base RTT if that is more"),
       key("max-window", &NsccSpec::max_window, ratio(),
           "maximum congestion window in BDPs (link rate times base RTT); default: 5/2 if switches trim, else 3/2, the "
           "reference's, or a BDP, ack-bytes and a packet where this is more"),
       key("initial-window", &NsccSpec::initial_window, ratio(),
           "initial congestion window in BDPs; default: max-window"),
       key("min-window", &NsccSpec::min_window, ratio(),
           "minimum congestion window in full packets. Below 1, the window is halved when the only packet in flight is "
           "trimmed or lost; pacing enforces it. 1: never below a packet, like the reference"),
       key("part-gain", &NsccSpec::part_gain, fraction(),
           "growth of a window below one packet, as a fraction of each packet that arrives unmarked; only if switches "
           "do not trim"),
       key("alpha", &NsccSpec::alpha, ratio(), "proportional increase, times mtu a b / target"),
       key("fi", &NsccSpec::fi, ratio(), "fair increase, times mtu a"),
       key("eta", &NsccSpec::eta, ratio(), "increase once per adjust-period, times mtu a"),
       key("fi-scale", &NsccSpec::fi_scale, ratio(), "fast increase, times a"),
       key("gamma", &NsccSpec::gamma, fraction(),
           "multiplicative decrease, times the relative excess of the delay over the target"),
       key("max-md-jump", &NsccSpec::max_md_jump, fraction(),
           "minimum fraction of the window that one decrease leaves"),
       key("qa-gate", &NsccSpec::qa_gate, integer(0, 16),
           "quick adapt if less than max-window / 2^N was delivered in a round trip plus target (N: this value)"),
       key("qa-threshold", &NsccSpec::qa_threshold, ratio(),
           "quick adapt if the delay exceeds this multiple of the target, or a packet was lost"),
       key("adjust-period", &NsccSpec::adjust_period, period_of_uet(),
           "interval at which increases are applied; default: the base RTT"),
       key("adjust-packets", &NsccSpec::adjust_packets, integer(1, 65536),
           "full packets after which increases are applied, if this comes before adjust-period"),
       key("no-queue", &NsccSpec::no_queue, duration({}, kMostTime),
           "delay below which the path counts as unqueued: fast increase"),
       key("delay-weight", &NsccSpec::delay_weight, fraction(), "weight of a sample in the average delay")},
      check_nscc};
  return table;
}

const Table<RcccSpec>& rccc_keys() {
  static const Table<RcccSpec> table{
      "rccc",
      "RCCC: congestion control by credit that receivers grant to senders in turn, with the public simulator's values",
      {key("base-rtt", &RcccSpec::base_rtt, period_of_uet(),
           "round-trip time without queueing; default: the longest between NICs of this lab that use UET"),
       key("max-window", &RcccSpec::max_window, ratio(),
           "maximum credit of a sender in BDPs (link rate times base RTT); it begins with that much"),
       key("grant-packets", &RcccSpec::grant_packets, integer(1, 64), "credit of one grant, in MTUs"),
       key("rate-share", &RcccSpec::rate_share, fraction(),
           "share of its link's rate that a receiver grants, to all its senders together"),
       key("oversubscription", &RcccSpec::oversubscription, ratio(),
           "of the fabric, at its narrowest tier: receivers grant less while switches before the last hop trim or mark what "
           "they are sent, at least 0.9 / this of their links. Default: they do not look. For congestion: rccc")}};
  return table;
}

const Table<UetNicSpec>& uet_nic_keys() {
  static const Table<UetNicSpec> table{
      "uet-nic",
      "Built-in Ultra Ethernet NICs, for traffic with transport: uet",
      {uet_profile(),
       key("congestion", &UetNicSpec::congestion,
           choice<UetCongestion>({{"none", UetCongestion::kNone},
                                  {"nscc", UetCongestion::kNscc},
                                  {"rccc", UetCongestion::kRccc},
                                  {"both", UetCongestion::kBoth}}),
           "congestion control of the PDCs: by the sender's window (nscc), by the receiver's credit (rccc), or by both. "
           "Credit is for RUD and ROD; RUDI has nscc of both, and nothing of rccc"),
       key("nscc", &UetNicSpec::nscc, map_of(nscc_keys()), "parameters of NSCC"),
       key("rccc", &UetNicSpec::rccc, map_of(rccc_keys()), "parameters of RCCC"),
       key("trimming", &UetNicSpec::trimming, auto_or_bool(),
           "whether switches trim, for NSCC's target; auto: true if any switch has `trim` in the class of the data"),
       key("path-policy", &UetNicSpec::path_policy,
           choice<UetPathPolicy>({{"single", UetPathPolicy::kSingle},
                                  {"oblivious", UetPathPolicy::kOblivious},
                                  {"bitmap", UetPathPolicy::kBitmap},
                                  {"reps", UetPathPolicy::kReps},
                                  {"mixed", UetPathPolicy::kMixed}}),
           "entropy value of each RUD packet: always the same one (single), all in turn (oblivious), those without "
           "penalties (bitmap), or recycled ones of unmarked ACKs (reps). mixed: recycled ones, else by penalties"),
       key("paths", &UetNicSpec::paths, integer(1, 256), "entropy values of a PDC"),
       key("recycled", &UetNicSpec::recycled, integer(1, 16384),
           "path-policy: mixed: maximum recycled values of unmarked ACKs that wait for reuse; beyond that the oldest "
           "are discarded"),
       key("ack-cc", &UetNicSpec::ack_cc, boolean(), "true: ACK_CC with SACK and NSCC's state; false: plain ACKs"),
       key("ack-bytes", &UetNicSpec::ack_bytes,
           either("auto", std::optional<std::uint32_t>{}, maybe(octets(0, 1 << 24))),
           "ACK_Gen_Trigger: payload bytes after which an acknowledgement is due. Marked, last and retransmitted "
           "packets are acknowledged at once. auto: 16384, as in the reference, and 8192 while packets are missing"),
       key("rto", &UetNicSpec::rto, period_of_uet(), "RTO_INIT, the retransmission timeout"),
       key("rto-timer", &UetNicSpec::rto_timer,
           choice<UetRtoTimer>({{"pdc", UetRtoTimer::kPdc}, {"packet", UetRtoTimer::kPacket}}),
           "pdc: the oldest unacknowledged packet of a PDC times out, and all later packets with it; packet: each "
           "packet of RUD times out separately, as in uet-htsim; ROD goes back to its oldest in any case"),
       key("rto-backoff", &UetNicSpec::rto_backoff,
           choice<UetRtoBackoff>({{"double", UetRtoBackoff::kDouble}, {"none", UetRtoBackoff::kNone}}),
           "double: RTO_INIT x 2^n after n consecutive timeouts, as in the standard; none: always RTO_INIT, and "
           "tries of a tail always at the same interval"),
       key("retries", &UetNicSpec::retries, integer(0, 30), "consecutive timeouts after which the PDC fails"),
       key("loss-inference", &UetNicSpec::loss_inference, auto_or_bool(),
           "RUD: a packet that was overtaken long ago is lost; the last packet is retransmitted after a long silence. "
           "auto: in a class that all switches keep lossless, only a later packet on the same path counts, not time. "
           "Pauses are then no losses. Where switches spray such a class, the arrival of many packets that were sent "
           "later counts"),
       key("probe", &UetNicSpec::probe, boolean(),
           "send PROBE control packets after a long silence. Packets sent long before a quickly answered PROBE are "
           "lost (with loss-inference: auto not in a lossless class)"),
       key("window", &UetNicSpec::window, integer(1, 4096), "maximum outstanding packets of a PDC"),
       key("mp-range", &UetNicSpec::mp_range, power_of_two_of(128, 16384),
           "MP_RANGE: packets that a receiver accepts beyond the first missing one, a power of two"),
       key("pdcs", &UetNicSpec::pdcs, integer(2, 65535),
           "maximum concurrent PDCs; a quarter of them, at least one, is reserved for PDCs that peers open"),
       key("idle-close", &UetNicSpec::idle_close, period_of_uet(), "idle time after which a PDC is closed"),
       key("rudi-window", &UetNicSpec::rudi_window, integer(1, 4096),
           "maximum outstanding RUDI packets to one NIC in one class"),
       key("job-id", &UetNicSpec::job_id, integer(1, 0xFF'FFFF),
           "JobID of programs (attach: application), and of the built-in server that answers them; RAILYARD_JOB_ID gives "
           "a program another one"),
       key("keep-alive", &UetNicSpec::keep_alive, boolean(),
           "send NOOPs while READ data are outstanding, to check that the target still has the PDC"),
       key("encapsulation", &UetNicSpec::udp, choice<bool>({{"udp", true}, {"ip", false}}),
           "udp, or ip: an entropy header directly after the IP header"),
       key("udp-port", &UetNicSpec::udp_port, integer(1024, 65535), "UDP destination port"),
       key("ip-protocol", &UetNicSpec::ip_protocol, integer(143, 254), "encapsulation: ip: IP protocol number"),
       key("crc", &UetNicSpec::crc, boolean(), "append a CRC-32C to each packet"),
       key("control-dscp", &UetNicSpec::control_dscp, integer(0, 63),
           "DSCP_CONTROL: DSCP of ACKs, NACKs and control packets"),
       key("control-class", &UetNicSpec::control_priority, integer(0, 7),
           "class of these packets at the NIC; default: the class that the host's QoS profile gives the DSCP"),
       key("trimmed-dscp", &UetNicSpec::trimmed_dscp, integer(0, 63),
           "DSCP_TRIMMED: a switch, inside or outside this lab, has trimmed packets with this DSCP"),
       key("trimmed-lasthop-dscp", &UetNicSpec::trimmed_lasthop_dscp, integer(0, 63),
           "DSCP_TRIMMED_LASTHOP: DSCP of packets trimmed at the last hop"),
       key("security", &UetNicSpec::security, map_of(uet_security_keys()),
           "encrypt and authenticate packets (TSS), and accept no others; default: neither")},
      check_uet};
  return table;
}

}  // namespace railyard::spec
