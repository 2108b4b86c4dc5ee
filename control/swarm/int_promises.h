// What in-band telemetry has noted of packets against where they can have been and what queues can have held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/device/counters.h"
#include "dataplane/device/int_source.h"

namespace railyard::swarm {

// Of a lab whose run.int says so: of so many packets one, whatever their class and flow. Called while the lab rests;
// must not outlive the lab.
class IntPromises {
 public:
  // `broken` is told of each promise that was not kept, in words.
  IntPromises(build::BuiltLab& lab, std::function<void(const std::string&)> broken);
  ~IntPromises();
  IntPromises(const IntPromises&) = delete;
  IntPromises& operator=(const IntPromises&) = delete;

  // Fetches what has ended: a packet's hops are those of a way that links make, in order of time; who has arrived is at
  // a host, and who was dropped at a device that has counted it; no queue was ever as deep as was noted.
  // `now`: the counters of all devices.
  void look(std::vector<DeviceCounters> now);
  // At the end, when no packet is left: all that was sampled has been fetched or was lost between devices, and each
  // sampled packet found at least the sampled ones ahead of it in its queue.
  void look_at_the_end(std::vector<DeviceCounters> now);

 private:
  // Where a packet waited.
  struct Wait {
    Instant from;
    Instant until;
    std::uint32_t octets;
    std::uint32_t found;
  };
  using QueueKey = std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>;  // device, port, class

  void check(const IntStack& stack);
  void check_hop(const IntStack& stack, std::size_t i);
  std::string name(const IntHop& hop) const;

  build::BuiltLab& lab_;
  std::function<void(const std::string&)> broken_;
  std::map<const std::string*, DeviceId> device_of_;  // by the address of its name
  std::vector<std::unique_ptr<IntSource>> sources_;   // by device; nothing for switches
  std::map<QueueKey, std::vector<Wait>> waits_;
  std::vector<DeviceCounters> now_;
  std::uint64_t fetched_ = 0;
};

}  // namespace railyard::swarm
