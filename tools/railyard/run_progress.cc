#include "tools/railyard/run_progress.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "control/report/units.h"
#include "tools/railyard/eta.h"

namespace railyard::tools {

void RunProgress::show(Instant at, Instant end) {
  if (!wanted_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - began_ < std::chrono::seconds(1) || now - shown_ < std::chrono::milliseconds(200)) return;
  shown_ = now;
  constexpr int kWidth = 40;
  if (end == Instant::never()) {
    fmt::print(stderr, "\r  {} of simulated time   ", report::time_text(at - Instant{}));
  } else {
    const double done = std::min(1.0, static_cast<double>(at.ps) / static_cast<double>(end.ps));
    const int bars = static_cast<int>(done * kWidth);
    // By the pace so far.
    const double elapsed = std::chrono::duration<double>(now - began_).count();
    const std::string left = done > 0 ? time_left_text(elapsed * (1 - done) / done) : std::string();
    fmt::print(stderr, "\r  [{}{}] {:3.0f} %  {} of {}{}   ", std::string(static_cast<std::size_t>(bars), '='),
               std::string(static_cast<std::size_t>(kWidth - bars), ' '), done * 100,
               report::time_text(std::min(at, end) - Instant{}), report::time_text(end - Instant{}), left);
  }
  std::fflush(stderr);
  visible_ = true;
}

void RunProgress::clear() {
  if (visible_) fmt::print(stderr, "\r{:100}\r", "");
  visible_ = false;
}

}  // namespace railyard::tools
