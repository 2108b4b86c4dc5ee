// How far a run is, while it runs.
#pragma once

#include <chrono>

#include <unistd.h>

#include "dataplane/base/time.h"

namespace railyard::tools {

// A bar on standard error, if that is a terminal and the run takes long enough to be worth it.
class RunProgress {
 public:
  explicit RunProgress(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) != 0) {}
  ~RunProgress() { clear(); }

  // `end`: of the run; Instant::never() if nothing is known of it.
  void show(Instant at, Instant end);
  void clear();

 private:
  bool wanted_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
};

}  // namespace railyard::tools
