#include "dataplane/run/worker_team.h"

#include <utility>

#include "dataplane/run/processors.h"

namespace railyard {
namespace {

// About 20 microseconds: longer than most windows take, shorter than a scheduler's slice.
constexpr int kSpins = 4000;

template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    __builtin_ia32_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

WorkerTeam::WorkerTeam(std::size_t workers, std::function<void(std::size_t)> work, std::function<void(std::size_t)> then)
    : work_(std::move(work)), then_(std::move(then)), failed_(workers) {
  for (std::size_t w = 1; w < workers; ++w) threads_.emplace_back([this, w] { loop(w); });
}

WorkerTeam::~WorkerTeam() {
  quit_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerTeam::bind(std::span<const int> processors) {
  bind_to(processors[0]);
  for (std::size_t w = 1; w < processors.size() && w <= threads_.size(); ++w)
    bind_to(threads_[w - 1].native_handle(), processors[w]);
}

void WorkerTeam::run() {
  busy_.store(threads_.size(), std::memory_order_relaxed);
  working_.store(threads_.size() + 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  turn(0);
  for (std::size_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire))
    wait_while(busy_, left);
  for (std::exception_ptr& e : failed_)
    if (e) std::rethrow_exception(std::exchange(e, nullptr));
}

// Of a worker that fails, the others do their part: all have to meet.
void WorkerTeam::turn(std::size_t worker) {
  const auto attempt = [&](const std::function<void(std::size_t)>& part) {
    try {
      part(worker);
    } catch (...) {
      if (!failed_[worker]) failed_[worker] = std::current_exception();
    }
  };
  attempt(work_);
  meet();
  attempt(then_);
}

void WorkerTeam::meet() {
  const std::uint64_t before = met_.load(std::memory_order_relaxed);
  if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    met_.store(before + 1, std::memory_order_release);
    met_.notify_all();
  } else {
    wait_while(met_, before);
  }
}

void WorkerTeam::loop(std::size_t worker) {
  for (std::uint64_t seen = 0;;) {
    wait_while(round_, seen);
    ++seen;
    if (quit_.load(std::memory_order_relaxed)) return;
    turn(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

}  // namespace railyard
