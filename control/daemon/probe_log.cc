#include "control/daemon/probe_log.h"

#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::daemon {

ProbeLog::ProbeLog(std::filesystem::path file, std::size_t kept, Log& log)
    : file_(std::move(file)), kept_(kept), log_(log), thread_([this] { write(); }) {}

ProbeLog::~ProbeLog() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ProbeLog::add(const probes::History& history) {
  constexpr std::size_t kMostWarnings = 5;
  std::set<std::size_t> slow;
  std::size_t fresh = 0;
  for (const probes::Slow& s : history.slow()) {
    slow.insert(s.pair);
    // Once, and not in each round.
    if (slow_now_.contains(s.pair) || fresh++ >= kMostWarnings) continue;
    log_.warning(fmt::format("probe {}", history.text(s)));
  }
  if (fresh > kMostWarnings) log_.warning(fmt::format("probe: {} more pairs became slow", fresh - kMostWarnings));
  if (!slow_now_.empty() && slow.empty()) log_.line("probe: no pair is slow any more");
  slow_now_ = std::move(slow);
  ++rounds_;
  slow_ = slow_now_.size();
  std::string line = probes::json_of(history, history.rounds().back()).dump();
  {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(std::move(line));
    if (lines_.size() > kept_) lines_.pop_front();
    changed_ = true;
  }
  wake_.notify_all();
}

// The whole file beside the old one, then in its place: whoever reads it finds whole lines.
void ProbeLog::write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return changed_ || ends_; });
    if (!changed_) return;
    changed_ = false;
    const std::deque<std::string> lines = lines_;
    lock.unlock();
    std::filesystem::path part = file_;
    part += ".part";
    bool written = false;
    {
      std::ofstream out(part);
      for (const std::string& l : lines) out << l << '\n';
      out.close();
      written = !out.fail();
    }
    std::error_code error;
    if (written) std::filesystem::rename(part, file_, error);
    lock.lock();
  }
}

}  // namespace railyard::daemon
