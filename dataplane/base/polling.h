// What an idle worker of a live lab does with its core.
#pragma once

namespace railyard {

enum class Polling {
  kLatency,   // looks again at once and never gives up the core: the shortest delays, one whole core
  kBalanced,  // looks again at once for a while, then in ever longer intervals: short delays while there is traffic
  kIdle,      // sleeps as soon as nothing is due, until something comes: the fewest cycles
};

}  // namespace railyard
