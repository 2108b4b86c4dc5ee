// What all QPs of one engine share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "transports/base/memory_regions.h"
#include "transports/roce/counters.h"
#include "transports/roce/engine_config.h"
#include "transports/roce/gather.h"
#include "transports/roce/ids.h"

namespace railyard::roce {

// What happens besides completions; as verbs' ibv_event_type.
enum class AsyncEventType : std::uint8_t {
  kQpFatal,         // this end could not do what it should
  kQpRequestError,  // the peer's request was invalid
  kQpAccessError,   // the peer's request may not do what it wanted
  kSqDrained,
  kQpLastWqeReached,  // a QP with an SRQ is in error and takes no more receives of it
  kSrqLimitReached,
  kCqError,
  kPathEstablished  // a request came to a QP in RTR
};
struct AsyncEvent {
  AsyncEventType type = AsyncEventType::kQpFatal;
  std::uint32_t number = 0;  // of the QP, SRQ or CQ

  bool operator==(const AsyncEvent&) const = default;
};

struct NicState {
  explicit NicState(EngineConfig c) : config(std::move(c)) {}

  BounceBuffers bounce;
  MemoryRegions memory;
  Counters counters;
  EngineConfig config;
  std::vector<AsyncEvent> events;
};

}  // namespace railyard::roce
