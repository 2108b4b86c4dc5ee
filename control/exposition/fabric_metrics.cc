#include "control/exposition/fabric_metrics.h"

#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "dataplane/base/drop_reason.h"
#include "dataplane/switch/switch.h"

namespace railyard::exposition {
namespace {

using Type = Exposition::Type;

constexpr double kPsPerSecond = 1e12;

bool counted(const ClassCounters& c) {
  std::uint64_t any = c.rx_packets | c.tx_packets | c.ecn_marked | c.trimmed | c.xoff_sent | c.xon_sent | c.xoff_received |
                      c.xon_received | c.pfc_not_enabled | c.depth_octets;
  for (const std::uint64_t n : c.drops) any |= n;
  return any != 0;
}

// Ports of the lab with what is said of them; labels are rendered once for all families.
class Fabric {
 public:
  Fabric(Exposition& out, const build::BuiltLab& lab, const std::vector<DeviceCounters>& counters)
      : out_(out), lab_(lab), counters_(counters) {
    std::array<bool, kPriorities> used{};
    for (const auto& [name, qos] : lab.spec().qos)
      for (std::size_t k = 0; k < kPriorities; ++k) used[k] |= qos.classes[k].lossless;
    for (const DeviceCounters& d : counters)
      for (const PortCounters& p : d.ports)
        for (std::size_t k = 0; k < kPriorities; ++k) used[k] |= counted(p.classes[k]);
    for (std::uint8_t k = 0; k < kPriorities; ++k)
      if (used[k]) used_.push_back(k);
    for (std::uint32_t d = 0; d < counters.size(); ++d) {
      if (lab.node_of(DeviceId{d}).kind == spec::NodeSpec::Kind::kTrunk) continue;
      for (std::uint16_t p = 0; p < counters[d].ports.size(); ++p)
        if (const PortRef port{DeviceId{d}, PortIndex{p}}; lab.rate(port).bps > 0) add_port(port, counters[d].ports[p]);
    }
  }

  // `value(port, counters)` of each port.
  template <class Value>
  void ports(std::string_view name, Type type, std::string_view help, Value value) {
    out_.family(name, type, help);
    for (const Port& p : ports_) out_.sample(p.labels, value(p.port, *p.counters));
  }
  // `value(counters)` of each class that is in use.
  template <class Value>
  void classes(std::string_view name, Type type, std::string_view help, Value value) {
    out_.family(name, type, help);
    for (const Port& p : ports_)
      for (std::size_t i = 0; i < used_.size(); ++i) out_.sample(p.classes[i], value(p.counters->classes[used_[i]]));
  }
  // `value(switch, port, class)` of those at switches.
  template <class Value>
  void switch_classes(std::string_view name, Type type, std::string_view help, Value value) {
    out_.family(name, type, help);
    for (const Port& p : ports_) {
      if (!lab_.is_switch(p.port.device)) continue;
      const auto& device = static_cast<const Switch&>(lab_.fabric()[p.port.device]);
      for (std::size_t i = 0; i < used_.size(); ++i)
        out_.sample(p.classes[i], value(device, p.port.port, Priority{used_[i]}));
    }
  }
  // The same of PFC frames, by what they say.
  void pfc_frames() {
    out_.family("railyard_pfc_frames", Type::kCounter, "PFC frames; xoff: with a pause time, xon: with time 0.");
    for (const Port& p : ports_)
      for (std::size_t i = 0; i < used_.size(); ++i) {
        const ClassCounters& c = p.counters->classes[used_[i]];
        out_.sample(p.classes[i], c.xoff_sent, R"(direction="sent",kind="xoff")");
        out_.sample(p.classes[i], c.xon_sent, R"(direction="sent",kind="xon")");
        out_.sample(p.classes[i], c.xoff_received, R"(direction="received",kind="xoff")");
        out_.sample(p.classes[i], c.xon_received, R"(direction="received",kind="xon")");
      }
  }
  // Those that have happened; with a class, if the frame had one.
  void drops() {
    out_.family("railyard_drops", Type::kCounter, "Frames dropped by a device, by reason.");
    for (const Port& p : ports_) {
      const auto add = [&](const std::string& of_class, const DropCounts& counts) {
        for (std::size_t r = 0; r < kDropReasons; ++r)
          if (counts[r] > 0)
            out_.sample(p.labels, counts[r],
                        Rendered(std::array{Label{"class", of_class}, Label{"reason", name(static_cast<DropReason>(r))}})
                            .text());
      };
      add("", p.counters->drops);
      for (std::size_t k = 0; k < kPriorities; ++k) add(std::to_string(k), p.counters->classes[k].drops);
    }
  }
  // `value(counters)` of each switch.
  template <class Value>
  void switches(std::string_view name, Type type, std::string_view help, Value value) {
    out_.family(name, type, help);
    for (std::uint32_t d = 0; d < counters_.size(); ++d) {
      if (!lab_.is_switch(DeviceId{d})) continue;
      const std::array labels{node(DeviceId{d})};
      out_.sample(labels, value(DeviceId{d}, counters_[d]));
    }
  }

