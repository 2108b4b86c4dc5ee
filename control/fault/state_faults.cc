#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/fault/parts.h"
#include "control/spec/fault_place.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::fault {
namespace {

namespace what = spec::fault;

constexpr BitRate kLeastRate{1'000'000};

// Collects what a fault does to each device.
class Gather {
 public:
  Gather(build::BuiltLab& lab, const spec::FaultSpec& fault, std::uint32_t id, Duration window)
      : lab_(lab), fault_(fault), id_(id), window_(window) {}

  struct OfDevice {
    std::vector<StateChange> changes;
    TouchCount touches;
  };
  std::map<DeviceId, OfDevice> run() {
    for (const spec::FaultPlace& place : fault_.on)
      std::visit([&](const auto& action) { gather(action, place); }, fault_.action);
    return std::move(of_device_);
  }

 private:
  void add(DeviceId device, std::function<void(Instant)> begin, std::function<void(Instant)> end) {
    of_device_[device].changes.push_back({std::move(begin), std::move(end)});
  }
  void counts(DeviceId device, DropReason reason) { of_device_[device].touches.anywhere.insert(reason); }
  void counts(PortRef port, DropReason reason) {
    of_device_[port.device].touches.ports.insert(port.port);
    of_device_[port.device].touches.at_ports.insert(reason);
  }
  void counts(PortRef port, PriorityMask classes, std::map<PortIndex, PriorityMask> TouchCount::*what) {
    PriorityMask& mask = (of_device_[port.device].touches.*what)[port.port];
    mask = static_cast<PriorityMask>(mask | classes);
  }
  // Each port once, whichever places name it.
  std::vector<PortRef> ports(const spec::FaultPlace& place) {
    std::vector<PortRef> out;
    for (const spec::PortName& name : spec::ports_at(lab_.spec(), place))
      if (const PortRef port = lab_.port(name); ports_.insert(port).second) out.push_back(port);
    return out;
  }
  std::vector<DeviceId> devices(const spec::FaultPlace& place) {
    std::vector<DeviceId> out;
    for (const spec::NodeSpec* node : spec::nodes_at(lab_.spec(), place))
      if (const DeviceId id = lab_.device(node->name).id(); devices_.insert(id).second) out.push_back(id);
    return out;
  }
  // Both ends of each link once.
  template <class F>
  void for_each_end(const spec::FaultPlace& place, F&& f) {
    for (const PortRef port : ports(place)) {
      if (!links_.insert(std::min(port, lab_.fabric().peer(port))).second) continue;
      for (const PortRef end : {port, lab_.fabric().peer(port)}) f(end);
    }
  }
  Switch& sw(DeviceId d) { return dynamic_cast<Switch&>(lab_.fabric()[d]); }
  Host& host(DeviceId d) { return dynamic_cast<Host&>(lab_.fabric()[d]); }
  // Calls `f` with the switch or host as it is.
  template <class F>
  void of_port(PortRef port, F&& f) {
    if (lab_.is_switch(port.device))
      f(sw(port.device));
    else
      f(host(port.device));
  }

  void take_down(PortRef end) {
    Device& d = lab_.fabric()[end.device];
    add(
        end.device, [&d, end](Instant now) { d.begin_down(now, end.port); },
        [&d, end](Instant now) { d.end_down(now, end.port); });
    counts(end, DropReason::kLinkDown);
    of_device_[end.device].touches.with_link = true;
  }

  // ---- Links ----

  void gather(const what::Down&, const spec::FaultPlace& place) {
    for_each_end(place, [&](PortRef end) { take_down(end); });
  }
  void gather(const what::Flap&, const spec::FaultPlace& place) { gather(what::Down{}, place); }

