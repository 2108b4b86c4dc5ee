// The engine: moves all devices through modelled time, window by window. One path for both clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/base/time.h"
#include "dataplane/device/crossing_frames.h"
#include "dataplane/device/device.h"
#include "dataplane/device/fabric.h"
#include "dataplane/device/trace_digest.h"
#include "dataplane/packet/pool.h"
#include "dataplane/run/boundary.h"
#include "dataplane/run/load_balance.h"
#include "dataplane/run/peers.h"
#include "dataplane/run/scaling_profile.h"
#include "dataplane/run/slot_instants.h"
#include "dataplane/run/worker_team.h"

namespace railyard {

// The run cannot go on, and the user can do something about it.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Ways to run that must not change the result: what the determinism tests turn.
struct EngineVariation {
  std::optional<Seed> shuffle;   // devices of a window in random order, on random workers
  std::optional<Seed> slices;    // each device's window in random portions
  Duration window{};             // 0: the fabric's own; 1 ps is the sequential reference; larger than W must fail
  bool always_parallel = false;  // no falling back to one worker on thin windows
  std::uint64_t replace_every = 0;  // devices on other workers, random ones, after each such number of windows; 0: as it is best
};

struct EngineConfig {
  std::size_t workers = 1;  // 1..64
  PoolConfig pools;
  bool digest = false;
  bool profile = false;  // what more workers would bring; with one worker
  Parts parts = {};      // several processes run the fabric, all with such an engine
  EngineVariation variation;
};

// What is sent inside a window can only matter after it, so the devices of a window run in any order, on any number of
// workers, with the same result. Idle time is skipped.
class Engine {
 public:
  // `fabric` is complete and outlives the engine. Throws RunError if its window is 0.
  Engine(Fabric& fabric, const EngineConfig& config);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Duration window() const noexcept { return window_; }
  Fabric& fabric() noexcept { return fabric_; }

  // Binds each worker to a processor, the calling thread as the first of them. Throws std::runtime_error: it cannot be.
  void bind_workers(std::span<const int> processors);

  // The earliest instant at which any device has something to do; Instant::never() if nothing is left. Of several
  // processes all ask, and have the same answer.
  Instant next() const;

  // Does everything due before `end`, one window; end <= next() + window(). Returns the new next(). Throws RunError if
  // packet memory ran out.
  Instant step(Instant end);

  // The latest end of a window so far, or the instant of the last settle().
  Instant reached() const noexcept { return reached_; }

  // Brings every device's done() to `at`, when next() >= at: for reading counters at an instant.
  void settle(Instant at);

  // After a device was given a change or a frame from outside: it has something to do at `at`.
  void wake(DeviceId device, Instant at) noexcept {
    agreed_.reset();
    if (!elsewhere_.empty() && elsewhere_[device.index()]) return;
    Instant& next = next_[slot_of_[device.index()]];
    next = std::min(next, at);
  }
  // After changes were given to any devices.
  void wake_all();

  // Has `look` called after each window, when all workers rest; it may give changes to devices, and settle() the engine
  // at reached(). `owner` has one look at most: another takes its place, nullptr ends it.
  void after_windows(const void* owner, std::function<void()> look);

  // What has happened to links and devices since the last call; by time, device and port. While all workers rest.
  std::vector<TopologyEvent> take_topology_events();
  bool has_topology_events() const noexcept;

  TraceDigest digest() const;
  PacketPools& pools() noexcept { return pools_; }
  // Where `device` takes its packets from.
  PacketPool& pool_of(DeviceId device) noexcept { return pools_[WorkerId{worker_of_[device.index()]}]; }
  std::uint64_t windows() const noexcept { return windows_; }
  // Between the processes of EngineConfig::parts; nullptr: there is one.
  Boundary* boundary() noexcept { return boundary_ ? &*boundary_ : nullptr; }
  const Boundary* boundary() const noexcept { return boundary_ ? &*boundary_ : nullptr; }
  // nullptr: not asked for (EngineConfig::profile).
  const ScalingProfile* profile() const noexcept { return profile_ ? &*profile_ : nullptr; }

 private:
  struct Look {
    const void* owner;
    std::function<void()> look;
  };

  void place(std::vector<std::uint8_t> worker_of);
  std::vector<std::uint8_t> random_workers();
  void place_slots();
  void balance();
  void take_crossing(std::size_t worker);
  Instant own_next() const noexcept;
  // Which of a window's devices have their turn: all, those with channels to other processes, or all but those.
  enum class Turns : std::uint8_t { kAll, kBorder, kInner };
  // How many are due, and how many of them have channels to other processes.
  struct Due {
    std::size_t all = 0;
    std::size_t border = 0;
  };
  Due find_due(Instant end) noexcept;
  void shuffle_due();
  void run_turns(Turns turns, std::size_t due, Instant end);
  void run_due(std::size_t worker, Instant end);
  void start_exchange();
  void finish_exchange();
  void advance(std::size_t device, Instant end);
  void merge() noexcept;

  Fabric& fabric_;
  EngineConfig config_;
  Duration window_;
  PacketPools pools_;
  std::vector<std::unique_ptr<WorkerContext>> contexts_;
  std::vector<std::uint8_t> worker_of_;  // by device
  // A device has a slot. Those of a worker are beside each other, first those with channels to other processes, and share
  // no cache line with those of another: each worker writes to its own in every window. Between them are slots of no
  // device.
  std::vector<std::uint32_t> slot_of_;             // by device
  std::vector<std::uint32_t> device_at_;           // by slot
  std::vector<std::uint8_t> worker_at_;            // by slot
  SlotInstants next_;                              // by slot
  std::vector<SlotInstants> lowered_;              // by worker, by slot: what its pushes asked for; empty: none asks
  std::vector<std::uint8_t> is_due_;               // by slot, for the window to be run; whole words
  std::vector<std::vector<std::uint32_t>> due_;    // by worker: its devices that are due, in the order of their turns
  std::vector<std::size_t> border_due_;            // by worker: so many come first, with channels to other processes
  std::vector<CrossingFrames> crossing_;           // by the worker that sends, by the one that receives
  std::vector<RngStream> slice_draws_;             // by device
  RngStream shuffle_draws_;
  std::vector<Look> looks_;
  Instant end_{};  // of the window that the team is in
  Turns turns_ = Turns::kAll;
  std::unique_ptr<WorkerTeam> team_;
  std::optional<ScalingProfile> profile_;
  std::optional<LoadBalance> balance_;
  std::optional<Boundary> boundary_;
  std::vector<bool> elsewhere_;              // by device: another process advances it; empty: none
  std::vector<StateArchive> frames_out_;     // by process
  PeerOctets octets_out_;                    // the same
  StateArchive noted_;
  struct alignas(64) Unheard {
    Instant next = Instant::never();
  };
  std::vector<Unheard> unheard_of_;          // by worker: lowered where that asks for nothing
  mutable std::optional<Instant> agreed_{};  // next() of all processes
  bool is_timed_ = false;  // what each device costs in this window
  std::uint64_t windows_ = 0;
  Instant reached_{};
};

}  // namespace railyard
