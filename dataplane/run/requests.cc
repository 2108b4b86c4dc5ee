#include "dataplane/run/requests.h"

#include <cstdint>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace railyard {

Requests::Requests() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Requests::~Requests() {
  if (wake_ >= 0) ::close(wake_);
}

void Requests::wake() noexcept {
  const std::uint64_t one = 1;
  // Nothing to do about a failure: the engine looks by itself before long.
  if (wake_ >= 0 && ::write(wake_, &one, sizeof one) < 0) return;
}

void Requests::calm() noexcept {
  std::uint64_t n;
  if (wake_ >= 0 && ::read(wake_, &n, sizeof n) < 0) return;
}

bool Requests::post(Request request) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= kMost) return false;
  requests_.push_back(std::move(request));
  waiting_.store(true, std::memory_order_relaxed);
  wake();
  return true;
}

void Requests::serve(Engine& engine, Instant at) {
  std::deque<Request> now;
  {
    const std::lock_guard lock(mutex_);
    now.swap(requests_);
    waiting_.store(false, std::memory_order_relaxed);
  }
  for (const Request& request : now) request(engine, at);
}

}  // namespace railyard
