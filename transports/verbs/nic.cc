#include "transports/verbs/nic.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "dataplane/base/payload_pattern.h"

namespace railyard::verbs {
namespace {

// The application counts as driving the engine for so long after a call.
constexpr Duration kHandover{50'000'000};
// While it does, the thread looks after so long whether it still does: first, and at most.
constexpr std::int64_t kNapNs = 100'000, kLongestNapNs = 1'000'000;
// Frames that are taken before what they cause is sent, and sent before the fabric is told.
constexpr unsigned kTakeAtOnce = 32, kSendAtOnce = 8;
// How often frames are taken before the lock is given up.
constexpr unsigned kRoundsAtOnce = 8;
// Looks of the thread that find nothing before it sleeps.
constexpr unsigned kEmptyRounds = 32;
// How long the thread may sleep without a timer of the engine's: nothing depends on it.
constexpr std::int64_t kLongestSleepNs = 1'000'000'000;

NicSettings settings_in(std::span<const std::byte> octets) noexcept {
  NicSettings settings;
  if (octets.size() == sizeof settings) std::memcpy(&settings, octets.data(), sizeof settings);
  return settings;
}

roce::EngineConfig engine_config(const application::NicGrant& grant, const NicSettings& s) {
  roce::EngineConfig c;
  c.first_qpn = grant.first_qpn;
  c.most_qps = grant.most_qps;
  c.ack_every = s.ack_every;
  c.window_packets = s.window_packets;
  c.congestion = s.congestion;
  c.framing = s.framing;
  c.cnp = s.cnp;
  c.ack = s.ack;
  return c;
}

}  // namespace

Nic::Nic(std::unique_ptr<application::Connection> connection, NicEvents& events)
    : connection_(std::move(connection)),
      events_(events),
      settings_(settings_in(connection_->settings())),
      endpoint_(engine_config(connection_->nic(), settings_), true) {
  link_up_ = connection_->link_up();
}

Nic::~Nic() {
  if (!thread_.joinable()) return;
  if (forked_) {  // the thread is the parent's: neither joined nor detached, but forgotten
    static_cast<void>(new std::thread(std::move(thread_)));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  connection_->ring_self();
  thread_.join();
}

Instant Nic::now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return {(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec) * 1000};
}

void Nic::enter(Instant now) noexcept {
  called_ps_.store(now.ps, std::memory_order_relaxed);
  if (armed_) {
    armed_ = false;
    connection_->from_fabric().wake();
  }
  if (asleep_) {
    asleep_ = false;
    connection_->ring_self();  // it naps from here on
  }
}

void Nic::leave() noexcept {
  if (armed_ || !thread_.joinable()) return;
  armed_ = connection_->from_fabric().sleep_until_frame();
  if (!armed_) hand_over();
}

void Nic::hand_over() noexcept {
  called_ps_.store(0, std::memory_order_relaxed);
  if (!asleep_ && thread_.joinable()) connection_->ring_self();
}

bool Nic::receive(Instant now) noexcept {
  FrameRingConsumer& ring = connection_->from_fabric();
  unsigned n = 0;
  for (; n < kTakeAtOnce; ++n) {
    const auto frame = ring.front();
    if (!frame) break;
    ring.prefetch(1);
    const RxFrame rx{.at = now,
                     .sent = now,
                     .header = frame->octets,
                     .payload = {},
                     .icrc_pending = (frame->flags & kFrameIcrcPending) != 0,
                     .trimmed = (frame->flags & kFrameTrimmed) != 0};
    roce::InPacket in;
    endpoint_.receive_one(rx, in);
    ring.pop();
  }
  if (n > 0) static_cast<void>(ring.release());
  return n > 0;
}

// Payload goes from the application's memory into the ring: its only copy on this side.
bool Nic::send_class(Instant now, Priority priority) noexcept {
  FrameRingProducer& ring = connection_->to_fabric();
  bool any = false;
  unsigned unpublished = 0;
  for (;;) {
    TxFrame frame;
    frame.header = ring.next();
    if (frame.header == nullptr) {
      ring_full_ = true;
      break;
    }
    if (endpoint_.send(now, priority, {&frame, 1}) == 0) break;
    std::byte* to = frame.header + frame.header_octets;
    if (frame.payload.bytes != nullptr)
      std::memcpy(to, frame.payload.bytes, frame.payload.octets);
    else
      fill_payload(frame.payload.stream, frame.payload.offset, {to, frame.payload.octets});
    to += frame.payload.octets;
    const std::size_t padding = frame.trailer_octets > 4 ? frame.trailer_octets - std::size_t{4} : 0;
    std::memset(to, 0, padding);
    ring.commit(static_cast<std::uint32_t>(frame.header_octets + frame.payload.octets + padding), kFrameIcrcPending);
    any = true;
    if (++unpublished < kSendAtOnce) continue;
    unpublished = 0;
    if (ring.publish()) connection_->ring_fabric();
  }
  if (unpublished > 0 && ring.publish()) connection_->ring_fabric();
  return any;
}

bool Nic::send(Instant now) noexcept {
  if (lost_) return false;
  bool any = false;
  ring_full_ = false;
  for (;;) {
    const Readiness ready = endpoint_.ready(now);
    deadline_ = ready.until;
    bool sent = false;
    // Network control and acknowledgements are in higher classes than data.
    for (unsigned classes = ready.classes; classes != 0 && !ring_full_;) {
      const unsigned highest = std::bit_width(classes) - 1u;
      classes &= ~(1u << highest);
      sent |= send_class(now, Priority{static_cast<std::uint8_t>(highest)});
    }
    any |= sent;
    if (!sent || ring_full_) return any;
  }
}

bool Nic::pump(Instant now) noexcept {
  if (lost_) return false;
  bool any = deadline_ <= now;  // a timer may complete something, and send nothing
  for (unsigned round = 0; round < kRoundsAtOnce && receive(now); ++round) {
    any = true;
    if (companion_ != nullptr) companion_->run(now);
    send(now);
  }
  if (companion_ != nullptr) any |= companion_->run(now);
  any |= send(now);
  if (connection_->link_up() != link_up_) look_at_link();
  if (any) {
    for (const roce::AsyncEvent& e : engine().take_events()) events_.on_async(e);
    events_.on_progress();
  }
  return any;
}

void Nic::look_at_link() noexcept {
  link_up_ = !link_up_;
  events_.on_link(link_up_);
}

void Nic::lose() noexcept {
  if (lost_) return;
  lost_ = true;
  events_.on_lost();
  if (companion_ != nullptr) companion_->on_lost();
}

void Nic::start_thread() {
  if (thread_.joinable()) return;
  // Signals are the application's.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Nic::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "railyard-nic");
  std::int64_t nap = kNapNs;
  unsigned empty = 0;
  for (std::unique_lock lock(mutex_); !stop_ && !lost_;) {
    const Instant at = now();
    const Duration since{at.ps - called_ps_.load(std::memory_order_relaxed)};
    std::int64_t most = kLongestSleepNs;
    if (since < kHandover && !(armed_ && !connection_->from_fabric().sleeps())) {
      most = nap;
      nap = std::min(2 * nap, kLongestNapNs);
    } else {
      nap = kNapNs;
      // No yielding while there is work: Linux takes a whole slice from who yields beside programs that compute (6.18).
      empty = pump(at) ? 0 : empty + 1;
      if (empty < kEmptyRounds) {
        lock.unlock();
        for (int i = 0; i < 32; ++i) __builtin_ia32_pause();  // others may want the lock
        lock.lock();
        continue;
      }
      empty = 0;
      armed_ = connection_->from_fabric().sleep_until_frame();
      if (!armed_) {
        if (connection_->from_fabric().broken()) lose();
        continue;
      }
      if (ring_full_ && !connection_->to_fabric().sleep_until_room()) {
        if (connection_->to_fabric().broken()) lose();
        continue;
      }
      const Instant deadline = companion_ != nullptr ? std::min(deadline_, companion_->deadline()) : deadline_;
      if (deadline != Instant::never()) most = std::clamp((deadline.ps - at.ps) / 1000 + 1, std::int64_t{0}, most);
      asleep_ = true;
    }
    lock.unlock();
    pollfd on[2] = {{.fd = connection_->doorbell(), .events = POLLIN, .revents = 0},
                    {.fd = connection_->socket(), .events = 0, .revents = 0}};  // its end alone
    const timespec timeout{.tv_sec = most / 1'000'000'000, .tv_nsec = most % 1'000'000'000};
    ::ppoll(on, 2, &timeout, nullptr);
    if (on[0].revents != 0) connection_->calm();
    lock.lock();
    asleep_ = false;
    if ((on[1].revents & (POLLHUP | POLLERR)) != 0) lose();
  }
}

}  // namespace railyard::verbs
