// NSCC, the congestion control by the sender's window (UE-Spec 1.0 §3.6.13; uet §9.1..§9.4, whose names these are).
// Each acknowledgement says how many octets have arrived, how long its packet took, and whether it was marked:
//
//                     delay < target                        delay >= target
//   not marked        proportional increase, or fast        fair increase: a queue that nobody marks is short-lived
//   marked            nothing: only the path is bad         multiplicative decrease
//
// DEVIATION: with min_wnd below a packet (the reference's is one) the window may be a part of a packet. More senders
// than packets fit the pipe and the queue that they share would else have most of them trimmed, again and again. So the
// window is halved when the only packet in flight is trimmed or lost, and grows by part_gain with each that arrives; it
// is kept by pacing: the next packet goes a round trip / window (in packets) after the last (Swift, SIGCOMM 2020, §3.1
// and algorithm 1). Marks and delays do not count there: whoever has a whole packet or more would take what others give
// up. But where switches do not trim a marked packet lets no part grow: what does not fit the queue is lost there, and
// found out late, by a timer of the sender.
//
// DEVIATION: the weighted average of the delay is the simulator's (0.0125 of each sample), where the specification is
// said to weight over a round trip (uet §13, 26).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dataplane/base/time.h"
#include "transports/uet/congestion/nscc_config.h"

namespace railyard::uet {

// What an acknowledgement says.
struct AckSignals {
  std::uint64_t newly = 0;         // octets that have arrived since the last one
  std::optional<Duration> rtt{};   // of the packet it answers, without the time at the receiver
  bool ecn = false;                // that packet was marked
  std::uint8_t rcv_cwnd_pend = 0;  // the receiver's penalty, in 1/128
  bool restore_cwnd = false;       // which is over
};

class Nscc {
 public:
  explicit Nscc(const NsccConfig& config) noexcept;

  // A packet of `octets` leaves.
  void on_sent(Instant now, std::uint32_t octets) noexcept;
  void on_ack(Instant now, const AckSignals& ack) noexcept;
  // A switch trimmed a packet of `octets`. `reduces`: its window does (not at the last hop when the receiver grants
  // credit).
  void on_trimmed(Instant now, std::uint32_t octets, bool reduces) noexcept;
  // A packet of `octets` is taken for lost, or a timeout says so.
  void on_loss(std::uint32_t octets) noexcept;
  // A packet goes again for another reason than congestion: it is not in flight any more.
  void on_returned(std::uint32_t octets) noexcept;
  // A packet that was taken for lost, and was not sent again, has arrived after all: it was in flight, and an ACK takes
  // it off with all that has arrived.
  void on_found(std::uint32_t octets) noexcept { in_flight_ += octets; }
  // Nothing is in flight, whatever was counted.
  void on_nothing_in_flight() noexcept { in_flight_ = 0; }

  // Whether a packet of `octets` may leave while others are in flight.
  bool allows(std::uint32_t octets) const noexcept { return in_flight_ + octets <= cwnd_; }

  // When the next packet may leave while none is in flight.
  Instant next_at() const noexcept { return in_parts() ? last_sent_ + gap() : Instant{}; }

  double cwnd() const noexcept { return cwnd_; }  // octets
  double in_flight() const noexcept { return in_flight_; }
  double max_wnd() const noexcept { return max_wnd_; }
  double min_wnd() const noexcept { return config_.min_wnd; }
  Duration base_rtt() const noexcept { return base_rtt_; }
  Duration target() const noexcept { return config_.target; }
  Duration average_delay() const noexcept { return Duration{static_cast<std::int64_t>(avg_delay_)}; }

 private:
  double take_delay(const AckSignals& ack) noexcept;
  void average(double sample) noexcept { avg_delay_ += config_.delay_weight * (sample - avg_delay_); }
  bool quick_adapt(Instant now, bool loss, bool ecn, double delay) noexcept;
  void increase(double newly, double delay) noexcept;
  void decrease(Instant now) noexcept;
  bool in_parts() const noexcept { return cwnd_ < config_.packet; }
  bool may_be_in_parts() const noexcept { return config_.min_wnd < config_.packet; }
  void grow_part(Instant now, double newly) noexcept;
  bool was_alone(std::uint32_t octets) const noexcept;
  void halve() noexcept;
  Duration gap() const noexcept {
    return {static_cast<std::int64_t>(static_cast<double>(rtt_.ps) * config_.packet / cwnd_)};
  }
  // The least for all rules but halve().
  double floor() const noexcept { return std::max(config_.min_wnd, config_.packet); }
  void adjust(Instant now) noexcept;
  void clamp() noexcept;
  void leave_flight(double octets) noexcept { in_flight_ = in_flight_ > octets ? in_flight_ - octets : 0; }

  double cwnd_ = 0;
  double in_flight_ = 0;
  double max_wnd_;
  double avg_delay_ = 0;  // ps
  double inc_ = 0;
  double received_ = 0;  // octets since the window was last adjusted
  double fi_count_ = 0;
  bool fast_ = false;
  bool started_ = false;
  // Quick adapt.
  bool trigger_qa_ = false;
  double achieved_ = 0;  // octets in this period
  double ignored_ = 0;
  double to_ignore_ = 0;  // so many octets' signals are of before
  std::optional<Instant> qa_end_{};
  std::optional<Instant> last_cut_{};
  Instant last_adjust_{};
  Instant last_sent_{};
  Duration rtt_;  // the last sample
  Duration base_rtt_;
  NsccConfig config_;
};

}  // namespace railyard::uet