 private:
  struct Port {
    PortRef port;
    const PortCounters* counters;
    Rendered labels;
    std::vector<Rendered> classes{};  // by those in use
  };

  Label node(DeviceId device) const {
    return {lab_.is_switch(device) ? "switch" : "host", counters_[device.index()].name};
  }
  void add_port(PortRef port, const PortCounters& counters) {
    const std::string number = std::to_string(port.port.index() + std::size_t{1});
    const Label at{"port", number};
    Port& added = ports_.emplace_back(Port{port, &counters, Rendered(std::array{node(port.device), at})});
    for (const std::uint8_t k : used_) {
      const std::string priority = std::to_string(k);
      added.classes.emplace_back(std::array{node(port.device), at, Label{"class", priority}});
    }
  }

  Exposition& out_;
  const build::BuiltLab& lab_;
  const std::vector<DeviceCounters>& counters_;
  std::vector<std::uint8_t> used_;  // classes
  std::vector<Port> ports_;
};

double seconds_of(Duration d) { return static_cast<double>(d.ps) / kPsPerSecond; }

}  // namespace

void add_fabric(Exposition& out, const build::BuiltLab& lab, const std::vector<DeviceCounters>& counters,
                const std::function<bool(PortRef)>& up) {
  Fabric f(out, lab, counters);
  constexpr Type kCounter = Type::kCounter;
  constexpr Type kGauge = Type::kGauge;
  const auto bytes_of = [](std::int64_t bits) { return static_cast<double>(bits) / 8; };

  f.ports("railyard_port_up", kGauge, "1 if the link at the port is up, else 0.",
          [&](PortRef port, const PortCounters&) { return std::uint64_t{up(port) ? 1u : 0u}; });
  f.ports("railyard_port_speed_bytes_per_second", kGauge, "Rate of the link at the port.",
          [&](PortRef port, const PortCounters&) { return bytes_of(lab.rate(port).bps); });
  f.ports("railyard_port_lost_packets", kCounter,
          "Frames sent to this port that never arrived: the link went down, or a fault of the link took them.",
          [](PortRef, const PortCounters& c) { return c.lost; });
  f.ports("railyard_llr_replays", kCounter, "Retransmissions by link-level retry.",
          [](PortRef, const PortCounters& c) { return c.llr.replays; });

  f.classes("railyard_received_packets", kCounter, "Frames received.", [](const ClassCounters& c) { return c.rx_packets; });
  f.classes("railyard_received_bytes", kCounter, "Bytes of frames received, with FCS.",
            [](const ClassCounters& c) { return c.rx_octets; });
  f.classes("railyard_sent_packets", kCounter, "Frames sent.", [](const ClassCounters& c) { return c.tx_packets; });
  f.classes("railyard_sent_bytes", kCounter, "Bytes of frames sent, with FCS.",
            [](const ClassCounters& c) { return c.tx_octets; });
  f.classes("railyard_queue_depth_bytes", kGauge, "Egress queue now, with the frame in transmission.",
            [](const ClassCounters& c) { return c.depth_octets; });
  f.classes("railyard_queue_depth_max_bytes", kGauge, "Deepest that the egress queue has been.",
            [](const ClassCounters& c) { return c.max_depth_octets; });
  f.classes("railyard_ecn_marked_packets", kCounter, "Packets that this egress queue has marked CE.",
            [](const ClassCounters& c) { return c.ecn_marked; });
  f.switch_classes("railyard_ecn_came_marked_packets", kCounter,
                   "Packets that this egress queue was deep enough to mark and that had CE already.",
                   [](const Switch& s, PortIndex port, Priority k) { return s.came_marked(port, k); });
  f.classes("railyard_trimmed_packets", kCounter, "Packets for this egress queue that were trimmed.",
            [](const ClassCounters& c) { return c.trimmed; });
  f.classes("railyard_pfc_pause_seconds", kCounter, "For how long the peer had this class of the port paused.",
            [](const ClassCounters& c) { return seconds_of(c.paused); });
  f.classes("railyard_credit_stall_seconds", kCounter, "For how long the first frame of the queue has waited for credits.",
            [](const ClassCounters& c) { return seconds_of(c.stalled); });
  f.classes("railyard_pfc_watchdog_storms", kCounter, "Pause storms that the PFC watchdog has detected.",
            [](const ClassCounters& c) { return c.storms_detected; });
  f.pfc_frames();
  f.drops();
  f.switches("railyard_buffer_used_bytes", kGauge, "Buffer of the switch in use.",
             [&](DeviceId id, const DeviceCounters& d) {
               const auto cell = lab.spec().switches.at(lab.node_of(id).profile).cell;
               return d.buffer_cells * static_cast<std::uint64_t>(cell.n);
             });
}

}  // namespace railyard::exposition
