// The keys of built-in RoCEv2 NICs: congestion control with every parameter, CNPs, timers, retries.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr BitRate kLeastLimit{10'000};
constexpr int kMostSelectiveWindow = 1 << 15;  // packets (transports/roce/selective_repeat.h)
constexpr Duration kLeastPeriod{100'000};
constexpr Duration kMostPeriod{10 * kPicosecondsPerSecond};

// Above 0, at most 1.
Form<Ratio> part() {
  return checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator <= value.denominator) return std::nullopt;
    return fmt::format("{} is above 1; expected a part such as 1/256", format(value));
  });
}

// The set that the other keys replace values of.
Key<DcqcnSpec> profile() {
  const auto form =
      choice<DcqcnSpec::Profile>({{"paper", DcqcnSpec::Profile::kPaper}, {"vendor", DcqcnSpec::Profile::kVendor}});
  return Key<DcqcnSpec>{
      "profile",
      "what the other keys begin as: paper (Zhu et al., SIGCOMM 2015, for 40 Gb/s) or vendor (defaults "
      "of NVIDIA's firmware)",
      [form](const Tree& tree, DcqcnSpec& into) { into = DcqcnSpec::of(form.read(tree)); },
      [form](const DcqcnSpec& from) { return form.write(from.profile); },
      [](const DcqcnSpec& a, const DcqcnSpec& b) { return a.profile == b.profile; },
      form.schema}
      .show();
}

void check_dcqcn(const Tree& map, const DcqcnSpec& d) {
  if (d.cut_at_once)
    for (const char* key : {"rate-reduce-monitor-period", "rpg-min-dec-fac", "clamp-tgt-rate",
                            "clamp-tgt-rate-after-time-inc", "rate-to-set-on-first-cnp"})
      if (const Tree* value = map.find(key))
        value->fail("has no meaning here; expected it under cut: periodic, or profile: vendor");
  if (d.rpg_max_rate.bps > 0 && d.rpg_min_rate > d.rpg_max_rate)
    map.at_or_self("rpg-min-rate")
        .fail(fmt::format("{} is above rpg-max-rate ({})", format(d.rpg_min_rate), format(d.rpg_max_rate)));
}

void check_swift(const Tree& map, const SwiftSpec& s) {
  if (s.initial_cwnd > s.max_cwnd)
    map.at_or_self("initial-cwnd").fail(fmt::format("{} is above max-cwnd ({})", s.initial_cwnd, s.max_cwnd));
  if (s.fs_min_cwnd.numerator >= s.fs_max_cwnd * s.fs_min_cwnd.denominator)
    map.at_or_self("fs-min-cwnd")
        .fail(fmt::format("{} is not below fs-max-cwnd ({})", format(s.fs_min_cwnd), s.fs_max_cwnd));
}

void check_selective_repeat(const Tree& map, const SelectiveRepeatSpec& s) {
  if (s.bdp_packets > s.window_packets)
    map.at_or_self("bdp-packets")
        .fail(fmt::format("{} is above window-packets ({}), so that the receiver would refuse some", s.bdp_packets,
                          s.window_packets));
  if (s.rto_low > s.rto_high)
    map.at_or_self("rto-low").fail(fmt::format("{} is above rto-high ({})", format(s.rto_low), format(s.rto_high)));
}

Form<DcqcnSpec> dcqcn_form() {
  Form<DcqcnSpec> form = map_of(dcqcn_keys());
  form.write = [](const DcqcnSpec& d) { return dcqcn_keys().write(d, DcqcnSpec::of(d.profile)); };
  return form;
}

Form<std::vector<RoceService>> services() {
  return checked<std::vector<RoceService>>(
      list_of(choice<RoceService>(
          {{"rping-server", RoceService::kRpingServer},
           {"udaddy-server", RoceService::kUdaddyServer},
           {"atomics-server", RoceService::kAtomicsServer}})),
      [](const std::vector<RoceService>& all) -> std::optional<std::string> {
        if (std::set(all.begin(), all.end()).size() == all.size()) return std::nullopt;
        return "names a service twice";
      });
}

Form<BitRate> any_rate() { return rate(kLeastLimit); }
Form<Duration> period() { return duration(kLeastPeriod, kMostPeriod); }

}  // namespace

