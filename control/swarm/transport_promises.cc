#include "control/swarm/transport_promises.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "control/swarm/room.h"
#include "transports/roce/retry_timer.h"

namespace railyard::swarm {
namespace {

// Who waits for less may be tired of a queue alone.
constexpr Duration kLong{5'000'000'000};  // 5 ms

// A full packet with all its headers: RoCEv2's and UET's, over IPv6, with a VLAN tag.
constexpr std::uint32_t kHeaders = 200;

std::string text(Instant at) { return spec::format(at - Instant{}); }

// received = taken + dropped by reason.
template <class Counters>
bool balanced(const Counters& c) {
  return c.received_packets.read() == c.taken_packets.read() + c.all_drops();
}

}  // namespace

bool TransportPromises::any() const noexcept {
  return !lab_.collectives().empty() ||
         std::ranges::any_of(lab_.flows(), [](const build::Flow& f) { return !f.is_generated(); });
}

TransportPromises::Asked TransportPromises::asked(const build::Flow& f) {
  if (f.is_uet()) {
    const uet::MessageCounters& m = f.uet->messages();
    return {m.posted,
            m.completed,
            m.errors,
            m.failed_at,
            uet::name(m.status),
            m.status == uet::Status::kRetryExceeded || m.status == uet::Status::kPdcFailed};
  }
  const roce::MessageCounters& m = f.messages();
  return {m.posted, m.completed, m.errors, m.failed_at, roce::name(m.status), m.status == roce::WcStatus::kRetryExcErr};
}

// What is complete has been sent, and no more is known of it.
bool TransportPromises::is_unreliable(const build::Flow& f) {
  return f.is_uet() ? f.uet->config().mode == uet::DeliveryMode::kUud : f.is_uc();
}

Duration TransportPromises::last_wait(const spec::PortName& nic, bool uet) const {
  const spec::HostProfile& host = lab_.spec().hosts.at(lab_.spec().find(nic.node)->profile);
  if (uet && host.uet.rto_backoff == spec::UetRtoBackoff::kNone) return host.uet.rto;
  if (uet) return host.uet.rto * (std::int64_t{1} << std::min(host.uet.retries, 30));
  if (host.roce.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat) return host.roce.selective_repeat.rto_low;
  return roce::local_ack_timeout(static_cast<std::uint8_t>(host.roce.ack_timeout));
}

void TransportPromises::look() {
  for (const build::Flow& f : lab_.flows())
    if (!f.is_generated()) look_at_flow(f);
  for (const build::Collective& c : lab_.collectives()) look_at_collective(c);
  for (const build::UetNics::Named& nic : lab_.uet_nics())
    if (!balanced(nic.endpoint->engine().counters()))
      broken_("books",
              fmt::format("{}: UET packets received do not equal those accepted and dropped", spec::format(nic.name)));
}

void TransportPromises::look_at_flow(const build::Flow& f) {
  const Asked a = asked(f);
  const std::uint64_t verified = f.is_uet() ? f.uet->verified() : f.verified();
  const bool unreliable = is_unreliable(f);
  if (verified > a.posted)
    broken_("once", fmt::format("{}: {} messages received, but {} were sent", f.plan.name, verified, a.posted));
  // What finds no receive request at a UET target is complete, and waits there.
  const bool waits = f.is_uet() && f.uet->config().operation == FlowOperation::kSend;
  if (a.completed > verified && !unreliable && !waits)
    broken_("complete",
            fmt::format("{}: {} messages completed, but {} were verified", f.plan.name, a.completed, verified));
  if (a.completed + a.errors > a.posted)
    broken_("once", fmt::format("{}: {} messages completed and {} in error, of {}", f.plan.name, a.completed, a.errors,
                                a.posted));
}

void TransportPromises::look_at_collective(const build::Collective& c) {
  const std::string& name = lab_.spec().collectives[c.spec].name;
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    if (const std::uint64_t n = c.ranks[r]->wrong().octets; n > 0)
      broken_("payload", fmt::format("{}: {} bytes of the result of rank {} are wrong", name, n, r));
    if (const std::uint64_t n = c.ranks[r]->wrong_messages(); n > 0)
      broken_("payload", fmt::format("{}: {} unexpected messages to rank {}", name, n, r));
  }
}

// Its last try was under way, or answered, while nothing was in the way. (A switch that never has room for a packet is.)
void TransportPromises::look_at_failure(const std::string& what, Instant at, std::string_view status, bool gave_up,
                                        const spec::PortName& nic, bool uet, const Packets& packets,
                                        std::uint64_t lost) {
  if (!gave_up) return broken_("failure", fmt::format("{} failed at {}: {}", what, text(at), status));
  const Duration wait = last_wait(nic, uet);
  if (wait < kLong || !quiet_ || lost > quiet_->lost || at - wait <= quiet_->since) return;
  if (!has_room(lab_, packets.dscp, packets.path_mtu + kHeaders)) return;
  broken_("failure", fmt::format("{} gave up at {} ({}), but its path was free from {} on", what, text(at), status,
                                 text(quiet_->since)));
}

void TransportPromises::look_at_the_end(std::uint64_t lost) {
  for (const build::Flow& f : lab_.flows())
    if (!f.is_generated()) end_of_flow(f, lost);
  for (const build::Collective& c : lab_.collectives()) end_of_collective(c, lost);
  for (const build::UetNics::Named& nic : lab_.uet_nics()) {
    const uet::Engine& engine = nic.endpoint->engine();
    if (engine.pdcs() > 0) broken_("left over", fmt::format("{}: {} PDCs", spec::format(nic.name), engine.pdcs()));
    if (engine.open_messages() > 0)
      broken_("left over", fmt::format("{}: {} messages of UET", spec::format(nic.name), engine.open_messages()));
  }
}

void TransportPromises::end_of_flow(const build::Flow& f, std::uint64_t lost) {
  const Asked a = asked(f);
  const bool unreliable = is_unreliable(f);
  if (f.is_uet() && !unreliable && a.completed > f.uet->verified())
    broken_("complete", fmt::format("{}: {} messages completed, but {} were verified", f.plan.name, a.completed,
                                    f.uet->verified()));
  if (a.completed + a.errors < a.posted)
    broken_("drain",
            fmt::format("{}: of {} messages {} completed and {} failed", f.plan.name, a.posted, a.completed, a.errors));
  if (a.errors == 0) return;
  const bool at_source = f.is_uet() ? f.uet->asks(true) : f.roce_config().asks(true);
  const spec::TrafficSpec& t = lab_.spec().traffic[f.plan.traffic];
  look_at_failure(f.plan.name, a.failed_at, a.status, a.gave_up, at_source ? f.plan.source : f.plan.destination,
                  f.is_uet(), {t.dscp, static_cast<std::uint32_t>(t.roce.path_mtu)}, lost);
}

// What all have begun, all end.
void TransportPromises::end_of_collective(const build::Collective& c, std::uint64_t lost) {
  const spec::CollectiveSpec& s = lab_.spec().collectives[c.spec];
  bool failed = false;
  std::size_t begun = std::numeric_limits<std::size_t>::max();
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    const CollectiveRank& rank = *c.ranks[r];
    begun = std::min(begun, rank.started().size());
    if (!rank.failure()) continue;
    failed = true;
    const std::set<std::string_view> gives_up{roce::name(roce::WcStatus::kRetryExcErr),
                                              uet::name(uet::Status::kRetryExceeded),
                                              uet::name(uet::Status::kPdcFailed)};
    look_at_failure(fmt::format("{}: the {} of rank {}", s.name, rank.failure()->what, r), rank.failure()->at,
                    rank.failure()->status, gives_up.contains(rank.failure()->status), c.nics[r], s.is_uet(),
                    {s.dscp, static_cast<std::uint32_t>(s.path_mtu)}, lost);
  }
  if (failed) return;
  for (std::size_t r = 0; r < c.ranks.size(); ++r)
    for (std::size_t i = 0; i < begun; ++i)
      if (c.ranks[r]->finished()[i] == Instant::never())
        return broken_("drain", fmt::format("{}: rank {} has no result of iteration {}", s.name, r, i + 1));
}

