// What is looked at now and then while a lab runs: each look has a grid of instants of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::telemetry {

class Looks {
 public:
  // `every` > 0. Called with the instant that the lab has reached, at rest and settled there.
  using Look = std::function<void(Instant at)>;

  // What a look reads of devices and traffic: so much several processes of one run tell each other before it. kNothing: of
  // those of others.
  enum class Reads : std::uint8_t { kNothing, kQueues, kPauses, kAnything };

  // `owner` has one look at most: another takes its place. Looks at `from`, and every `every` after that.
  void add(const void* owner, Instant from, Duration every, Look look, Reads reads = Reads::kAnything);
  void remove(const void* owner);

  // When the next look is due; Instant::never() if nobody looks.
  Instant next() const noexcept { return next_; }
  // Whether any look that is due at next() reads that.
  bool next_reads(Reads what) const noexcept;
  // Calls those that are due, once each, however many of their instants have gone by.
  void look(Instant at);
  // Nothing changes before `at`: instants of the grids before it are passed over.
  void skip_to(Instant at);

 private:
  struct Entry {
    const void* owner;
    Instant due;
    Duration every;
    Look look;
    Reads reads;
  };
  void find_next() noexcept;

  std::vector<Entry> entries_;
  Instant next_ = Instant::never();
};

}  // namespace railyard::telemetry
