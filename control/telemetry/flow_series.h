// A time series of flows, as CSV: what was sent and what has arrived, at every instant of a grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/telemetry/csv_file.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

// One line for each flow of which something was sent or has arrived since the look before. Columns (of the time since
// then):
//   time_ns, flow, sent_bytes (payload, what was sent again included), delivered_bytes (payload; empty if an attached
//   host receives it)
class FlowSeries {
 public:
  FlowSeries(const build::BuiltLab& lab, OutputFile file);

  // Looks at a lab that rests, settled at `at`. Looks come in order of time.
  void look(Instant at);

  // The file cannot be written any more: looks do nothing from then on.
  bool failed() const noexcept { return out_.failed(); }
  // "cannot write FILE: why", or nothing.
  std::string error() const { return out_.error(); }
  // Writes what is left. Throws std::runtime_error if not everything could be written.
  void close() { out_.close(); }

 private:
  struct Before {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
  };

  const build::BuiltLab& lab_;
  CsvFile out_;
  std::vector<Before> before_;  // by flow
};

}  // namespace railyard::telemetry