void TransportPromises::count(Outcome& o) const {
  for (const build::Flow& f : lab_.flows()) {
    if (f.is_generated()) continue;
    (f.is_uet() ? o.uet_packets : o.roce_packets) += f.sent().packets;
    o.retransmissions += f.is_uet() ? f.uet->sent().retransmitted : f.qps().retransmitted_packets;
    o.failures += asked(f).errors > 0 ? 1u : 0u;
    o.features.insert(f.is_uc()     ? std::string("RoCE UC flows")
                      : !f.is_uet() ? std::string("RoCE flows")
                                    : fmt::format("UET {} flows", uet::name(f.uet->config().mode)));
    if (f.is_uet() && f.uet->config().tagged) o.features.insert("UET tagged sends");
    if (!f.is_uet()) continue;
    const spec::UetNicSpec& nic = lab_.spec().hosts.at(lab_.spec().find(f.plan.source.node)->profile).uet;
    if (nic.pdcs <= 32) o.features.insert("few UET PDCs");
    if (spec::has_rccc(nic.congestion)) o.features.insert("UET receiver credit");
  }
  for (const build::Collective& c : lab_.collectives()) {
    const bool uet = lab_.spec().collectives[c.spec].is_uet();
    for (const CollectiveRank* rank : c.ranks) {
      (uet ? o.uet_packets : o.roce_packets) += rank->traffic().packets;
      o.retransmissions += rank->traffic().retransmitted_packets;
      o.failures += rank->failure() ? 1u : 0u;
    }
    o.features.insert(uet ? "UET collective" : "RoCE collective");
    if (c.reducers > 0) o.features.insert("in-network coll.");
    if (std::ranges::any_of(c.ranks, [](const CollectiveRank* r) { return r->scale_up().has_value(); }))
      o.features.insert("scale-up network");
  }
}

}  // namespace railyard::swarm
