// What is looked at now and then while a lab runs: each look has a grid of instants of its own.
#pragma once

#include <functional>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard::telemetry {

class Looks {
 public:
  // `every` > 0. Called with the instant that the lab has reached, at rest and settled there.
  using Look = std::function<void(Instant at)>;

  // `owner` has one look at most: another takes its place. Looks at `from`, and every `every` after that.
  void add(const void* owner, Instant from, Duration every, Look look);
  void remove(const void* owner);

  // When the next look is due; Instant::never() if nobody looks.
  Instant next() const noexcept { return next_; }
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
  };
  void find_next() noexcept;

  std::vector<Entry> entries_;
  Instant next_ = Instant::never();
};

}  // namespace railyard::telemetry
