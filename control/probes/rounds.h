// Probes of all pairs of a lab, round by round: `probe: { every: 10m }` of its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "control/build/built_lab.h"
#include "control/probes/history.h"
#include "control/probes/prober.h"
#include "control/spec/spec.h"
#include "dataplane/run/engine.h"

namespace railyard::probes {

// Trains go one after the other, so that probes do not meet each other. At the instants begins() and ends(), with the
// lab at rest, somebody calls begin() and end(); nothing is sent by itself.
class Rounds {
 public:
  // All outlive it. `lab`'s file has `probe`.
  Rounds(build::BuiltLab& lab, Prober& prober);

  // A round begins at each multiple of this.
  Duration every() const noexcept { return spec_.every; }
  // After that the last train of a round has arrived, unless the fabric is very busy.
  Duration lasts() const noexcept { return lasts_; }

  // Sends the trains of a round, unless others are on their way. At rest.
  void begin(Engine& engine, Instant now);
  // Adds what came to the history, and tells `on_round`. Nothing if no round was begun. At rest.
  void end(Engine& engine, Instant now);
  // The trains of a round that goes on have been taken away.
  void give_up();

  const History& history() const noexcept { return history_; }
  // Told after each round, by who calls end().
  void on_round(std::function<void(const History&)> tell) { tell_ = std::move(tell); }
  // Rounds that were not sent, or were given up.
  std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  spec::ProbeSpec spec_;
  Prober& prober_;
  Shape shape_;
  std::vector<Train> trains_;  // of all pairs
  Duration lasts_{};
  History history_;
  std::optional<Instant> began_;
  std::uint64_t job_ = 0;          // of the prober, when it began
  std::vector<std::size_t> sent_;  // of the round that goes on: pairs with a train, in the prober's order
  std::function<void(const History&)> tell_;
  std::uint64_t skipped_ = 0;
};

}  // namespace railyard::probes