  void gather(const what::Rate& rate, const spec::FaultPlace& place) {
    const Device::Share share{rate.share.numerator, rate.share.denominator};
    for_each_end(place, [&](PortRef end) {
      const BitRate full = lab_.rate(end);
      const BitRate left{
          static_cast<std::int64_t>(static_cast<Int128>(full.bps) * share.numerator / share.denominator)};
      const std::string link = spec::format(spec::PortName{lab_.node_of(end.device).name, end.port.value + 1});
      if (left < kLeastRate)
        throw spec::SpecError(
            {}, fmt::format("fault {}: {} of the link of {} is {}; expected at least {}", fault_.name,
                            spec::format(rate.share), link, spec::format(left), spec::format(kLeastRate)));
      Device& d = lab_.fabric()[end.device];
      if (const Duration ahead = lab_.delay(end) + std::min(d.data_latency(), d.pause_response(left)); ahead < window_)
        throw spec::SpecError(
            {}, fmt::format("fault {}: at {} the link of {} needs a window of {}, and the lab runs in "
                            "windows of {}; expected another rate, or a longer cable",
                            fault_.name, spec::format(left), link, spec::format(ahead), spec::format(window_)));
      add(
          end.device, [&d, end, id = id_, share](Instant now) { d.begin_degraded(now, end.port, id, share); },
          [&d, end, id = id_](Instant now) { d.end_degraded(now, end.port, id); });
    });
  }

  // ---- Ports ----

  void gather(const what::PfcStorm& storm, const spec::FaultPlace& place) {
    PriorityMask classes = 0;
    for (const int c : storm.classes)
      classes = static_cast<PriorityMask>(classes | bit(Priority{static_cast<std::uint8_t>(c)}));
    for (const PortRef port : ports(place))
      of_port(port, [&](auto& d) {
        add(
            port.device, [&d, port, id = id_, classes](Instant now) { d.begin_pfc_storm(now, id, port.port, classes); },
            [&d, port, id = id_](Instant now) { d.end_pfc_storm(now, id, port.port); });
        counts(port, classes, &TouchCount::pauses_sent);
      });
  }
  void gather(const what::IgnorePause&, const spec::FaultPlace& place) {
    for (const PortRef port : ports(place))
      of_port(port, [&](auto& d) {
        add(
            port.device, [&d, port, id = id_](Instant now) { d.begin_ignoring_pauses(now, id, port.port); },
            [&d, port, id = id_](Instant now) { d.end_ignoring_pauses(now, id, port.port); });
        counts(port, PriorityMask{0xFF}, &TouchCount::pauses_received);
      });
  }
  void gather(const what::Mtu& mtu, const spec::FaultPlace& place) {
    const auto octets = static_cast<std::uint32_t>(mtu.octets);
    for (const PortRef port : ports(place))
      of_port(port, [&](auto& d) {
        add(
            port.device, [&d, port, id = id_, octets](Instant) { d.begin_mtu(id, port.port, octets); },
            [&d, port, id = id_](Instant) { d.end_mtu(id, port.port); });
        counts(port, DropReason::kGiant);
        counts(port.device, DropReason::kTooBig);  // counted where the frame came in
      });
  }

  // ---- Switches ----

  void gather(const what::DscpMap& map, const spec::FaultPlace& place) {
    const std::vector<std::pair<int, int>> to_class(map.to_class.begin(), map.to_class.end());
    for (const PortRef port : ports(place)) {
      Switch& d = sw(port.device);
      add(
          port.device, [&d, port, id = id_, to_class](Instant) { d.begin_wrong_dscp_map(id, port.port, to_class); },
          [&d, port, id = id_](Instant) { d.end_wrong_dscp_map(id, port.port); });
      of_device_[port.device].touches.misclassified.insert(port.port);
    }
  }
  void gather(const what::EcnThresholds& wrong, const spec::FaultPlace& place) {
    EcnConfig ecn;
    ecn.enabled = true;
    ecn.kmin = wrong.kmin;
    ecn.kmax = wrong.kmax;
    ecn.pmax_ppm = wrong.pmax_ppm;
    for (const PortRef port : ports(place)) {
      Switch& d = sw(port.device);
      for (std::uint8_t c = 0; c < kPriorities; ++c) {
        // All that mark, unless it is said which.
        if (place.traffic_class >= 0 ? place.traffic_class != c
                                     : !d.config().ports[port.port.index()].classes[c].ecn.enabled)
          continue;
        add(
            port.device, [&d, port, id = id_, c, ecn](Instant) { d.begin_wrong_ecn(id, port.port, Priority{c}, ecn); },
            [&d, port, id = id_, c](Instant) { d.end_wrong_ecn(id, port.port, Priority{c}); });
        counts(port, bit(Priority{c}), &TouchCount::marks);
      }
    }
  }
  void gather(const what::BufferTaken& taken, const spec::FaultPlace& place) {
    for (const DeviceId device : devices(place)) {
      Switch& d = sw(device);
      add(
          device, [&d, id = id_, size = taken.size](Instant now) { d.begin_buffer_taken(now, id, size); },
          [&d, id = id_](Instant now) { d.end_buffer_taken(now, id); });
    }
  }
  void gather(const what::Crash&, const spec::FaultPlace& place) {
    for (const DeviceId device : devices(place)) {
      Switch& d = sw(device);
      add(
          device, [&d](Instant now) { d.crash(now); }, [](Instant) {});
      counts(device, DropReason::kCrash);
    }
    for_each_end(place, [&](PortRef end) { take_down(end); });
  }

