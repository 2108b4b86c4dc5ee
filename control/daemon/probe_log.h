// Rounds of probes of a live lab: kept in a file of its folder, and told to the log when pairs become slow.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "control/daemon/log.h"
#include "control/probes/history.h"

namespace railyard::daemon {

// A line of JSON for each round (probes/history.h), the last `kept` of them. The engine hands them over, a thread of
// its own writes them: the engine waits for no disk. A full disk loses lines and ends nothing.
class ProbeLog {
 public:
  // `log` outlives it. `kept`: rounds, at least 1.
  ProbeLog(std::filesystem::path file, std::size_t kept, Log& log);
  ~ProbeLog();
  ProbeLog(const ProbeLog&) = delete;
  ProbeLog& operator=(const ProbeLog&) = delete;

  // After each round. By the engine's thread.
  void add(const probes::History& history);

  // So far, for any thread.
  std::uint64_t rounds() const noexcept { return rounds_; }
  std::uint64_t slow_pairs() const noexcept { return slow_; }  // of the last round

 private:
  void write();

  std::filesystem::path file_;
  std::size_t kept_;
  Log& log_;
  std::set<std::size_t> slow_now_;  // pairs that the log has been told of
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<std::uint64_t> slow_{0};

  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::deque<std::string> lines_;  // those that the file has, and will have
  bool changed_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace railyard::daemon
