// When the traffic of a lab has ended: the last flow or collective has completed, failed, or is no longer offered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::telemetry {

// Looked at after each window: it asks one flow, or one rank of a collective, the first that is not over, so a look
// costs the same for any number of flows.
class TrafficEnd {
 public:
  // `lab` outlives it.
  explicit TrafficEnd(const build::BuiltLab& lab);

  // Whether all that sends is known: there is traffic, and nothing outside the lab (attached NICs, trunks, agents) that
  // may send whenever it likes.
  bool is_known() const noexcept { return is_known_; }
  // Instants at which flows and collectives are no longer offered, sorted. The engine must not skip them.
  const std::vector<Instant>& stops() const noexcept { return stops_; }

  // At rest, with everything before `reached` handled; after each window. An instant, if traffic has ended then, and
  // the last look did not say the same: when the last flow had sent everything, and later, unless packets of flows
  // that nobody answers were lost, when everything had arrived. It lies in the window that has just ended.
  std::optional<Instant> look(Instant reached);

  // Of several processes (run/peers.h): what this one knows of its own devices, for look() to be asked only when it may
  // find something; figures are exchanged before.
  struct Hint {
    bool is_over = true;      // all that is decided here was sent or, once look() has said an end, has arrived
    bool has_failed = false;  // a rank of a collective has
  };
  Hint hint(Instant reached);

 private:
  // One question to all traffic: whether everything was sent, or has arrived.
  struct Pass {
    bool arrived = false;
    std::vector<std::uint32_t> items;      // numbers of what is asked in this round
    std::size_t next = 0;                  // of them: the first that is not over
    std::vector<std::uint32_t> waiting{};  // for triggers; asked in the next round
    Instant end{};
  };
  // The first of sent_ that goes on, as far as a few counters say.
  struct Probe {
    const std::uint64_t* octets = nullptr;  // sent, or of messages that are complete; the flow goes on below `all`
    std::uint64_t all = 0;
    const std::uint64_t* errors = nullptr;  // nullptr: it has no messages
    Instant stop = Instant::never();
    const CollectiveRank* rank = nullptr;  // of a collective: one that is not over
    Instant scan{};                        // when all its ranks are asked again whether one has failed
    bool goes_on(Instant reached) const noexcept;
  };
  Probe probe_of(std::uint32_t item, Instant reached) const;
  bool is_over(Pass& pass, Instant reached) const;
  // `item`: flows first, then collectives, clients of rping, and capture files. Nothing: it goes on.
  std::optional<Instant> end_of(std::uint32_t item, Instant reached, bool arrived) const;
  bool waits(std::uint32_t item) const;
  bool is_over_here(std::uint32_t item, Instant reached, bool arrived) const;

  const build::BuiltLab& lab_;
  Duration window_;
  bool is_known_ = false;
  std::size_t all_ = 0;  // items
  std::vector<Instant> stops_;
  Pass sent_;
  Pass arrived_;
  std::optional<Instant> said_;
  std::uint32_t hinted_ = 0;      // items before this are over here,
  bool hinted_arrived_ = false;   // ... in this sense, but those that waited for triggers then:
  std::vector<std::uint32_t> hinted_waiting_;
  bool has_failed_ = false;
  std::int64_t hints_ = 0;
  Probe probe_;
};

}  // namespace railyard::telemetry
