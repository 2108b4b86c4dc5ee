// The metrics of a virtual run over its time, as a text file (OpenMetrics) with simulated time as timestamps.
#pragma once

#include <cstdint>
#include <string>

#include "control/base/output_file.h"
#include "control/build/built_lab.h"
#include "control/exposition/exposition.h"
#include "control/exposition/workload_metrics.h"
#include "dataplane/base/time.h"

namespace railyard::lab {

// The same families as of a live lab, but for those of wall time. What is of one family comes together in the file, so
// it is written when the run is over, and kept in memory until then.
class RunMetrics {
 public:
  // `stretch`: timestamps are so many times simulated time. Prometheus keeps milliseconds.
  RunMetrics(build::BuiltLab& lab, OutputFile file, std::uint32_t stretch);

  // Looks at a lab that rests, settled at `at`. Looks come in order of time; a second one at the same instant does nothing.
  void look(Instant at, const exposition::Workload& workload);
  // Writes the file. Throws std::runtime_error if not everything could be written, or there was too much to keep.
  void close();

  static constexpr std::size_t kMostOctets = std::size_t{2} << 30;

 private:
  build::BuiltLab& lab_;
  OutputFile file_;
  std::uint32_t stretch_;
  Instant last_ = Instant::never();
  exposition::Exposition out_{exposition::Format::kOpenMetrics};
  bool is_too_much_ = false;
  bool is_closed_ = false;
};

}  // namespace railyard::lab
