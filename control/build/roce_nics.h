// The RoCE NICs of a lab, as its traffic wants them, and the flows between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/build/agent_collective.h"
#include "control/build/agent_flow.h"
#include "control/build/collective.h"
#include "control/build/flow.h"
#include "control/build/nic_clocks.h"
#include "control/build/planned_collectives.h"
#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/endpoint.h"
#include "transports/roce/collectives/collective_connection.h"
#include "transports/roce/flows/flow_endpoint.h"
#include "transports/verbs/nic_settings.h"

namespace railyard::build {

class RoceNics {
 public:
  // QP numbers of the generator's flows at a NIC begin here; those of its RoCE QPs come behind them.
  static constexpr std::uint32_t kFirstQp = 0x100;

  // `plans`: all flows of the lab; those whose traffic is RoCE are then connected, in their order.
  // `collectives`: those over RoCE, in the lab's order.
  RoceNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans,
           std::vector<PlannedCollective> collectives, ScaleUpNetworks& networks, const NicClocks& clocks);
  ~RoceNics();

  // Makes both ends of `flow`, whose QPs are in RTS. The ways forth and back lack their UDP source ports.
  void connect(Flow& flow, const roce::FlowConfig& config, const roce::AddressVector& forth,
               const roce::AddressVector& back);

  // The same where agents have an end of it, or both: what is built in is made, and waits for them.
  AgentFlow make_with_agents(workload::FlowPlan plan, roce::FlowConfig config, const roce::AddressVector& forth,
                             const roce::AddressVector& back);

  // Makes the ranks of all collectives, in their order; those with agents, which wait for them, are the second list.
  // The way from a NIC to another, for packets like those of such traffic, lacks its UDP source port.
  using Way = std::function<roce::AddressVector(const spec::PortName& from, const spec::PortName& to,
                                                const spec::TrafficSpec& like)>;
  std::pair<std::vector<Collective>, std::vector<AgentCollective>> make_collectives(const Way& way);
  // What the NIC's profile says of an engine there; its QPs are not counted. `base_rtt`: of the lab, for congestion
  // controls that start from it; 0: not known.
  static roce::EngineConfig settings_of(const spec::Lab& lab, const spec::PortName& nic, BitRate rate,
                                        Duration base_rtt = {});
  // The same for applications behind a NIC that run an engine themselves (`attach: application`). `rate`, `framing`: of
  // its link.
  static verbs::NicSettings application_settings(const spec::Lab& lab, const spec::PortName& nic, BitRate rate,
                                                 Framing framing);
  // The first QP number that neither the generator nor flows have at a NIC.
  std::uint32_t first_free_qpn(const spec::PortName& nic) const;

  // What drives a NIC: its RoCE endpoint, `generator`, or both. Once each.
  std::unique_ptr<Endpoint> drive(const spec::PortName& nic, std::unique_ptr<TrafficGenerator> generator);
  struct Named {
    spec::PortName name;
    roce::FlowEndpoint* endpoint = nullptr;
  };
  std::vector<Named> endpoints() const;

 private:
  struct Nic;
  bool is_agents(const spec::PortName& nic) const { return lab_.find(nic.node)->agent.has_value(); }
  roce::EngineConfig engine_config(const spec::PortName& name, const Nic& nic) const;
  const spec::RoceNicSpec& settings(const spec::PortName& name) const;

  void take(std::vector<PlannedCollective> collectives);
  void join_scale_up(ScaleUpNetworks& networks);
  AgentCollective make_with_agents(PlannedCollective planned, const Way& way);

  const spec::Lab& lab_;
  const NicClocks& clocks_;
  Duration base_rtt_{};  // if a congestion control wants it
  std::map<spec::PortName, Nic> nics_;
  std::vector<PlannedCollective> collectives_;  // until they are made
};

}  // namespace railyard::build
