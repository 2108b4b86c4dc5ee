// Whether the far end of a trunk is there, and which life of it: the handshake, which is the same as the keeping alive.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/base/time.h"
#include "dataplane/trunk/clock_alignment.h"
#include "dataplane/trunk/message.h"

namespace railyard {

struct TrunkSessionConfig {
  std::uint64_t session = 1;  // above 0, and larger than those of earlier lives of this end
  TrunkTerms terms;           // of the modelled link
  Duration ping_every{};      // of modelled time, as all here
  Duration timeout{};         // without a ping for so long, the far end is gone
};

// Each end pings all the time. A ping names the session that it hears, so both directions are known to work before
// either end believes in the link (as RFC 5880 does). A machine that is told what came in and asked what to say.
class TrunkSession {
 public:
  explicit TrunkSession(const TrunkSessionConfig& config) noexcept : config_(config) {}

  enum class State : std::uint8_t {
    kSilent,    // nothing is heard
    kUnheard,   // the far end does not hear us (yet)
    kMismatch,  // it models another link: other rate, delay, MTU or scale
    kPeerDown,  // somebody has taken the link down there
    kUp,
  };
  State state(Instant now) const noexcept;
  bool up(Instant now) const noexcept { return state(now) == State::kUp; }

  // Whether a ping is to be sent, and when.
  bool ping_due(Instant now) const noexcept { return now >= next_ping_; }
  // The ping to send at `now`. `received`: all frames of the far end below this are done with; `begins`: the first of
  // ours that is for this life of it.
  TrunkPing ping(Instant now, std::uint64_t received, std::uint64_t begins, bool link_up) noexcept;
  // Header of what is sent at `now`.
  TrunkHead head(Instant now, std::uint64_t sequence) const noexcept;

  // What a ping has told, that is looked at now and came in at `arrived`: before, or while others were looked at.
  enum class Heard : std::uint8_t {
    kSame,     // the far end goes on
    kNewLife,  // another session than before; what it knew of us is gone
    kMet,      // for the first time in its life it knows of ours: its frames for us begin where the ping says
    kStale,    // of an earlier session: to be ignored
  };
  Heard on_ping(Instant now, Instant arrived, const TrunkHead& head, const TrunkPing& ping) noexcept;

  // Whether this life of the far end has met ours: kMet, or kNewLife that knows of ours already.
  bool met() const noexcept { return met_; }
  // Whether a frame is of this session and meant for this one of ours.
  bool accepts(const TrunkHead& head) const noexcept {
    return met_ && head.session == peer_ && head.peer_session == config_.session;
  }

  const ClockAlignment& clocks() const noexcept { return clocks_; }
  const TrunkSessionConfig& config() const noexcept { return config_; }
  // Terms of the far end, as it last said.
  const TrunkTerms& peer_terms() const noexcept { return peer_terms_; }

 private:
  bool hears(Instant now) const noexcept { return peer_ != 0 && now - heard_ <= config_.timeout; }

  TrunkSessionConfig config_;
  std::uint64_t peer_ = 0;
  Instant heard_{};      // the last ping of it
  Instant peer_sent_{};  // when it was sent, by its clock
  Instant next_ping_{};
  bool peer_hears_ = false;
  bool met_ = false;
  bool peer_up_ = false;
  TrunkTerms peer_terms_;
  ClockAlignment clocks_;
};

// For people: "up", "nothing heard from the far end", ...
std::string_view text(TrunkSession::State state) noexcept;

}  // namespace railyard
