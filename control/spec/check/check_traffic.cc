#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/check/check_uet.h"
#include "control/spec/check/path_mtu.h"
#include "control/spec/check/traffic_ends.h"
#include "control/spec/select.h"

namespace railyard::spec {
namespace {

constexpr Bytes kMostOfAgent{std::int64_t{4} << 30};  // agents::kMostOfFlow

// UDP, BTH and ICRC.
constexpr int kTransportOctets = 8 + 12 + 4;
constexpr int kIpv4Octets = 20;
constexpr int kIpv6Octets = 40;

constexpr std::int64_t kMostFlows = std::int64_t{1} << 24;  // each has a QP number of its own

using Pattern = TrafficSpec::Pattern;

// Beside a full payload: of RoCE in the first packet of a message.
constexpr int kRethOctets = 16;
constexpr int kAethOctets = 4;
constexpr int kSrEthOctets = 8;  // selective repeat: in all, and the RETH in all of a WRITE

bool is_roce(const TrafficSpec& t) { return t.is_roce(); }
bool is_rping(const TrafficSpec& t) { return t.is_rping(); }

// Of RoCEv2 and generators. `selective`: by NICs that repeat selectively.
int header_octets(const TrafficSpec& traffic, bool selective) {
  int all = kTransportOctets + (traffic.ip_version == 4 ? kIpv4Octets : kIpv6Octets);
  if (is_rping(traffic)) return all + kRethOctets;
  if (is_roce(traffic) && selective && traffic.roce.operation != RoceOperation::kRead) all += kSrEthOctets;
  if (!is_roce(traffic) || traffic.roce.operation == RoceOperation::kSend) return all;
  return all + (traffic.roce.operation == RoceOperation::kWrite ? kRethOctets : kAethOctets);
}

int payload_octets(const TrafficSpec& t) {
  if (is_rping(t)) return t.roce.rping.path_mtu;
  return t.has_messages() ? t.roce.path_mtu : static_cast<int>(t.payload);
}

// An upper bound, before pairs within one host are left out.
std::int64_t count_flows(const TrafficSpec& t, const TrafficEnds& ends) {
  std::int64_t flows = 0;
  if (t.pattern == Pattern::kFile) return static_cast<std::int64_t>(t.listed.size());
  for (const TrafficEnds& rail : rails(t, ends)) {
    const auto from = static_cast<std::int64_t>(rail.from.size());
    const auto to = static_cast<std::int64_t>(rail.to.size());
    switch (t.pattern) {
      case Pattern::kPairs:
        flows += std::max(from, to) * t.flows;
        break;
      case Pattern::kIncast:
        flows += to * (t.fan_in > 0 ? t.fan_in : from) * t.flows;
        break;
      case Pattern::kAllToAll:
        flows += from * to * t.flows;
        break;
      case Pattern::kPermutation:
      case Pattern::kRandom:
        flows += from * t.flows;
        break;
      case Pattern::kFile:
        break;
    }
  }
  return flows;
}

class TrafficCheck {
 public:
  explicit TrafficCheck(const Draft& draft) : draft_(draft), lab_(draft.lab), mtu_(draft.lab), uet_(draft.lab) {
    for (const LinkSpec& link : lab_.links) {
      rate_[link.a] = rate_[link.b] = link.rate;
      least_mtu_ = std::min(least_mtu_, link.mtu);
    }
  }

  void run() {
    for (std::size_t i = 0; i < lab_.traffic.size(); ++i) {
      const TrafficSpec& traffic = lab_.traffic[i];
      const Tree& said = *draft_.traffic[i];
      if (!names_.insert(traffic.name).second)
        said.at_or_self("name").fail(fmt::format("traffic '{}' exists already; expected another name", traffic.name));
      const TrafficEnds ends = find_ends(draft_, traffic, said);
      check_end(traffic, said);
      check_direction(traffic, said, ends);
      if (traffic.bidirectional) {
        check_send_back(said, ends);
        check_direction(traffic, said, {ends.to, ends.from});
      }
      flows_ += (traffic.load ? count_arrivals(traffic, said, ends) : count_flows(traffic, ends)) *
                (traffic.has_messages() ? traffic.roce.qps : 1) * (traffic.bidirectional ? 2 : 1);
      if (flows_ > kMostFlows) said.fail(fmt::format("more than {} flows in total", kMostFlows));
    }
    check_ipv6();
  }

