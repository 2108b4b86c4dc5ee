// Flows that start when others are done, as a connection matrix says (spec/flow_file.h).
//
// A trigger all of whose flows are fired and started at one NIC acts there at once. Others act between devices: what
// one has seen at t starts a flow at another at t + delay(), the least time in which anything gets from one device to
// another (the fabric's window). Nobody carries the message; it takes no rate and is not lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/build/flow.h"
#include "control/spec/spec.h"
#include "dataplane/base/flow_listener.h"
#include "dataplane/device/fabric.h"
#include "dataplane/nic/host.h"

namespace railyard::build {

class FlowTriggers {
 public:
  // `flows` and `fabric` outlive it; the fabric is complete, and has it act between windows from now on. Throws
  // spec::SpecError where a flow's end is an attached host, which tells nobody.
  FlowTriggers(const spec::Lab& lab, std::vector<Flow>& flows, Fabric& fabric);
  FlowTriggers(const FlowTriggers&) = delete;
  FlowTriggers& operator=(const FlowTriggers&) = delete;

  Duration delay() const noexcept { return delay_; }
  // Flows that were fired between devices and have not started yet; of this process. Only while the engine rests.
  std::size_t starting() const noexcept { return starting_.load(std::memory_order_relaxed); }
  // Which trigger a flow waits for, and how often that has been fired: "trigger 3 (fired 1 of 2 times)"; empty: none.
  // Only while the engine rests.
  std::string waits_for(std::size_t flow) const;

  // How often triggers were fired that act at one NIC of the hosts that `at` says so of: told by the process that runs
  // them, taken by others.
  void exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& at);

 private:
  struct Trigger {
    spec::ListedTrigger said;
    std::vector<std::uint32_t> targets{};  // flows
    std::uint32_t fired = 0;
    std::size_t next = 0;  // of the targets, to be started
    bool local = true;     // everything of it is at one NIC
    std::optional<std::size_t> place{};
  };
  // A flow's end has fired.
  struct Firing {
    Instant at{};
    std::uint32_t token = 0;
  };
  // A NIC where flows fire. Its device alone uses it while the engine runs.
  struct Place final : FlowListener {
    FlowTriggers* all = nullptr;
    spec::PortName nic;
    std::vector<Firing> fired{};  // of triggers that are not local
    void on_flow_done(Instant now, std::uint32_t token) override { all->on_done(*this, now, token); }
  };
  // Tokens: the flow, and whether its destination says so.
  static constexpr std::uint32_t token(std::size_t flow, bool received) noexcept {
    return static_cast<std::uint32_t>(2 * flow + (received ? 1 : 0));
  }
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::size_t place_of(const spec::PortName& nic);
  void note_place(std::uint32_t trigger, std::size_t place, bool messages);
  void listen(std::size_t flow, bool received, std::uint32_t trigger);
  void on_done(Place& place, Instant now, std::uint32_t token);
  // Fires it once more: those that start by that.
  std::vector<std::uint32_t> fire(Trigger& trigger);
  bool act();
  void give_fired(StateArchive& archive);
  void take_fired(StateArchive& archive);

  const spec::Lab& lab_;
  std::vector<Flow>& flows_;
  Fabric& fabric_;
  std::unordered_map<std::string, DeviceId> devices_;
  Duration delay_{};
  std::vector<Trigger> triggers_;
  std::vector<std::uint32_t> fires_;  // by token: which trigger, kNone: none
  std::vector<std::uint32_t> waits_;  // by flow
  std::deque<Place> places_;
  std::vector<Firing> elsewhere_;  // in hosts of other processes
  std::map<spec::PortName, std::size_t> place_by_nic_;
  std::atomic<std::size_t> starting_{0};
  std::atomic<bool> any_{false};  // a place has fired
};

}  // namespace railyard::build
