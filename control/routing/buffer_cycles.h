// Whether buffers can wait for each other in a circle: the channel dependency graph of a lossless fabric (Dally and
// Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Trans. Computers 1987). A
// fabric without a circle cannot deadlock.
#pragma once

#include <cstddef>
#include <vector>

#include "control/routing/class_walk.h"
#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"

namespace railyard::routing {

// The buffer of a class at the receiving end of a link between switches: what is in it waits for the next of these.
struct WaitingBuffer {
  std::size_t from = 0;  // the switch that sends
  PortIndex port{};      // by this port
  std::size_t at = 0;    // the switch that holds the frames
  int priority = 0;      // in this class
};

// A circle, or none. A buffer waits for another if some table leads frames from
// one into the other, in classes that are lossless at both ends: `routes` of the links as they are at the start, of all
// frames that hosts and trunks may send. A switch's other classes, and links that fail later, are not looked at.
std::vector<WaitingBuffer> buffer_cycle(const Graph& graph, const Routes& routes);

// The code points that stand for all others: one of each set that all devices put into the same classes.
std::vector<CodePoint> kinds_of_code_points(const spec::Lab& lab);

}  // namespace railyard::routing
