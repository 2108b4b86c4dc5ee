// A spec made into devices and channels: what an engine can run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/build/agent_collective.h"
#include "control/build/agent_flow.h"
#include "control/build/collective.h"
#include "control/build/flow.h"
#include "control/build/flow_triggers.h"
#include "control/build/service_nics.h"
#include "control/build/roce_nics.h"
#include "control/build/uet_nics.h"
#include "control/routing/graph.h"
#include "control/routing/shortest_paths.h"
#include "control/spec/spec.h"
#include "dataplane/base/framing.h"
#include "dataplane/device/fabric.h"
#include "dataplane/nic/host.h"
#include "dataplane/nic/traffic_generator.h"
#include "dataplane/port/pcap_endpoint.h"
#include "dataplane/switch/headroom.h"
#include "dataplane/switch/switch.h"
#include "dataplane/trunk/trunk_end.h"

namespace railyard::build {

// Headroom of one lossless class at one ingress port of a switch.
struct Headroom {
  DeviceId device;
  PortIndex port;
  Priority priority;
  Bytes computed;   // what the formula asks for, in whole cells
  Bytes configured; // what it gets for itself
  Bytes pooled;     // what it may have from the switch's headroom pool beyond that
  HeadroomTerms terms;
};

// What building a lab has allocated, in octets.
struct BuildMemory {
  std::int64_t routing = 0;   // the graph, and what each switch has chosen for each destination
  std::int64_t traffic = 0;   // flows and collectives, with the transports of the NICs that they are between
  std::int64_t hosts = 0;     // without those transports
  std::int64_t switches = 0;
  std::int64_t links = 0;

  std::int64_t total() const noexcept { return routing + traffic + hosts + switches + links; }
};

// Capture files that hosts write: opened (and so emptied) at once, or left alone until open_outputs().
enum class Outputs { kOpen, kLeaveAlone };

// The lab as devices. Needs no EAL: packets come with the engine.
class BuiltLab {
 public:
  // Throws spec::SpecError where the parts do not fit together: headroom below what the links need (unless the class
  // accepts loss), buffers too small for what is set aside.
  explicit BuiltLab(spec::Lab lab, Outputs outputs = Outputs::kOpen);
  ~BuiltLab();

  const spec::Lab& spec() const noexcept { return lab_; }
  Fabric& fabric() noexcept { return fabric_; }
  const Fabric& fabric() const noexcept { return fabric_; }

  // By name; throws std::out_of_range with the name.
  Device& device(const std::string& node);
  Switch& switch_named(const std::string& node);
  Host& host(const std::string& node);
  TrunkEnd& trunk(const std::string& node);
  PortRef port(const spec::PortName& name) const;

  // Switches and hosts are told apart by what the spec says of the node; devices are in its order.
  const spec::NodeSpec& node_of(DeviceId device) const noexcept { return lab_.nodes[device.index()]; }
  bool is_switch(DeviceId device) const noexcept {
    return node_of(device).kind == spec::NodeSpec::Kind::kSwitch;
  }
  // The rate of the link at a port, 0 if there is none; and the name of the port at its other end.
  BitRate rate(PortRef port) const noexcept;
  Framing framing(PortRef port) const noexcept;
  Duration delay(PortRef port) const noexcept;
  int mtu(PortRef port) const noexcept;
  std::string peer_name(PortRef port) const;

  const BuildMemory& memory() const noexcept { return memory_; }

  // Nodes are numbered as devices are. With all links up.
  const routing::Graph& graph() const noexcept { return *graph_; }
  // The same as routing sees it: at one of several sites with the nodes at other sites, which have the next numbers.
  const routing::Graph& routed_graph() const noexcept { return whole_graph_ ? *whole_graph_ : *graph_; }
  const routing::Routes& routes() const noexcept { return *routes_; }

  const std::vector<Flow>& flows() const noexcept { return flows_; }
  // What starts flows when others are done; nullptr: nothing does.
  const FlowTriggers* triggers() const noexcept { return triggers_.get(); }
  FlowTriggers* triggers() noexcept { return triggers_.get(); }
  const std::vector<Collective>& collectives() const noexcept { return collectives_; }
  // Those with ranks that agents carry out; they are in no other list.
  const std::vector<AgentCollective>& agent_collectives() const noexcept { return agent_collectives_; }
  // Flows with an end that is an agent's; they are not among flows().
  const std::vector<AgentFlow>& agent_flows() const noexcept { return agent_flows_; }
  // NICs that speak UET.
  const std::vector<RoceNics::Named>& roce_nics() const noexcept { return roce_; }
  const std::vector<UetNics::Named>& uet_nics() const noexcept { return uet_; }
  // NICs that peers may connect to, or that connect to peers; and clients of rping among them.
  const std::vector<ServiceNics::Nic>& service_nics() const noexcept { return service_nics_; }
  const std::vector<RpingRun>& rping_runs() const noexcept { return rping_runs_; }
  const std::vector<Headroom>& headrooms() const noexcept { return headrooms_; }

  // To be run again, see AgentCollective::renew() and AgentFlow::renew(). While the engine rests.
  void renew_agent_collective(std::size_t i) { agent_collectives_.at(i).renew(); }
  void renew_agent_flow(std::size_t i) { agent_flows_.at(i).renew(); }

  // No flow begins a frame, and no rank a collective, at or after `at`.
  void stop_traffic(Instant at);
  // The hosts that are made of capture files.
  const std::vector<PcapEndpoint*>& pcaps() const noexcept { return pcaps_; }
  struct PcapNic {
    spec::PortName nic;
    std::string in;   // the file that is sent; empty: none
    std::string out;  // the file that is written; empty: none
  };
  // The NICs of pcaps(), in their order.
  const std::vector<PcapNic>& pcap_nics() const noexcept { return pcap_nics_; }
  // Opens the files that they write. Throws spec::SpecError for one that cannot be written.
  void open_outputs();
  // The same, each where `where` says; nothing: it is not opened.
  using OutputPlace = std::function<std::optional<std::filesystem::path>(const spec::PortName& nic, const std::string& file)>;
  void open_outputs(const OutputPlace& where);

 private:
  class Builder;
  friend class Changes;

  spec::Lab lab_;
  BuildMemory memory_;
  std::unique_ptr<routing::Graph> graph_;
  std::shared_ptr<const spec::Lab> whole_;       // Lab::whole as it was built, if there is one
  std::unique_ptr<routing::Graph> whole_graph_;  // of that
  std::unique_ptr<routing::Routes> routes_;
  Fabric fabric_;
  std::unordered_map<std::string, DeviceId> by_name_;
  std::vector<std::vector<std::size_t>> link_of_;  // by device and port: index into the lab's links + 1
  std::vector<Flow> flows_;
  std::unique_ptr<FlowTriggers> triggers_;
  std::vector<Collective> collectives_;
  std::vector<AgentCollective> agent_collectives_;
  std::vector<AgentFlow> agent_flows_;
  std::vector<Headroom> headrooms_;
  std::vector<TrafficGenerator*> generators_;
  std::vector<RoceNics::Named> roce_;
  std::vector<UetNics::Named> uet_;
  std::vector<ServiceNics::Nic> service_nics_;
  std::vector<RpingRun> rping_runs_;
  std::vector<PcapEndpoint*> pcaps_;
  std::vector<PcapNic> pcap_nics_;
  struct Output {
    PcapEndpoint* pcap;
    spec::PortName nic;
    std::string file;
    spec::Place place;
  };
  std::vector<Output> outputs_;
};

}  // namespace railyard::build
