// The faults of a lab that runs: those of its spec from the beginning, others come and go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/fault_log.h"
#include "control/fault/parts.h"
#include "control/spec/spec.h"
#include "dataplane/run/engine.h"
#include "dataplane/switch/queue_watch.h"

namespace railyard::fault {

// What a fault is and what it has done so far.
struct FaultStatus {
  std::string name;
  std::string what;        // "loss"
  std::string where;       // as said: "leaf1:1, rail 2"
  bool on_frames = false;  // acts on frames; else on states
  bool active = false;
  bool removed = false;
  std::uint64_t occurrences = 0;  // begun, of known length or not
  bool counts_frames = false;     // `frames` says something
  // Touched; of faults on states: lost because of them, or what TouchCount says.
  std::uint64_t frames = 0;
};

// A direction of a link whose rate a fault has lowered.
struct LoweredRate {
  PortRef sender;
  double share = 1;  // of its rate, that it kept
  Interval when;
};

// Not thread-safe: everything while the engine rests.
//
// A fault that begins when a queue is in some state does so one window of the fabric after that came true, at every
// device alike: the least time in which one device can tell another, whatever the portions in which time passes.
class Faults {
 public:
  // Those of the lab's spec, from Instant{} on. The engine, which runs the lab, outlives it. Throws spec::SpecError
  // where one does not fit the lab.
  Faults(build::BuiltLab& lab, Engine& engine);
  // Those that a log names, at exactly the instants that it says, in the place of the spec's.
  Faults(build::BuiltLab& lab, Engine& engine, const std::vector<LoggedFault>& replayed);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // One more, as of `now`; it has been asked for at `asked`. Throws spec::SpecError, and nothing has changed then.
  void add(spec::FaultSpec fault, Instant now, Instant asked);
  // It ends at `now`, and leaves no trace; that has been asked for at `asked`. False: there is none of that name.
  bool remove(const std::string& name, Instant now, Instant asked);

  // Those that are there, and those that were, in the order in which they came.
  std::vector<FaultStatus> status(Instant now) const;
  // All that has happened before `now`, in order; of each fault the first kMostOccurrences.
  static constexpr std::size_t kMostOccurrences = StateFault::kMostOccurrences;
  std::vector<LoggedEvent> events(Instant now) const;
  // What has happened to rates, in the order in which the faults came; of each fault the first kMostOccurrences.
  std::vector<LoweredRate> lowered_rates() const;
  // The specs of all that are there now.
  std::vector<spec::FaultSpec> present() const;

  // What has happened at the devices that `at` says so of: told by the process that runs them, taken by others.
  void exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& at);

 private:
  struct Fault {
    spec::FaultSpec spec;
    Instant asked{};
    Instant added{};
    std::optional<Instant> removed;
    Instant removal_asked{};
    ActivityConfig when;
    std::vector<FaultyDirection> directions;
    std::vector<std::shared_ptr<StateFault>> states;
    std::shared_ptr<QueueWatch> watch;  // of one that begins with a state, unless it is replayed
    Switch* watched = nullptr;
    RngStream chance;
    std::vector<Instant> came_true;  // what began each occurrence
    Instant rests_from{};            // the last one ends
  };
  struct Occurrence {
    Interval when;
    Instant requested;
    std::uint64_t frames = 0;
  };

  void start(Fault fault);
  Fault make(spec::FaultSpec spec, Instant added, const std::optional<std::vector<Interval>>& listed);
  std::vector<Occurrence> occurrences(const Fault& fault, Instant now) const;
  static bool counts_frames(const Fault& fault);
  static std::uint64_t frames_of(const Fault& fault);

  // After a window: begins what a state that has come true begins.
  void look();
  void occur(Fault& fault, Instant came_true);
  void give_came_true(StateArchive& archive);
  void take_came_true(StateArchive& archive);

  build::BuiltLab& lab_;
  Engine& engine_;
  std::vector<Fault> faults_;
  std::uint32_t next_id_ = 1;
};

}  // namespace railyard::fault
