// Progress of a command that does many of something: "  12 of 40 runs, 3 stored before, 42 s left".
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace railyard::tools {

// On standard error, where it is a terminal; the line is removed in the end.
class CountProgress {
 public:
  // `what`: "runs". `stored`: so many more need not be done. `shows` false: prints nothing.
  CountProgress(std::string what, std::size_t all, std::size_t stored, bool shows);
  ~CountProgress();
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;

  // One more is done.
  void one_more();

 private:
  std::string what_;
  std::size_t all_;
  std::size_t stored_;
  bool shows_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace railyard::tools
