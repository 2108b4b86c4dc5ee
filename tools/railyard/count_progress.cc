#include "tools/railyard/count_progress.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "tools/railyard/eta.h"

namespace railyard::tools {

CountProgress::CountProgress(std::string what, std::size_t all, std::size_t stored, bool shows)
    : what_(std::move(what)), all_(all), stored_(stored), shows_(shows) {}

CountProgress::~CountProgress() {
  if (shows_) fmt::print(stderr, "\r{:60}\r", "");
}

void CountProgress::one_more() {
  ++done_;
  if (!shows_) return;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  fmt::print(stderr, "\r  {} of {} {}{}{}   ", done_, all_, what_, stored_ != 0 ? fmt::format(", {} stored before", stored_) : "",
             time_left_text(elapsed * static_cast<double>(all_ - done_) / static_cast<double>(done_)));
}

}  // namespace railyard::tools
