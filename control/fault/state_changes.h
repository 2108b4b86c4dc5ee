// What a fault of states does to the devices at its places, as it is gathered: each kind adds its changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/state_fault.h"
#include "control/spec/spec.h"

namespace railyard::fault {

class StateChanges {
 public:
  // `id` names the fault to devices. `window`: that of the engine.
  StateChanges(build::BuiltLab& lab, const spec::FaultSpec& fault, std::uint32_t id, Duration window)
      : lab_(lab), fault_(fault), id_(id), window_(window) {}

  struct OfDevice {
    std::vector<StateChange> changes;
    TouchCount touches;
  };
  std::map<DeviceId, OfDevice> take() { return std::move(of_device_); }

  build::BuiltLab& lab() const noexcept { return lab_; }
  const spec::FaultSpec& fault() const noexcept { return fault_; }
  std::uint32_t id() const noexcept { return id_; }
  Duration window() const noexcept { return window_; }

  // ---- Where: each port, device or link once, whichever places name it ----

  std::vector<PortRef> ports(const spec::FaultPlace& at);
  std::vector<DeviceId> devices(const spec::FaultPlace& at);
  std::vector<PortRef> link_ends(const spec::FaultPlace& at);  // both ends of each link
  std::vector<PortRef> senders(const spec::FaultPlace& at);    // of each direction of a link that the place names

  Switch& sw(DeviceId device) { return dynamic_cast<Switch&>(lab_.fabric()[device]); }
  Host& host(DeviceId device) { return dynamic_cast<Host&>(lab_.fabric()[device]); }
  // Calls `f` with the switch or host as it is.
  template <class F>
  void of_port(PortRef port, F&& f) {
    if (lab_.is_switch(port.device))
      f(sw(port.device));
    else
      f(host(port.device));
  }

  // ---- What ----

  void add(DeviceId device, std::function<void(Instant)> begin, std::function<void(Instant)> end) {
    of_device_[device].changes.push_back({std::move(begin), std::move(end)});
  }
  // The link of `end` is down, as this end sees it; the other end must be told, too.
  void take_down(PortRef end);

  // ---- Which frames its reports count ----

  TouchCount& touches(DeviceId device) { return of_device_[device].touches; }
  void counts(DeviceId device, DropReason reason) { touches(device).anywhere.insert(reason); }
  void counts(PortRef port, DropReason reason) {
    touches(port.device).ports.insert(port.port);
    touches(port.device).at_ports.insert(reason);
  }
  void counts(PortRef port, PriorityMask classes, std::map<PortIndex, PriorityMask> TouchCount::*what) {
    PriorityMask& mask = (touches(port.device).*what)[port.port];
    mask = static_cast<PriorityMask>(mask | classes);
  }

 private:
  build::BuiltLab& lab_;
  const spec::FaultSpec& fault_;
  std::uint32_t id_;
  Duration window_;
  std::set<PortRef> ports_;
  std::set<PortRef> links_;
  std::set<PortRef> senders_;
  std::set<DeviceId> devices_;
  std::map<DeviceId, OfDevice> of_device_;
};

}  // namespace railyard::fault
