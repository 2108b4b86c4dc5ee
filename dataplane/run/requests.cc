#include "dataplane/run/requests.h"

#include <utility>

namespace railyard {

bool Requests::post(Request request) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= kMost) return false;
  requests_.push_back(std::move(request));
  waiting_.store(true, std::memory_order_relaxed);
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
