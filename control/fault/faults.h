// The faults of a lab that runs: those of its spec from the beginning, others come and go.
#pragma once

#include <cstdint>
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
  std::uint64_t frames = 0;       // touched; of faults on states: lost because of them
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
  // It ends at `now`, and leaves no trace. False: there is none of that name.
  bool remove(const std::string& name, Instant now);

  // Those that are there, and those that were, in the order in which they came.
  std::vector<FaultStatus> status(Instant now) const;
  // All that has happened before `now`, in order.
  std::vector<LoggedEvent> events(Instant now) const;
  // The specs of all that are there now.
  std::vector<spec::FaultSpec> present() const;

 private:
  struct Fault {
    spec::FaultSpec spec;
    Instant asked{};
    Instant added{};
    std::optional<Instant> removed;
    ActivityConfig when;
    std::vector<FaultyDirection> directions;
    std::vector<std::shared_ptr<StateFault>> states;
    std::shared_ptr<QueueWatch> watch;  // of one that begins with a state, unless it is replayed
    Switch* watched = nullptr;
    RngStream chance;
    std::uint64_t came_true = 0;
    Instant rests_from{};  // the last occurrence ends
  };
  struct Occurrence {
    Interval when;
    std::uint64_t frames = 0;
  };

  void start(Fault fault);
  Fault make(spec::FaultSpec spec, Instant added, const std::optional<std::vector<Interval>>& listed);
  std::vector<Occurrence> occurrences(const Fault& fault, Instant now) const;
  static std::uint64_t frames_of(const Fault& fault);

  // After a window: begins what a state that has come true begins.
  void look();
  void occur(Fault& fault, Instant came_true);

  build::BuiltLab& lab_;
  Engine& engine_;
  std::vector<Fault> faults_;
  std::uint32_t next_id_ = 1;
};

}  // namespace railyard::fault
