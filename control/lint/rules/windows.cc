// Windows that leave the path idle.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "control/report/framing.h"
#include "control/report/units.h"
#include "control/routing/path_times.h"
#include "control/spec/value.h"
#include "transports/roce/congestion/kinds.h"
#include "transports/uet/wire/pds_ack.h"
#include "transports/uet/wire/ses_response.h"

namespace railyard::lint {
namespace {

constexpr int kRoceAckFrame = 66;  // Ethernet, IPv4, UDP, BTH, AETH, ICRC, FCS
// ACK_CC with the response of the semantic sublayer (UE-Spec 1.0 §3.5, §3.4) in Ethernet, IPv4 and what is around PDS.
int uet_ack_frame(const spec::UetNicSpec& nic) {
  return 14 + 20 + report::uet_outer_octets(nic, 4) + int{uet::PdsAckCc::kOctets} + int{uet::SesResponse::kOctets} + 4;
}

struct Limit {
  double octets = std::numeric_limits<double>::infinity();  // in flight, of one QP
  std::string path;
  std::string text;

  void take(double of, std::string at, std::string what) {
    if (of < octets) *this = {of, std::move(at), std::move(what)};
  }
};

// UUD and UC: messages that nobody answers are complete when they are sent.
bool waits_for_answers(const Stream& s) {
  if (s.like.is_uet()) return s.is_collective || s.like.service != spec::UetService::kUud;
  return s.like.is_roce() && !s.like.is_uc() && !s.like.is_rping();
}

// NSCC as it is in force at a NIC; nullptr: it is not.
const uet::NsccConfig* nscc_at(const Facts& facts, const spec::PortName& nic) {
  for (const build::UetNics::Named& named : facts.built().uet_nics())
    if (named.name == nic) return std::get_if<uet::NsccConfig>(&named.endpoint->engine().config().congestion);
  return nullptr;
}

// With NSCC, uet-window-below-bdp is about the window of a PDC.
Limit uet_limit_of(const Facts& facts, const Stream& s) {
  Limit limit;
  const spec::RoceTraffic& t = s.like.roce;
  const spec::UetNicSpec& nic = facts.host(s.from.node).uet;
  const std::string at_nic = fmt::format("hosts.{}.uet.", facts.lab().find(s.from.node)->profile);
  if (!s.is_collective)
    limit.take(static_cast<double>(t.outstanding) * t.message, s.path + ".outstanding",
               fmt::format("{} message{} of {} outstanding", t.outstanding, t.outstanding == 1 ? "" : "s",
                           report::size_text(t.message)));
  const auto packets = [&](int window, const std::string& key) {
    limit.take(static_cast<double>(window) * t.path_mtu, at_nic + key,
               fmt::format("a window of {} packets of {}", window, spec::format(Bytes{t.path_mtu})));
  };
  const uet::NsccConfig* const nscc = nscc_at(facts, s.from);
  if (s.like.service == spec::UetService::kRudi)
    packets(nic.rudi_window, "rudi-window");
  else if (nscc == nullptr)
    packets(nic.window, "window");
  if (nscc != nullptr) {
    const double most = nscc->max_wnd_bdps * static_cast<double>((nscc->rate * nscc->base_rtt).n);
    limit.take(most, at_nic + "nscc.max-window",
               fmt::format("a congestion window of at most {}", report::size_text(static_cast<std::uint64_t>(most))));
  }
  return limit;
}

Limit limit_of(const Facts& facts, const Stream& s) {
  if (s.like.is_uet()) return uet_limit_of(facts, s);
  const std::string& profile = facts.lab().find(s.from.node)->profile;
  const spec::RoceNicSpec& nic = facts.lab().hosts.at(profile).roce;
  const spec::RoceTraffic& t = s.like.roce;
  const std::string at_nic = fmt::format("hosts.{}.roce.", profile);
  Limit limit;
  if (!s.is_collective) {
    const int messages =
        t.operation == spec::RoceOperation::kRead ? std::min(t.outstanding, nic.max_reads) : t.outstanding;
    limit.take(static_cast<double>(messages) * t.message, s.path + ".outstanding",
               fmt::format("{} message{} of {} outstanding", messages, messages == 1 ? "" : "s",
                           report::size_text(t.message)));
  }
  if (nic.window > 0)
    limit.take(static_cast<double>(nic.window) * t.path_mtu, at_nic + "window",
               fmt::format("a window of {} packets of {}", nic.window, spec::format(Bytes{t.path_mtu})));
  if (nic.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat)
    limit.take(static_cast<double>(nic.selective_repeat.bdp_packets) * t.path_mtu,
               at_nic + "selective-repeat.bdp-packets",
               fmt::format("{} packets of {} allowed by selective repeat (BDP-FC)", nic.selective_repeat.bdp_packets,
                           spec::format(Bytes{t.path_mtu})));
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t) {
    if constexpr (requires { K::largest_window(nic.settings_of<K>()); }) {
      if (!nic.is_controlled_by<K>()) return;
      const roce::LargestWindow most = K::largest_window(nic.settings_of<K>());
      limit.take(static_cast<double>(most.packets) * t.path_mtu, fmt::format("{}{}.{}", at_nic, K::kName, most.key),
                 fmt::format("a congestion window of at most {} packets of {}", most.packets,
                             spec::format(Bytes{t.path_mtu})));
    }
  });
  return limit;
}

