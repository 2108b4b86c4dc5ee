// Memory and open files of this process while a run goes on: what a leak shows in, if the run is long enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace railyard::telemetry {

struct MemorySample {
  double wall_seconds = 0;       // since the first look
  double simulated_seconds = 0;  // since the run began
  std::uint64_t rss_bytes = 0;   // resident set
  std::uint64_t open_files = 0;  // file descriptors
};

// What /proc says of this process; zeros where it says nothing.
MemorySample memory_now();

// At most kMost samples, evenly over the run: when there are as many, every other one goes, and from then on they are twice as
// far apart.
class MemoryWatch {
 public:
  static constexpr std::size_t kMost = 128;
  static constexpr double kLeastSeconds = 0.01;  // of wall time between two, at first

  // `read`: memory_now(), or what a test has instead.
  explicit MemoryWatch(std::function<MemorySample()> read = memory_now) : read_(std::move(read)) {}

  // Of a run at these times; looks come in order of time. Takes a sample if the last one is long enough ago.
  void look(double wall_seconds, double simulated_seconds);

  const std::vector<MemorySample>& samples() const noexcept { return samples_; }

 private:
  void thin_out();

  std::function<MemorySample()> read_;
  std::vector<MemorySample> samples_;
  double began_ = 0;
  double every_ = kLeastSeconds;
};

}  // namespace railyard::telemetry
