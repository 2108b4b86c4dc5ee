#include "dataplane/trunk/session.h"

namespace railyard {

TrunkSession::State TrunkSession::state(Instant now) const noexcept {
  if (!hears(now)) return State::kSilent;
  if (peer_terms_ != config_.terms) return State::kMismatch;
  if (!peer_hears_ || !clocks_.known()) return State::kUnheard;
  return peer_up_ ? State::kUp : State::kPeerDown;
}

TrunkPing TrunkSession::ping(Instant now, std::uint64_t received, std::uint64_t begins, bool link_up) noexcept {
  next_ping_ = now + config_.ping_every;
  TrunkPing p;
  p.sent = now;
  if (hears(now)) {
    p.echo_sent = peer_sent_;
    p.echo_received = heard_;
  }
  p.received = received;
  p.begins = begins;
  p.terms = config_.terms;
  p.link_up = link_up;
  return p;
}

TrunkHead TrunkSession::head(Instant now, std::uint64_t sequence) const noexcept {
  return {config_.session, hears(now) ? peer_ : 0, sequence};
}

TrunkSession::Heard TrunkSession::on_ping(Instant now, Instant arrived, const TrunkHead& head,
                                          const TrunkPing& ping) noexcept {
  if (head.session == config_.session) return Heard::kStale;  // our own, come back
  // While the far end is heard, only a later life of it takes its place: an earlier one's pings may be under way still.
  if (head.session < peer_ && hears(now)) return Heard::kStale;
  const bool same = head.session == peer_;
  if (same && ping.sent <= peer_sent_) return Heard::kStale;  // overtaken by a later one, or doubled
  if (!same) {
    clocks_.forget();
    met_ = false;
    next_ping_ = now;  // it is to know at once
  }
  peer_ = head.session;
  heard_ = arrived;
  peer_sent_ = ping.sent;
  peer_hears_ = head.peer_session == config_.session;
  peer_up_ = ping.link_up;
  peer_terms_ = ping.terms;
  if (peer_hears_ && ping.echo_sent > Instant{}) clocks_.add({ping.echo_sent, ping.echo_received, ping.sent, arrived});
  const bool meets = peer_hears_ && !met_;
  met_ |= peer_hears_;
  if (!same) return Heard::kNewLife;
  return meets ? Heard::kMet : Heard::kSame;
}

std::string_view text(TrunkSession::State state) noexcept {
  switch (state) {
    case TrunkSession::State::kSilent:
      return "no message from the remote end";
    case TrunkSession::State::kUnheard:
      return "the remote end does not receive this end's messages yet";
    case TrunkSession::State::kMismatch:
      return "the remote end has a different rate, delay, mtu or scale for this link";
    case TrunkSession::State::kPeerDown:
      return "down at the remote end";
    case TrunkSession::State::kUp:
      return "up";
  }
  return "";
}

}  // namespace railyard
