// The keys of built-in RoCEv2 NICs: congestion control with every parameter, CNPs, timers, retries.
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/keys/parameter_keys.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {
namespace {

constexpr int kMostSelectiveWindow = 1 << 15;  // packets (transports/roce/selective_repeat.h)
constexpr Duration kLeastPeriod{100'000};
constexpr Duration kMostPeriod{10 * kPicosecondsPerSecond};

void check_selective_repeat(const Tree& map, const SelectiveRepeatSpec& s) {
  if (s.bdp_packets > s.window_packets)
    map.at_or_self("bdp-packets")
        .fail(fmt::format("{} is above window-packets ({}), so that the receiver would refuse some", s.bdp_packets,
                          s.window_packets));
  if (s.rto_low > s.rto_high)
    map.at_or_self("rto-low").fail(fmt::format("{} is above rto-high ({})", format(s.rto_low), format(s.rto_high)));
}

// The word of each congestion control, and a key for its settings.
Form<std::size_t> congestion() {
  std::vector<std::pair<std::string, std::size_t>> words{
      {std::string(roce::kAutomaticCongestionName), roce::kAutomaticCongestion}, {std::string(roce::kNoCongestionName), 0}};
  roce::for_each_congestion_kind(
      [&]<class K>(std::type_identity<K>, std::size_t i) { words.emplace_back(std::string(K::kName), i); });
  return choice<std::size_t>(std::move(words));
}

template <class K>
Key<RoceNicSpec> settings_key() {
  const auto form = parameter_form<K>();
  return {std::string(K::kName),
          fmt::format("{} parameters", K::kTitle),
          [form](const Tree& tree, RoceNicSpec& into) { into.settings_of<K>() = form.read(tree); },
          [form](const RoceNicSpec& from) { return form.write(from.settings_of<K>()); },
          [](const RoceNicSpec& a, const RoceNicSpec& b) { return a.settings_of<K>() == b.settings_of<K>(); },
          form.schema};
}

std::vector<Key<RoceNicSpec>> with_settings_keys(std::vector<Key<RoceNicSpec>> keys) {
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    keys.insert(keys.begin() + static_cast<std::ptrdiff_t>(i), settings_key<K>());
  });
  return keys;
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

Form<Duration> period() { return duration(kLeastPeriod, kMostPeriod); }

}  // namespace

const Table<SelectiveRepeatSpec>& selective_repeat_keys() {
  static const Table<SelectiveRepeatSpec> table{
      "selective-repeat",
      "Selective repeat after IRN (Mittal et al., SIGCOMM 2018)",
      {key("bdp-packets", &SelectiveRepeatSpec::bdp_packets, integer(1, kMostSelectiveWindow),
           "BDP-FC: maximum unacknowledged packets of a QP"),
       key("window-packets", &SelectiveRepeatSpec::window_packets, integer(64, kMostSelectiveWindow),
           "receive window: packets accepted beyond the first missing one"),
       key("reorder-packets", &SelectiveRepeatSpec::reorder_packets, integer(1, 1 << 15),
           "reordering threshold: a packet is lost when one that was sent this many packets later has arrived; the "
           "paper uses 1"),
       key("rto-low", &SelectiveRepeatSpec::rto_low, period(), "timeout with few packets in flight"),
       key("rto-high", &SelectiveRepeatSpec::rto_high, period(), "timeout with more packets in flight"),
       key("rto-low-packets", &SelectiveRepeatSpec::rto_low_packets, integer(0, 1 << 15),
           "N: number of packets in flight that counts as few")},
      check_selective_repeat};
  return table;
}

const Table<CnpSpec>& cnp_keys() {
  static const Table<CnpSpec> table{
      "cnp",
      "DCQCN notification point: CNPs for CE-marked packets",
      {key("interval", &CnpSpec::interval, duration({}, kMostPeriod),
           "N, MIN_TIME_BETWEEN_CNPS: minimum time between two CNPs; packets marked in between are not answered, then or "
           "later. Default: 4us, with dcqcn.profile: paper 50us"),
       key("scope", &CnpSpec::scope,
           choice<CnpSpec::Scope>({{"qp", CnpSpec::Scope::kQp},
                                   {"destination-ip", CnpSpec::Scope::kDestinationIp},
                                   {"port", CnpSpec::Scope::kPort}}),
           "scope of the interval: per QP (DCQCN §3), per peer, or the whole port (ConnectX PRM)"),
       key("dscp", &CnpSpec::dscp, integer(0, 63), "CNP_DSCP: DSCP by which switches classify CNPs"),
       key("class", &CnpSpec::priority, integer(0, 7),
           "class at the NIC; default: the class that the host's QoS profile gives the DSCP")}};
  return table;
}

const Table<AckSpec>& ack_keys() {
  static const Table<AckSpec> table{
      "ack",
      "Class of the responses of RC receivers: ACKs, NAKs and atomic responses",
      {key("dscp", &AckSpec::dscp, maybe(integer(0, 63)),
           "DSCP by which switches classify the responses; default: that of the data"),
       key("class", &AckSpec::priority, maybe(integer(0, 7)),
           "class at the NIC; default: the class that the host's QoS profile gives the DSCP")},
      [](const Tree& map, const AckSpec& ack) {
        if (ack.priority && !ack.dscp)
          map.at_or_self("class").fail("needs dscp: switches would put ACKs into the class of the data");
      }};
  return table;
}

const Table<RoceNicSpec>& roce_nic_keys() {
  static const Table<RoceNicSpec> table{
      "roce-nic",
      "Built-in RoCEv2 NICs, for traffic with transport: roce",
      with_settings_keys({key("congestion", &RoceNicSpec::congestion, congestion(),
           "congestion control of the QPs. auto: dcqcn, with firmware defaults unless `dcqcn` says otherwise, where a "
           "switch marks a class of RoCE traffic; else none. With dcqcn, receivers answer CE with CNPs"),
       key("loss-recovery", &RoceNicSpec::loss_recovery,
           choice<RoceLossRecovery>(
               {{"go-back-n", RoceLossRecovery::kGoBackN}, {"selective-repeat", RoceLossRecovery::kSelectiveRepeat}}),
           "packets to retransmit: all from the first lost one on (go-back-n), or only the lost ones "
           "(selective-repeat). Both ends of a flow must agree"),
       key("selective-repeat", &RoceNicSpec::selective_repeat, map_of(selective_repeat_keys()),
           "parameters of selective repeat"),
       key("cnp", &RoceNicSpec::cnp, map_of(cnp_keys()), "CNP settings for CE-marked packets"),
       key("ack", &RoceNicSpec::ack, map_of(ack_keys()), "class of acknowledgements; default: that of the data"),
       key("ack-timeout", &RoceNicSpec::ack_timeout, either("none", 0, integer(1, 31)),
           "verbs' timeout n: without a response for 4.096 us x 2^n, all outstanding packets are retransmitted"),
       key("retry-count", &RoceNicSpec::retry_count, integer(0, 7),
           "verbs' retry_cnt: timeouts without progress before the QP moves to error"),
       key("rnr-retry", &RoceNicSpec::rnr_retry, integer(0, 7),
           "verbs' rnr_retry: retries for receivers that are not ready; 7: no limit"),
       key("min-rnr-timer", &RoceNicSpec::min_rnr_timer, integer(0, 31),
           "verbs' min_rnr_timer: code of the delay that RNR NAKs request"),
       key("ack-every", &RoceNicSpec::ack_every, integer(1, 65536),
           "request an acknowledgement every N packets, and with the last packet of a message"),
       key("window", &RoceNicSpec::window, either("unlimited", 0, integer(1, (1 << 23) - 1)),
           "maximum unacknowledged packets of a QP"),
       key("max-reads", &RoceNicSpec::max_reads, integer(1, 128),
           "verbs' max_rd_atomic and max_dest_rd_atomic: maximum outstanding READs of a QP"),
       key("services", &RoceNicSpec::services, services(),
           "services that peers, including real ones, may connect to by rdma_cm. rping-server serves rping clients and "
           "udaddy-server echoes udaddy's datagrams, both at port 7174. atomics-server runs FetchAdd and CmpSwap with "
           "its clients in both directions, at port 7176"),
       key("cm-response-timeout", &RoceNicSpec::cm_response_timeout, integer(1, 31),
           "code of the time after which an unanswered connection management message is retransmitted"),
       key("cm-retries", &RoceNicSpec::cm_retries, integer(0, 15),
           "retransmissions before the peer counts as unreachable")})};
  return table;
}

}  // namespace railyard::spec