 private:
  void check_direction(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) {
    check_rate(t, said, ends);
    check_paths(t, said, ends);
    if (is_rping(t))
      check_rping(t, said, ends);
    else if (t.has_messages())
      check_messages(t, said, ends);
  }

  // Of bidirectional traffic the receivers are senders, too.
  void check_send_back(const Tree& said, const TrafficEnds& ends) const {
    for (const PortName& nic : ends.to)
      if (const NodeSpec& host = *lab_.find(nic.node);
          !host.agent &&
          !std::holds_alternative<std::monostate>(host.nics[static_cast<std::size_t>(nic.port) - 1].attach))
        said.at_or_self("bidirectional")
            .fail(fmt::format("{} is attached and sends its own frames; expected built-in receivers", format(nic)));
  }

  void check_end(const TrafficSpec& t, const Tree& said) const {
    const bool ends = t.has_end() || (is_rping(t) && t.roce.rping.count > 0) || t.stop || lab_.run.duration;
    if (!ends && lab_.run.clock == Clock::kVirtual)
      said.fail("never ends, nor does the run; expected bytes or stop here, or run.duration");
  }

  // In the mean.
  std::int64_t count_arrivals(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const {
    if (!t.stop && !lab_.run.duration)
      said.at_or_self("load").fail("new flows never end; expected stop here, or run.duration");
    if (t.load->numerator > t.load->denominator)
      said.at_or_self("load").fail("is above the link rate; expected at most 100%");
    const double mean = t.sizes ? t.sizes->mean() : static_cast<double>(t.bytes.n);
    const Duration until = t.stop ? *t.stop : *lab_.run.duration;
    double flows = 0;
    for (const PortName& from : ends.from)
      flows += static_cast<double>(rate_.at(from).bps) * static_cast<double>(t.load->numerator) /
               static_cast<double>(t.load->denominator) / (8 * mean) *
               static_cast<double>(std::max<std::int64_t>(0, (until - t.start).ps)) * 1e-12;
    constexpr double kMostArrivals = 1 << 20;
    if (flows > kMostArrivals)
      said.at_or_self("load").fail(
          fmt::format("would make {:.0f} flows of {:.0f} bytes each; expected at most {:.0f}: a shorter time, less "
                      "load, fewer senders or larger flows",
                      flows, mean, kMostArrivals));
    return static_cast<std::int64_t>(flows);
  }

  void check_rate(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const {
    if (!t.rate) return;
    for (const PortName& from : ends.from)
      if (*t.rate > rate_.at(from))
        said.at_or_self("rate").fail(fmt::format("{} is above the rate of {}'s link ({}); greedy sends at link rate",
                                                 format(*t.rate), format(from), format(rate_.at(from))));
  }

  void check_paths(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) {
    const int headers =
        t.is_uet()
            ? std::max(uet_.octets(ends.from, t.ip_version), uet_.octets(ends.to, t.ip_version)) +
                  (t.ip_version == 4 ? kIpv4Octets : kIpv6Octets)
            : header_octets(t, !t.is_uc() && std::ranges::any_of(ends.from, [&](const PortName& nic) {
                return repeats_selectively(nic);
              }));
    const int packet = payload_octets(t) + headers;
    if (packet <= least_mtu_ && mtu_.all_connected()) return;  // the usual case
    for (const auto& [from, to] : possible_pairs(t, ends, [&](const PortName& nic) { return mtu_.group(nic); })) {
      const int mtu = mtu_.between(from, to);
      if (mtu == 0) said.fail(fmt::format("there is no path from {} to {}", format(from), format(to)));
      if (packet > mtu)
        (is_rping(t) ? said.at_or_self("rping") : said)
            .at_or_self(t.has_messages() ? "path-mtu" : "payload")
            .fail(fmt::format("{} and {} bytes of headers make packets of {}; the MTU from {} to {} is {}{}",
                              format(Bytes{payload_octets(t)}), headers, packet, format(from), format(to), mtu,
                              t.has_messages() ? largest_path_mtu(mtu - headers) : std::string()));
    }
  }

  static std::string largest_path_mtu(int room) {
    for (const int mtu : {8192, 4096, 2048, 1024, 512, 256})
      if (mtu <= room) return fmt::format("; expected path-mtu: {}", mtu);
    return {};
  }

  void check_messages(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) {
    for (const PortName& to : ends.to)
      if (!std::holds_alternative<std::monostate>(
              lab_.find(to.node)->nics[static_cast<std::size_t>(to.port) - 1].attach) &&
          !(takes_agents(t) && is_agents(to)))
        said.at_or_self("to").fail(fmt::format("{} is attached and has its own {}; expected built-in hosts{}",
                                               format(to), t.is_uet() ? "PDCs" : "QPs",
                                               t.is_uet() ? "" : ", or hosts with an agent"));
    if (t.is_roce()) {
      check_agents(t, said, ends);
      for (const std::vector<PortName>* nics : {&ends.from, &ends.to})
        for (const PortName& nic : *nics) check_nic(nic);
      if (!t.is_uc()) check_recovery(said, ends);
    } else {
      uet_.check(t, said, ends);
    }
    const int slots =
        t.roce.operation == RoceOperation::kSend ? t.roce.receives.value_or(t.roce.outstanding) : t.roce.outstanding;
    constexpr std::int64_t kMuch = std::int64_t{1} << 60;
    const Int128 held = Int128{count_flows(t, ends)} * t.roce.qps * slots * t.roce.message + held_;
    held_ = static_cast<std::int64_t>(std::min<Int128>(held, kMuch));
    if (lab_.run.payload == Payload::kReal && Bytes{held_} > lab_.run.memory)
      said.at_or_self("message").fail(
          fmt::format("with run.payload: real, receivers need {} of {} per QP, {} in total; run.memory is {}", slots,
                      format(Bytes{t.roce.message}), format(Bytes{held_}), format(lab_.run.memory)));
  }

  bool is_agents(const PortName& nic) const { return lab_.find(nic.node)->agent.has_value(); }

  // Agents have real data, and devices that go back N and send as fast as they can.
  void check_agents(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const {
    const auto from = std::ranges::find_if(ends.from, [this](const PortName& nic) { return is_agents(nic); });
    const auto to = std::ranges::find_if(ends.to, [this](const PortName& nic) { return is_agents(nic); });
    const bool sends = from != ends.from.end();
    const bool receives = to != ends.to.end();
    if (!sends && !receives) return;
    const PortName& nic = sends ? *from : *to;
    if (lab_.run.payload != Payload::kReal)
      said.at_or_self("transport")
          .fail(fmt::format("{} is an agent's and sends real data; expected run.payload: real", format(nic)));
    if (t.is_uc())
      said.at_or_self("qp-type").fail(
          fmt::format("{} is an agent's and has reliable connections only; expected rc", format(nic)));
    if (t.load)
      said.at_or_self("load").fail(fmt::format(
          "{} is an agent's, whose flows are prepared in advance; expected a fixed list of flows", format(nic)));
    if (t.rate && sends)
      said.at_or_self("rate").fail(fmt::format(
          "{} is an agent's, whose device sends at link rate; expected greedy, or built-in senders", format(nic)));
    if (t.roce.repost_after > Duration{} && receives)
      said.at_or_self("repost-after")
          .fail(fmt::format("{} is an agent's, which reposts at once; expected built-in receivers", format(*to)));
    if (t.roce.operation == RoceOperation::kRead && sends && (!t.has_end() || t.bytes > kMostOfAgent))
      said.at_or_self("bytes").fail(
          fmt::format("{} is an agent's, which buffers all READ data; expected at most {} per flow", format(nic),
                      format(kMostOfAgent)));
    for (const std::vector<PortName>* nics : {&ends.from, &ends.to})
      for (const PortName& end : *nics)
        if (repeats_selectively(end))
          said.at_or_self("transport")
              .fail(fmt::format("{} is an agent's device, which uses go-back-N, but {} has selective-repeat in its "
                                "profile; expected loss-recovery: go-back-n",
                                format(nic), format(end)));
  }

  // Of a built-in server it is known whether it is there; of an attached host it is not.
  void check_rping(const TrafficSpec& t, const Tree& said, const TrafficEnds& ends) const {
    for (const PortName& from : ends.from) check_nic(from);
    for (const PortName& to : ends.to) {
      if (!std::holds_alternative<std::monostate>(
              lab_.find(to.node)->nics[static_cast<std::size_t>(to.port) - 1].attach))
        continue;
      check_nic(to);
      const std::string& profile = lab_.find(to.node)->profile;
      if (std::ranges::find(roce_of(to).services, RoceService::kRpingServer) == roce_of(to).services.end())
        said.at_or_self("to").fail(fmt::format(
            "{} has no rping server; expected hosts.{}.roce.services: [rping-server]", format(to), profile));
      if (t.roce.rping.port != RpingTraffic{}.port)
        said.at_or_self("rping").at_or_self("port").fail(
            fmt::format("{} is built in and listens on port {}", format(to), RpingTraffic{}.port));
    }
  }

  const RoceNicSpec& roce_of(const PortName& nic) const { return lab_.hosts.at(lab_.find(nic.node)->profile).roce; }
  bool repeats_selectively(const PortName& nic) const {
    return roce_of(nic).loss_recovery == RoceLossRecovery::kSelectiveRepeat;
  }

  // Of each profile the first NIC.
  std::vector<PortName> one_of_each_profile(const std::vector<PortName>& nics) const {
    std::vector<PortName> out;
    std::set<std::string> profiles;
    for (const PortName& nic : nics)
      if (profiles.insert(lab_.find(nic.node)->profile).second) out.push_back(nic);
    return out;
  }

  // Both ends of a QP must recover in the same way, and take what the other sends.
  void check_recovery(const Tree& said, const TrafficEnds& ends) const {
    const std::vector<PortName> receivers = one_of_each_profile(ends.to);
    for (const PortName& from : one_of_each_profile(ends.from)) {
      for (const PortName& to : receivers) {
        if (repeats_selectively(from) != repeats_selectively(to))
          said.at_or_self("transport")
              .fail(fmt::format(
                  "{} has selective-repeat and {} go-back-n; expected the same roce.loss-recovery in both profiles",
                  format(repeats_selectively(from) ? from : to), format(repeats_selectively(from) ? to : from)));
        const int sends = roce_of(from).selective_repeat.bdp_packets;
        const int takes = roce_of(to).selective_repeat.window_packets;
        if (repeats_selectively(from) && sends > takes)
          said.at_or_self("transport")
              .fail(fmt::format("{} may have {} packets in flight (bdp-packets), but {} accepts {} (window-packets)",
                                format(from), sends, format(to), takes));
      }
    }
  }

  // What a profile says must suit the links of those that use it.
  void check_nic(const PortName& nic) const {
    const std::string& name = lab_.find(nic.node)->profile;
    const RoceNicSpec& roce = roce_of(nic);
    if (!roce.is_controlled_by<roce::Dcqcn>() || roce.settings_of<roce::Dcqcn>().least <= rate_.at(nic)) return;
    const Tree& said = draft_.sections.hosts != nullptr ? draft_.sections.hosts->at_or_self(name) : *draft_.document;
    said.at_or_self("roce")
        .at_or_self("dcqcn")
        .at_or_self("rpg-min-rate")
        .fail(fmt::format("{} is above the rate of {}'s link ({})", format(roce.settings_of<roce::Dcqcn>().least), format(nic),
                          format(rate_.at(nic))));
  }

  void check_ipv6() const {
    constexpr int kIpv6LeastMtu = 1280;  // RFC 8200 §5
    const auto v6 = std::ranges::find(lab_.traffic, 6, &TrafficSpec::ip_version);
    if (v6 == lab_.traffic.end() || least_mtu_ >= kIpv6LeastMtu) return;
    for (std::size_t i = 0; i < lab_.links.size(); ++i)
      if (const LinkSpec& link = lab_.links[i]; link.mtu < kIpv6LeastMtu)
        draft_.links[i]->fail(
            fmt::format("MTU {} of the link {} to {} is below {}, the minimum of IPv6: traffic '{}' is IPv6", link.mtu,
                        format(link.a), format(link.b), kIpv6LeastMtu, v6->name));
  }

  const Draft& draft_;
  const Lab& lab_;
  PathMtu mtu_;
  UetCheck uet_;
  std::map<PortName, BitRate> rate_;
  int least_mtu_ = 9216;
  std::set<std::string> names_;
  std::int64_t flows_ = 0;
  std::int64_t held_ = 0;  // octets in receivers' memory
};

}  // namespace

void check_traffic(const Draft& draft) { TrafficCheck(draft).run(); }

}  // namespace railyard::spec
