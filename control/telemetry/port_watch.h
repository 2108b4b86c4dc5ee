// What polling shows of ports and their counters at the end do not: how often a link went down, and ports that send more
// slowly than their rate while frames wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

class PortWatch {
 public:
  struct Seen {
    std::uint64_t downs = 0;  // changes from up to down; those between two looks are missed
    // Intervals between looks in which enough frames waited at the beginning to fill three tenths of the interval, and
    // nobody had the port paused. Slow: it sent less than 0.7 of what it could of them.
    std::uint64_t busy = 0;
    std::uint64_t slow = 0;
    std::uint64_t slow_octets = 0;  // sent in the slow ones, and
    Duration slow_time{};           // ... how long they were, together
  };

  explicit PortWatch(const build::BuiltLab& lab);

  // Looks at a lab that rests, settled at `at`. Looks come in order of time. Of several processes each looks at the ports of
  // its own devices.
  void look(Instant at);

  // What was seen of ports of the devices for which `which` holds, to or from another process.
  void exchange(StateArchive& archive, const std::function<bool(DeviceId)>& which);

  std::uint64_t looks() const noexcept { return looks_; }
  // Of all ports of all devices, in order.
  std::size_t size() const noexcept { return ports_.size(); }
  const Seen& seen(std::size_t port) const noexcept { return ports_[port].seen; }

 private:
  struct Port {
    PortRef ref;
    std::int64_t rate_bps = 0;
    bool up = true;
    std::uint64_t depth = 0;  // octets that waited at the last look, of classes that nobody had paused
    std::uint64_t sent = 0;   // octets
    Duration paused{};        // of all classes
    bool held = false;        // a class was paused at the last look
    Seen seen{};
  };
  void look(Port& port, Duration since) const;

  const build::BuiltLab& lab_;
  std::vector<Port> ports_;
  Instant before_{};
  std::uint64_t looks_ = 0;
};

}  // namespace railyard::telemetry