const Table<DcqcnSpec>& dcqcn_keys() {
  static const Table<DcqcnSpec> table{
      "dcqcn",
      "DCQCN's reaction point; letters are the paper's, rpg-... and the like the names of NVIDIA's firmware",
      {profile(),
       key("cut", &DcqcnSpec::cut_at_once, choice<bool>({{"on-cnp", true}, {"periodic", false}}),
           "on-cnp: the rate is cut when a CNP comes; periodic: at the end of a rate-reduce-monitor-period with one"),
       key("dce-tcp-rtt", &DcqcnSpec::dce_tcp_rtt, period(), "K: how often alpha is updated"),
       key("rate-reduce-monitor-period", &DcqcnSpec::rate_reduce_monitor_period, period(),
           "cut: periodic: how often it is looked whether a CNP has come"),
       key("rpg-time-reset", &DcqcnSpec::rpg_time_reset, period(), "T: the timer of increases"),
       key("rpg-byte-reset", &DcqcnSpec::rpg_byte_reset,
           either("off", Bytes{}, size(Bytes{64}, Bytes{std::int64_t{1} << 40})),
           "B: an increase after so much was sent, too"),
       key("rpg-threshold", &DcqcnSpec::rpg_threshold, integer(0, 1000), "F: steps of fast recovery"),
       key("g", &DcqcnSpec::g, part(), "weight of the new in alpha: (1024 - DCE_TCP_G) / 1024"),
       key("initial-alpha", &DcqcnSpec::initial_alpha, part(), "INITIAL_ALPHA_VALUE / 1024"),
       key("alpha-steps", &DcqcnSpec::alpha_steps, either("exact", 0, integer(2, 1 << 20)),
           "alpha is cut down to a multiple of 1 / this, as fixed-point arithmetic does"),
       key("rpg-ai-rate", &DcqcnSpec::rpg_ai_rate, any_rate(), "R_AI: step of additive increase"),
       key("rpg-hai-rate", &DcqcnSpec::rpg_hai_rate, any_rate(), "R_HAI: step of hyper increase"),
       key("rpg-min-rate", &DcqcnSpec::rpg_min_rate, any_rate(), "no rate is less"),
       key("rpg-max-rate", &DcqcnSpec::rpg_max_rate, either("link", BitRate{}, any_rate()),
           "no rate is increased above this"),
       key("rpg-min-dec-fac", &DcqcnSpec::rpg_min_dec_fac, part(), "cut: periodic: one cut leaves at least this part"),
       key("clamp-tgt-rate", &DcqcnSpec::clamp_tgt_rate, boolean(),
           "cut: periodic: every cut sets the target to the rate before it"),
       key("clamp-tgt-rate-after-time-inc", &DcqcnSpec::clamp_tgt_rate_after_time_inc, boolean(),
           "cut: periodic: a cut after an increase does"),
       key("rate-to-set-on-first-cnp", &DcqcnSpec::rate_to_set_on_first_cnp, either("off", BitRate{}, any_rate()),
           "cut: periodic: the rate after a flow's first CNP")},
      check_dcqcn};
  return table;
}

const Table<SwiftSpec>& swift_keys() {
  static const Table<SwiftSpec> table{
      "swift",
      "Swift, the names of its paper's Algorithm 1; windows in packets",
      {key("base-target", &SwiftSpec::base_target, period(), "round trip without queues, and what queue is wanted"),
       key("hop-scale", &SwiftSpec::hop_scale, duration({}, kMostPeriod), "more of the target for each hop"),
       key("hops", &SwiftSpec::hops, integer(0, 255), "hops, for hop-scale"),
       key("fs-range", &SwiftSpec::fs_range, either("off", Duration{}, period()),
           "flow-based scaling: how much more of the target flows with small windows have"),
       key("fs-min-cwnd", &SwiftSpec::fs_min_cwnd, ratio(), "window with which a flow has all of fs-range"),
       key("fs-max-cwnd", &SwiftSpec::fs_max_cwnd, integer(1, 1 << 20), "window from which on it has none of it"),
       key("ai", &SwiftSpec::ai, ratio(), "additive increase, packets a round trip"),
       key("beta", &SwiftSpec::beta, part(), "decrease, of how far the delay is over the target"),
       key("max-mdf", &SwiftSpec::max_mdf, part(), "the most of the window that one decrease takes"),
       key("min-cwnd", &SwiftSpec::min_cwnd, part(), "no window is less"),
       key("max-cwnd", &SwiftSpec::max_cwnd, integer(1, (1 << 23) - 1), "none is more"),
       key("initial-cwnd", &SwiftSpec::initial_cwnd, integer(1, (1 << 23) - 1), "window of a new flow"),
       key("retx-reset-threshold", &SwiftSpec::retx_reset_threshold, integer(1, 1000),
           "timeouts in a row after which the window is min-cwnd")},
      check_swift};
  return table;
}

const Table<SelectiveRepeatSpec>& selective_repeat_keys() {
  static const Table<SelectiveRepeatSpec> table{
      "selective-repeat",
      "Selective repeat after IRN (Mittal et al., SIGCOMM 2018)",
      {key("bdp-packets", &SelectiveRepeatSpec::bdp_packets, integer(1, kMostSelectiveWindow),
           "BDP-FC: packets of a QP that may be sent and not acknowledged"),
       key("window-packets", &SelectiveRepeatSpec::window_packets, integer(64, kMostSelectiveWindow),
           "how far beyond the first missing packet others are taken"),
       key("reorder-packets", &SelectiveRepeatSpec::reorder_packets, integer(1, 1 << 15),
           "a packet is lost when one that was sent so many later has arrived; the paper has 1"),
       key("rto-low", &SelectiveRepeatSpec::rto_low, period(), "timeout with few packets in flight"),
       key("rto-high", &SelectiveRepeatSpec::rto_high, period(), "timeout with more"),
       key("rto-low-packets", &SelectiveRepeatSpec::rto_low_packets, integer(0, 1 << 15), "N: how many are few")},
      check_selective_repeat};
  return table;
}

