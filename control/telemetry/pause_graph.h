// Who holds back whom: the queues that PFC has paused at an instant, and what each of them waits for.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

// One class of one port, on the way out: the queue there.
struct PortClass {
  DeviceId device;
  PortIndex port;
  Priority priority;

  auto operator<=>(const PortClass&) const = default;
};

// "leaf1:9 class 3"
std::string format(const build::BuiltLab& lab, const PortClass& queue);

// A queue that is paused waits for those of its peer that hold frames which came in by the link between them, in its
// class: as long as they do not drain, the peer does not let it go.
struct PauseGraph {
  struct Paused {
    PortClass queue;
    Instant since;                       // without a break
    std::vector<std::size_t> waits_for;  // which of `paused`
    // What it waits for that is not paused itself: queues of its peer, or, at a host that takes frames slowly, the NIC.
    // There congestion has its root.
    std::vector<PortClass> roots;
  };
  Instant at;
  std::vector<Paused> paused;  // in order of their queues
};

// Of a lab that rests.
PauseGraph pause_graph(build::BuiltLab& lab);

}  // namespace railyard::telemetry
