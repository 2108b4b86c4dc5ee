#include "control/telemetry/memory_watch.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <unistd.h>

namespace railyard::telemetry {

MemorySample memory_now() {
  MemorySample s;
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  if (statm >> all >> resident) s.rss_bytes = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code error;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", error), end; !error && fd != end; fd.increment(error))
    ++s.open_files;
  // One of them is that of the iteration.
  if (s.open_files > 0) --s.open_files;
  return s;
}

void MemoryWatch::look(double wall_seconds, double simulated_seconds) {
  if (samples_.empty()) began_ = wall_seconds;
  const double at = wall_seconds - began_;
  if (!samples_.empty() && at - samples_.back().wall_seconds < every_) return;
  if (samples_.size() == kMost) thin_out();
  MemorySample& s = samples_.emplace_back(read_());
  s.wall_seconds = at;
  s.simulated_seconds = simulated_seconds;
}

void MemoryWatch::thin_out() {
  for (std::size_t i = 1; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
  samples_.resize(kMost / 2);
  every_ *= 2;
}

}  // namespace railyard::telemetry
