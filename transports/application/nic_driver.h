// Who lets time pass in a transport engine that runs in an application's process.
//
// Whoever calls into the library drives the engine. A thread of the library's own does it while nobody calls: a peer
// may read or write the application's memory at any time, and timers run. While the application calls, the thread only
// looks now and then whether it still does.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/time.h"
#include "transports/application/connection.h"

namespace railyard::application {

class NicDriver {
 public:
  // In a child of fork(2) nothing of it works any more.
  explicit NicDriver(std::unique_ptr<Connection> connection);
  virtual ~NicDriver();
  NicDriver(const NicDriver&) = delete;
  NicDriver& operator=(const NicDriver&) = delete;

  const NicGrant& grant() const noexcept { return connection_->nic(); }
  bool link_up() const noexcept { return connection_->link_up(); }

  // Everything below: with the lock held.
  std::mutex& mutex() noexcept { return mutex_; }
  // Wall time since the machine began. With a lab that is slower than that (`scale`), timers are those of wall time.
  static Instant now() noexcept;

  // A call of the application begins: it drives the engine from here on.
  void enter(Instant now) noexcept;
  // A call ends and the application may do something else than to call again soon: the fabric is to wake the thread.
  void leave() noexcept;
  // The application is about to sleep until something happens: the thread takes over at once.
  void hand_over() noexcept;

  // Whether something has come and was not taken.
  bool has_frames() noexcept { return connection_->from_fabric().any(); }
  // Takes what has come, sends what can be sent. Returns whether there was anything.
  virtual bool pump(Instant now) noexcept = 0;

  // Starts the thread, if it does not run. Throws std::system_error: there can be no more threads.
  void start_thread();
  // The lab is gone, or this is the child of a fork: nothing comes or goes any more.
  bool lost() const noexcept { return lost_; }

 protected:
  // By the most derived class, first thing in its destructor: pump() is not called any more.
  void stop_thread() noexcept;

  virtual void on_link(bool up) noexcept = 0;
  virtual void on_lost() noexcept = 0;
  // Writes counters and connections of the engine where the daemon reads them.
  virtual void report(TrafficFigures& to) const noexcept = 0;
  // Of whoever else uses the engine: when pump() is to be called. never(): not at all.
  virtual Instant other_deadline() const noexcept { return Instant::never(); }

  // What pump() is made of. `take(const RxFrame&)`; `ready(Instant)` returns Readiness; `make(Instant, Priority,
  // TxFrame&)`: whether there was a frame.
  template <class Take, class Ready, class Make>
  bool exchange(Instant now, Take take, Ready ready, Make make) noexcept;
  // At most `most` frames, of each class as much as fits.
  template <class Ready, class Make>
  bool send_all(Instant now, Ready ready, Make make, unsigned most = kNoLimit) noexcept;
  // Tells of a link that has changed.
  void look_at_link() noexcept {
    if (connection_->link_up() == link_up_) return;
    link_up_ = !link_up_;
    on_link(link_up_);
  }
  std::span<const std::byte> settings() const noexcept { return connection_->settings(); }
  Connection& connection() noexcept { return *connection_; }
  // Whether the engine's next timer is due.
  bool timer_is_due(Instant now) const noexcept { return !lost_ && deadline_ <= now; }