  // ---- Hosts ----

  void receive_at(BitRate rate, const spec::FaultPlace& place) {
    for (const PortRef port : ports(place)) {
      Host& d = host(port.device);
      add(
          port.device, [&d, port, id = id_, rate](Instant now) { d.begin_receiving_at(now, id, port.port, rate); },
          [&d, port, id = id_](Instant now) { d.end_receiving_at(now, id, port.port); });
      counts(port, DropReason::kNicReceiveFull);
    }
  }
  void gather(const what::StopReceiving&, const spec::FaultPlace& place) { receive_at(BitRate{}, place); }
  void gather(const what::SlowReceiver& slow, const spec::FaultPlace& place) { receive_at(slow.rate, place); }
  void gather(const what::Straggle& straggle, const spec::FaultPlace& place) {
    const Device::Share share{straggle.share.numerator, straggle.share.denominator};
    for (const PortRef port : ports(place)) {
      Host& d = host(port.device);
      add(
          port.device, [&d, port, id = id_, share](Instant now) { d.begin_straggling(now, id, port.port, share); },
          [&d, port, id = id_](Instant now) { d.end_straggling(now, id, port.port); });
    }
  }
  void gather(const what::Skew& skew, const spec::FaultPlace& place) {
    const spec::Ratio& slow = skew.slow;
    const Host::ClockDrift drift = slow.numerator != 0
                                       ? Host::ClockDrift{-slow.numerator, slow.denominator}
                                       : Host::ClockDrift{skew.fast.numerator, skew.fast.denominator};
    for (const DeviceId device : devices(place)) {
      Host& d = host(device);
      add(
          device,
          [&d, id = id_, ahead = skew.ahead - skew.behind, drift](Instant now) { d.begin_skew(now, id, ahead, drift); },
          [&d, id = id_](Instant) { d.end_skew(id); });
    }
  }

  template <class OfFrames>
  void gather(const OfFrames&, const spec::FaultPlace&) {}

  build::BuiltLab& lab_;
  const spec::FaultSpec& fault_;
  std::uint32_t id_;
  Duration window_;
  std::set<PortRef> ports_;
  std::set<PortRef> links_;
  std::set<DeviceId> devices_;
  std::map<DeviceId, OfDevice> of_device_;
};

}  // namespace

std::vector<std::shared_ptr<StateFault>> state_faults(build::BuiltLab& lab, const spec::FaultSpec& fault,
                                                      std::uint32_t id, const ActivityConfig& when, Duration window) {
  std::vector<std::shared_ptr<StateFault>> out;
  for (auto& [device, share] : Gather(lab, fault, id, window).run())
    out.push_back(std::make_shared<StateFault>(
        lab.fabric()[device], Activity(when, RngStream(lab.spec().run.seed, fmt::format("fault/{}/when", fault.name))),
        std::move(share.changes), std::move(share.touches)));
  if (out.empty())
    throw spec::SpecError({}, fmt::format("fault {}: no class there marks; expected one that is named, such as {}/3",
                                          fault.name, spec::format(fault.on.front())));
  return out;
}

}  // namespace railyard::fault
