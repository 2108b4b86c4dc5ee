// A time series of queues, as CSV: depth, marks, pauses, drops, at every instant of a grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/telemetry/csv_file.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/device/queue_sample.h"

namespace railyard::telemetry {

// One line for each class of each port that has something to say: frames that wait or buffer that is held, or something
// counted since the look before. The line after a queue's last says that it is empty again. Columns (counts are of the
// time since the look before):
//   time_ns, port ("leaf1:3"), class, depth_bytes (egress queue), held_cells (buffer behind the port's ingress;
//   switches), tx_bytes, ecn_marked, paused_ns (by the peer), xoff_sent, dropped
class QueueSeries {
 public:
  QueueSeries(const build::BuiltLab& lab, OutputFile file);

  // Looks at a lab that rests, settled at `at`. Looks come in order of time.
  void look(Instant at);

  std::uint64_t looks() const noexcept { return looks_; }
  std::uint64_t lines() const noexcept { return lines_; }
  // The file cannot be written any more: looks do nothing from then on.
  bool failed() const noexcept { return out_.failed(); }
  // "cannot write FILE: why", or nothing.
  std::string error() const { return out_.error(); }
  // Writes what is left. Throws std::runtime_error if not everything could be written.
  void close() { out_.close(); }

 private:
  struct Queue {
    DeviceId device;
    PortIndex port;
    Priority priority;
    std::string name;  // "leaf1:3"
    QueueSample before;
    bool told = false;  // not empty when it was last looked at
  };
  const build::BuiltLab& lab_;
  CsvFile out_;
  std::vector<Queue> queues_;
  std::uint64_t looks_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace railyard::telemetry
