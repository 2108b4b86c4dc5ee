#include "transports/application/nic_driver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace railyard::application {
namespace {

// The application counts as driving the engine for so long after a call.
constexpr Duration kHandover{50'000'000};
// While it does, the thread looks after so long whether it still does: first, and at most.
constexpr std::int64_t kNapNs = 100'000, kLongestNapNs = 1'000'000;
// Looks of the thread that find nothing before it sleeps.
constexpr unsigned kEmptyRounds = 32;
// How long the thread may sleep without a timer of the engine's: nothing depends on it.
constexpr std::int64_t kLongestSleepNs = 1'000'000'000;

}  // namespace

// fork(2): a child has neither the thread nor the rings.
struct OpenDrivers {
  std::mutex mutex;
  std::vector<NicDriver*> all;

  static OpenDrivers& get() {
    static OpenDrivers* const drivers = make();  // never destroyed: programs end while threads run
    return *drivers;
  }
  static OpenDrivers* make() {
    ::pthread_atfork(before_fork, after_fork, in_child);
    std::atexit(at_exit);
    return new OpenDrivers;
  }
  // Many programs end without closing anything: what they counted last is reported all the same.
  static void at_exit() {
    const std::lock_guard lock(get().mutex);
    for (NicDriver* d : get().all)
      if (const std::unique_lock its(d->mutex_, std::try_to_lock); its.owns_lock()) d->report_now(NicDriver::now());
  }
  // Nobody is in the middle of something then.
  static void before_fork() {
    get().mutex.lock();
    for (NicDriver* d : get().all) d->mutex_.lock();
  }
  static void after_fork() {
    for (NicDriver* d : get().all) d->mutex_.unlock();
    get().mutex.unlock();
  }
  static void in_child() {
    for (NicDriver* d : get().all) {
      d->lost_ = d->forked_ = true;
      d->connection_->leave_to_parent();
    }
    after_fork();
  }
};

NicDriver::NicDriver(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {
  link_up_ = connection_->link_up();
  OpenDrivers& open = OpenDrivers::get();
  const std::lock_guard lock(open.mutex);
  open.all.push_back(this);
}

NicDriver::~NicDriver() {
  stop_thread();
  OpenDrivers& open = OpenDrivers::get();
  const std::lock_guard lock(open.mutex);
  std::erase(open.all, this);
}

void NicDriver::stop_thread() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!stop_) report_now(now());  // only once: after the most derived class there is nobody to report
    stop_ = true;
  }
  if (!thread_.joinable()) return;
  if (forked_) {  // the thread is the parent's: neither joined nor detached, but forgotten
    static_cast<void>(new std::thread(std::move(thread_)));
    return;
  }
  connection_->ring_self();
  thread_.join();
}

Instant NicDriver::now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return {(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec) * 1000};
}

void NicDriver::enter(Instant now) noexcept {
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

void NicDriver::leave() noexcept {
  if (armed_ || !thread_.joinable()) return;
  armed_ = connection_->from_fabric().sleep_until_frame();
  if (!armed_) hand_over();
}

void NicDriver::hand_over() noexcept {
  called_ps_.store(0, std::memory_order_relaxed);
  if (!asleep_ && thread_.joinable()) connection_->ring_self();
}

void NicDriver::report_now(Instant now) noexcept {
  if (lost_) return;
  unreported_ = false;
  reported_ = now;
  report(connection_->figures());
}

void NicDriver::lose() noexcept {
  if (lost_) return;
  lost_ = true;
  on_lost();
}

void NicDriver::start_thread() {
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

void NicDriver::run() noexcept {
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
      if (unreported_) report_now(at);
      armed_ = connection_->from_fabric().sleep_until_frame();
      if (!armed_) {
        if (connection_->from_fabric().broken()) lose();
        continue;
      }
      if (full_ != 0 && !connection_->to_fabric().sleep_until_room(full_)) {
        if (connection_->to_fabric().broken()) lose();
        continue;
      }
      const Instant deadline = std::min(deadline_, other_deadline());
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

}  // namespace railyard::application
