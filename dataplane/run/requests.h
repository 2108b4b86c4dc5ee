// What other threads ask of a running engine: done by its thread, between windows.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "dataplane/base/time.h"

namespace railyard {

class Engine;

// Any thread may post; the engine's thread pays one relaxed load per turn while nobody does, and may sleep until
// somebody does. What is asked must be quick (a change, a snapshot) and must not throw: it holds up the fabric.
class Requests {
 public:
  Requests();
  ~Requests();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Called with the instant at which a change takes effect: not before any device's done().
  using Request = std::function<void(Engine&, Instant)>;
  static constexpr std::size_t kMost = 64;

  // False, and nothing has happened: kMost are waiting already.
  [[nodiscard]] bool post(Request request);

  bool any() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  // By the engine's thread. In the order of posting.
  void serve(Engine& engine, Instant at);

  // While it is held, modelled time stands still and nothing is exchanged with the outside; requests are served.
  void hold(bool on) noexcept {
    held_.store(on, std::memory_order_relaxed);
    wake();
  }
  bool held() const noexcept { return held_.load(std::memory_order_relaxed); }

  // A descriptor that is readable when there is something new here, until calm(). -1: the system has none left.
  int readable() const noexcept { return wake_; }
  // By the engine's thread.
  void calm() noexcept;
  // Ends the engine's sleep. Safe in a signal handler.
  void wake() noexcept;

 private:
  int wake_;
  std::atomic<bool> waiting_{false};
  std::atomic<bool> held_{false};
  std::mutex mutex_;
  std::deque<Request> requests_;
};

}  // namespace railyard
