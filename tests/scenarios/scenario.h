// A lab from a few lines of YAML, run under the virtual clock step by step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/faults.h"
#include "control/rerouting/route_updates.h"
#include "control/report/report.h"
#include "dataplane/run/engine.h"

namespace railyard::test {

// At its end the books balance, or the test fails.
//
// NICs' clocks are exact and in phase, as with `clock-error: 0`: closed forms count picoseconds. with_clocks() leaves
// them as the lab says.
class Scenario {
 public:
  explicit Scenario(const std::string& yaml, const std::vector<std::string>& overrides = {},
                    const EngineConfig& config = {});

  static Scenario with_clocks(const std::string& yaml, const std::vector<std::string>& overrides = {},
                              const EngineConfig& config = {});

  ~Scenario();
  Scenario(Scenario&&) = default;

  // topologies/scenarios/<name>.yaml.
  static Scenario ready(const std::string& name, const std::vector<std::string>& overrides = {},
                        const EngineConfig& config = {});

  // The same with the fix that its diagnosis names.
  static Scenario healed(const std::string& name);

  build::BuiltLab& lab() noexcept { return *lab_; }
  Engine& engine() noexcept { return *engine_; }
  Switch& sw(const std::string& name) { return lab_->switch_named(name); }
  const build::Flow& flow(const std::string& name) const;

  // `assignments` ("path=value") over what was said before take effect at `t`, not before what was set earlier.
  void set_at(Duration t, const std::vector<std::string>& assignments);

  // A fault as in a fabric file is there from `t` on; and is taken away. The scenario has come to `t` and no further.
  void add_fault_at(Duration t, const std::string& fault);
  void remove_fault_at(Duration t, const std::string& name);
  fault::Faults& faults() noexcept { return *faults_; }
  rerouting::RouteUpdates& routing() noexcept { return *routing_; }
  // Of the fault of that name, now.
  fault::FaultStatus fault(const std::string& name) const;

  // Runs until `t` of modelled time. To the end: until nothing is left to do (or 10 s of modelled time, a failure).
  Scenario& run_until(Duration t);
  Scenario& run_to_the_end();
  // To the end, at which all collectives are to be complete with the right data, and everything that was sent accounted for.
  std::vector<report::CollectiveReport> run_collectives();

  // Counters of a port ("leaf1:3") as they are now.
  ClassCounters at(const std::string& port, int priority);
  PortCounters port(const std::string& port);
  std::uint64_t drops(DropReason reason);  // in all devices
  std::uint64_t dropped();                 // for any reason
  report::Report report() { return report::collect(*lab_, {}); }
  // Whether the counters have the signature of the file's diagnosis now.
  bool shows_its_diagnosis();
  std::uint64_t digest() const { return engine_->digest().value(); }

  // Fails the test unless everything that was sent is accounted for, now.
  void expect_books_balance();
  // For engines that are left in the middle of a window: nobody looks at the end.
  void leave_the_books() noexcept { books_ = false; }

 private:
  enum class Clocks { kExact, kOfTheLab };
  Scenario(Clocks clocks, const std::string& yaml, const std::vector<std::string>& overrides,
           const EngineConfig& config);
  spec::Lab parse(const std::vector<std::string>& assignments) const;

  Clocks clocks_;
  std::string yaml_;
  std::vector<std::string> assignments_;
  std::unique_ptr<build::BuiltLab> lab_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<fault::Faults> faults_;
  std::unique_ptr<rerouting::RouteUpdates> routing_;
  bool books_ = true;
};

// The only value ("path=value") of the fix that topologies/scenarios/<name>.yaml names in its diagnosis.
std::string fix_of(const std::string& name);

// Records what a port's tap sees.
struct Seen {
  Instant at;
  TapNote note;
  std::uint64_t stream;
  std::uint64_t offset;
  std::uint8_t traffic_class_octet;
  std::uint32_t frame_octets;
  FrameKind kind;
};
class Recorder final : public Tap {
 public:
  void see(Instant at, const Packet& p, const TapNote& note) override {
    frames.push_back({at, note, p.stream, p.offset, p.traffic_class_octet, p.frame_octets, p.kind});
  }
  std::vector<Seen> frames;
};

}  // namespace railyard::test