const Table<CnpSpec>& cnp_keys() {
  static const Table<CnpSpec> table{
      "cnp",
      "DCQCN's notification point: CNPs for packets with CE",
      {key("interval", &CnpSpec::interval, duration({}, kMostPeriod),
           "N, MIN_TIME_BETWEEN_CNPS: at most one in so long; without it 50us, with dcqcn.profile: vendor 4us"),
       key("scope", &CnpSpec::scope,
           choice<CnpSpec::Scope>({{"qp", CnpSpec::Scope::kQp},
                                   {"destination-ip", CnpSpec::Scope::kDestinationIp},
                                   {"port", CnpSpec::Scope::kPort}}),
           "of what at most one goes out in an interval"),
       key("dscp", &CnpSpec::dscp, integer(0, 63), "CNP_DSCP: code point that switches classify by"),
       key("class", &CnpSpec::priority, integer(0, 7),
           "class at the NIC; without it what the host's QoS profile makes of the DSCP")}};
  return table;
}

const Table<AckSpec>& ack_keys() {
  static const Table<AckSpec> table{
      "ack",
      "The class of what RC receivers answer with: ACKs, NAKs and atomic responses",
      {key("dscp", &AckSpec::dscp, maybe(integer(0, 63)),
           "code point that switches classify by; without it that of the data"),
       key("class", &AckSpec::priority, maybe(integer(0, 7)),
           "class at the NIC; without it what the host's QoS profile makes of the DSCP")},
      [](const Tree& map, const AckSpec& ack) {
        if (ack.priority && !ack.dscp)
          map.at_or_self("class").fail("no dscp beside it: switches would put ACKs into the class of the data");
      }};
  return table;
}

const Table<RoceNicSpec>& roce_nic_keys() {
  static const Table<RoceNicSpec> table{
      "roce-nic",
      "Built-in RoCEv2 NICs, for traffic with transport: roce",
      {key("congestion", &RoceNicSpec::congestion,
           choice<RoceCongestion>(
               {{"none", RoceCongestion::kNone}, {"dcqcn", RoceCongestion::kDcqcn}, {"swift", RoceCongestion::kSwift}}),
           "congestion control of what its QPs send; with dcqcn it also answers CE by CNPs"),
       key("dcqcn", &RoceNicSpec::dcqcn, dcqcn_form(), "DCQCN's parameters"),
       key("swift", &RoceNicSpec::swift, map_of(swift_keys()), "Swift's parameters"),
       key("loss-recovery", &RoceNicSpec::loss_recovery,
           choice<RoceLossRecovery>(
               {{"go-back-n", RoceLossRecovery::kGoBackN}, {"selective-repeat", RoceLossRecovery::kSelectiveRepeat}}),
           "what is sent again: all from what was lost on, or that alone; both ends of a flow alike"),
       key("selective-repeat", &RoceNicSpec::selective_repeat, map_of(selective_repeat_keys()),
           "selective repeat's parameters"),
       key("cnp", &RoceNicSpec::cnp, map_of(cnp_keys()), "how CE-marked packets are answered"),
       key("ack", &RoceNicSpec::ack, map_of(ack_keys()), "the class of acknowledgements; without it that of the data"),
       key("ack-timeout", &RoceNicSpec::ack_timeout, either("none", 0, integer(1, 31)),
           "verbs' timeout n: 4.096 us x 2^n without an answer, and all is sent again"),
       key("retry-count", &RoceNicSpec::retry_count, integer(0, 7),
           "verbs' retry_cnt: how often that is, without progress, before the QP is in error"),
       key("rnr-retry", &RoceNicSpec::rnr_retry, integer(0, 7),
           "verbs' rnr_retry: the same for receivers that are not ready; 7: without end"),
       key("min-rnr-timer", &RoceNicSpec::min_rnr_timer, integer(0, 31),
           "verbs' min_rnr_timer: code of the delay that RNR NAKs ask for"),
       key("ack-every", &RoceNicSpec::ack_every, integer(1, 65536),
           "an acknowledgement is asked for with every so many packets, and with the last one of a message"),
       key("window", &RoceNicSpec::window, either("unlimited", 0, integer(1, (1 << 23) - 1)),
           "packets of a QP that may be sent and not acknowledged"),
       key("max-reads", &RoceNicSpec::max_reads, integer(1, 128),
           "verbs' max_rd_atomic and max_dest_rd_atomic: READs of a QP that may be under way"),
       key("services", &RoceNicSpec::services, services(),
           "what peers, real ones too, may connect to by rdma_cm: rping-server, for rping's clients, "
           "udaddy-server, which sends udaddy's datagrams back, both at port 7174, and atomics-server, which does "
           "FetchAdd and CmpSwap with its clients both ways, at port 7176"),
       key("cm-response-timeout", &RoceNicSpec::cm_response_timeout, integer(1, 31),
           "code of how long a message of connection management waits for its answer and goes again"),
       key("cm-retries", &RoceNicSpec::cm_retries, integer(0, 15),
           "how often that is before the peer is unreachable")}};
  return table;
}

}  // namespace railyard::spec