// How many QPs of one entry share the sender's link.
std::map<std::pair<std::string, spec::PortName>, int> qps_at_senders(const Facts& facts) {
  std::map<std::pair<std::string, spec::PortName>, int> qps;
  for (const build::Flow& f : facts.built().flows())
    qps[{fmt::format("traffic.{}", f.plan.traffic), f.plan.source}] +=
        facts.lab().traffic[f.plan.traffic].roce.qps;
  return qps;
}

void find_below_bdp(const Facts& facts, Findings& findings) {
  routing::PathTimes times(facts.lab());
  const auto qps = qps_at_senders(facts);
  for (const Stream& s : facts.kinds_of_streams()) {
    if (!waits_for_answers(s) || s.like.load) continue;
    const spec::UetNicSpec& uet = facts.host(s.from.node).uet;
    const auto there = times.one_way(s.from, s.to, report::data_frame_octets(s.like, uet));
    const auto back = times.one_way(s.to, s.from, s.like.is_uet() ? uet_ack_frame(uet) : kRoceAckFrame);
    if (!there || !back) continue;
    const auto shared = qps.find({s.path, s.from});
    const int flows = shared == qps.end() ? 1 : shared->second;
    const BitRate own = std::min(facts.bottleneck(s), s.like.rate.value_or(facts.bottleneck(s)));
    // A flow with a rate of its own has to reach that; others share the link.
    const int sharing = s.like.rate ? s.like.roce.qps : flows;
    const double bdp = static_cast<double>((own * (*there + *back)).n) / sharing;
    const Limit limit = limit_of(facts, s);
    if (limit.octets >= bdp) continue;
    // A short flow ends before its window is full.
    if (s.like.bytes.n > 0 && static_cast<double>(s.like.bytes.n) / s.like.roce.qps <= limit.octets) continue;
    const char* const unit = s.like.is_uet() ? "PDC" : "QP";
    findings.add(limit.path,
                 fmt::format("{} fill {} of {} from {} to {}: the path needs {} per {} (round trip {}).", limit.text,
                             report::percent_text(limit.octets / bdp), spec::format(own), spec::format(s.from),
                             spec::format(s.to), report::size_text(static_cast<std::uint64_t>(bdp)), unit,
                             report::time_text(*there + *back)),
                 fmt::format("Raise it until {} are in flight, or use more {}s.",
                             report::size_text(static_cast<std::uint64_t>(bdp)), unit));
  }
}

}  // namespace

const Rule kWindowBelowBdp{"window-below-bdp", Severity::kWarning,
                           "What a QP or the messages of a PDC may have in flight is below the bandwidth-delay "
                           "product: it cannot reach the link rate.",
                           find_below_bdp};

}  // namespace railyard::lint
