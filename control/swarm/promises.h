// What holds at every instant of a run, whatever fails: looked at while the engine rests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/build/built_lab.h"
#include "control/swarm/excuses.h"
#include "control/swarm/outcome.h"
#include "dataplane/device/counters.h"

namespace railyard::swarm {

class Promises {
 public:
  Promises(build::BuiltLab& lab, const Reach& reach, Outcome& outcome);

  // All of them, all devices done up to the same instant: books balance; memory holds what it says and no more than
  // there is; nothing is lost without an excuse, doubled or overtaken where that is promised, or marked that must not
  // be; no frame leaves in a class that its port changes.
  void look();
  // From here on nothing is lost that is not lost to what the lab is: the last fault was long ago.
  void calm_from_now();
  // At the end, with nothing left to do: all is drained, nobody is paused, and what faults took is there again.
  void look_at_the_end(std::size_t packets_in_use);

  std::vector<DeviceCounters> counters() const;
  // Frames that devices have dropped and links have lost.
  std::uint64_t lost() const;
  bool nothing_queued() const;
  // Notes it, unless there are many of its rule already.
  void broken(const std::string& rule, const std::string& what);

 private:
  void look_at_memory();
  void look_at_losses(const std::vector<DeviceCounters>& now);
  void look_at_classes(const std::vector<DeviceCounters>& now);
  void look_at_flows(const std::vector<DeviceCounters>& now);
  std::string name(PortRef port) const;
  template <class F>
  void for_each_port(const std::vector<DeviceCounters>& now, F&& see) const;

  build::BuiltLab& lab_;
  const Reach& reach_;
  Excuses excuses_;
  Outcome& outcome_;
  std::vector<bool> keeps_order_;            // by class
  bool remaps_;                              // some switch moves frames to another class
  std::vector<std::uint32_t> shared_sizes_;  // of switches, by device
  std::vector<DeviceCounters> calm_;         // when calm began; empty: it has not
  std::map<std::string, int> noted_;         // by rule
};

}  // namespace railyard::swarm
