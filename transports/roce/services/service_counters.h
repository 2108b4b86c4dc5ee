// What a service of a RoCE NIC, or a client of one, has done.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/base/histogram.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"
#include "transports/roce/cm/messages.h"
#include "transports/roce/completion.h"

namespace railyard::roce {

struct ServiceCounters {
  std::uint64_t connections = 0;  // that came to be
  std::uint64_t open = 0;         // of them, now
  std::uint64_t refused = 0;      // requests for one that were answered by a REJ of ours
  std::uint64_t rounds = 0;       // pings that were what they should be: at the server when they go back
  std::uint64_t octets = 0;       // received, and verified
  std::uint64_t corrupted = 0;    // pings that were not
  std::uint64_t violations = 0;   // connections that were ended: the peer did not keep to the protocol
  std::uint64_t failed = 0;       // connections that were ended by a completion with an error ...
  WcStatus status = WcStatus::kSuccess;  // ... the first of which was this
  Instant last{};                 // when the last round was through
};

}  // namespace railyard::roce
