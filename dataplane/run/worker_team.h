// Threads that do one thing together and then rest until the next.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace railyard {

// The caller is worker 0. Workers spin for a while between tasks, then sleep.
class WorkerTeam {
 public:
  // `work(worker)` is what run() has every worker do, and `then(worker)` what each does when all have done that.
  explicit WorkerTeam(std::size_t workers, std::function<void(std::size_t)> work,
                      std::function<void(std::size_t)> then = [](std::size_t) {});
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  // Binds worker w to processors[w], the caller too. Throws std::runtime_error: it cannot be.
  void bind(std::span<const int> processors);

  // All workers do both once; returns when the last one is done. What a worker throws is thrown here.
  void run();

 private:
  void loop(std::size_t worker);
  void turn(std::size_t worker);
  void meet();

  std::function<void(std::size_t)> work_;
  std::function<void(std::size_t)> then_;
  std::vector<std::thread> threads_;
  alignas(64) std::atomic<std::uint64_t> round_{0};
  alignas(64) std::atomic<std::size_t> busy_{0};
  alignas(64) std::atomic<std::size_t> working_{0};
  alignas(64) std::atomic<std::uint64_t> met_{0};
  std::atomic<bool> quit_{false};
  std::vector<std::exception_ptr> failed_;
};

}  // namespace railyard