 private:
  friend struct OpenDrivers;
  // Frames that are taken before what they cause is sent, and sent before the fabric is told.
  static constexpr unsigned kTakeAtOnce = 32, kSendAtOnce = 8;
  // Frames that are sent before more are taken, while some wait: a process that sends as long as it can leaves the ring
  // to it full, the fabric pauses, and marks what it sends slow its peers down.
  static constexpr unsigned kSendBetween = 32;
  static constexpr unsigned kNoLimit = ~0u;
  // How often frames are taken before the lock is given up.
  static constexpr unsigned kRoundsAtOnce = 8;
  // How often a busy process reports its traffic: 50 times a second.
  static constexpr Duration kReportEvery{20'000'000'000};

  template <class Take>
  bool receive(Instant now, Take take) noexcept;
  template <class Make>
  unsigned send_class(Instant now, Priority priority, Make make, unsigned most) noexcept;
  void run() noexcept;
  void lose() noexcept;
  void report_now(Instant now) noexcept;

  std::unique_ptr<Connection> connection_;
  std::mutex mutex_;
  Instant deadline_ = Instant::never();  // of the engine
  PriorityMask full_ = 0;                // classes of which there is more to send than fits
  bool armed_ = false;                   // the fabric rings when a frame comes
  bool asleep_ = false;                  // the thread, until somebody rings
  bool link_up_ = true;
  bool unreported_ = true;  // something has happened since the last report
  Instant reported_{};
  bool lost_ = false;
  bool forked_ = false;
  bool stop_ = false;
  std::atomic<std::int64_t> called_ps_ = 0;  // when the application called last; 0: it sleeps
  std::thread thread_;
};

template <class Take>
bool NicDriver::receive(Instant now, Take take) noexcept {
  FrameRingConsumer& ring = connection_->from_fabric();
  unsigned n = 0;
  for (; n < kTakeAtOnce; ++n) {
    const auto frame = ring.front();
    if (!frame) break;
    ring.prefetch(1);
    take(RxFrame{.at = now,
                 .sent = now,
                 .header = frame->octets,
                 .payload = {},
                 .icrc_pending = (frame->flags & kFrameIcrcPending) != 0,
                 .trimmed = (frame->flags & kFrameTrimmed) != 0});
    ring.pop();
  }
  if (n > 0) static_cast<void>(ring.release());
  return n > 0;
}

// Payload goes from the application's memory into the ring: its only copy on this side.
template <class Make>
unsigned NicDriver::send_class(Instant now, Priority priority, Make make, unsigned most) noexcept {
  FrameRingProducer& ring = connection_->to_fabric().of(priority);
  unsigned sent = 0;
  unsigned unpublished = 0;
  while (sent < most) {
    TxFrame frame;
    frame.header = ring.next();
    if (frame.header == nullptr) {
      full_ |= bit(priority);
      break;
    }
    if (!make(now, priority, frame)) break;
    std::byte* to = frame.header + frame.header_octets;
    if (frame.payload.bytes != nullptr)
      std::memcpy(to, frame.payload.bytes, frame.payload.octets);
    else
      fill_payload(frame.payload.stream, frame.payload.offset, {to, frame.payload.octets});
    to += frame.payload.octets;
    const std::size_t padding = frame.trailer_octets > 4 ? frame.trailer_octets - std::size_t{4} : 0;
    std::memset(to, 0, padding);
    ring.commit(static_cast<std::uint32_t>(frame.header_octets + frame.payload.octets + padding),
                frame.trailer_octets != 0 ? std::uint32_t{kFrameIcrcPending} : 0);
    ++sent;
    if (++unpublished < kSendAtOnce) continue;
    unpublished = 0;
    if (ring.publish()) connection_->ring_fabric();
  }
  if (unpublished > 0 && ring.publish()) connection_->ring_fabric();
  return sent;
}

template <class Ready, class Make>
bool NicDriver::send_all(Instant now, Ready ready, Make make, unsigned most) noexcept {
  if (lost_) return false;
  const unsigned wanted = most;
  full_ = 0;
  for (;;) {
    const Readiness readiness = ready(now);
    deadline_ = readiness.until;
    const unsigned before = most;
    // Network control and acknowledgements are in higher classes than data.
    for (unsigned classes = readiness.classes & ~unsigned{full_}; classes != 0 && most > 0;) {
      const unsigned highest = std::bit_width(classes) - 1u;
      classes &= ~(1u << highest);
      most -= send_class(now, Priority{static_cast<std::uint8_t>(highest)}, make, most);
    }
    if (most == before || most == 0) return most != wanted;
  }
}

template <class Take, class Ready, class Make>
bool NicDriver::exchange(Instant now, Take take, Ready ready, Make make) noexcept {
  if (lost_) return false;
  bool any = false;
  for (unsigned round = 0; round < kRoundsAtOnce && receive(now, take); ++round) {
    any = true;
    send_all(now, ready, make, has_frames() ? kSendBetween : kNoLimit);
  }
  // (Who leaves with frames in the ring comes back, or the thread does.)
  any |= send_all(now, ready, make, has_frames() ? kSendBetween : kNoLimit);
  look_at_link();
  unreported_ |= any;
  if (unreported_ && now - reported_ >= kReportEvery) report_now(now);
  return any;
}

}  // namespace railyard::application
