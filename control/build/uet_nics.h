// The UET NICs of a lab, as its traffic wants them, and the flows between them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "control/build/collective.h"
#include "control/build/flow.h"
#include "control/build/nic_clocks.h"
#include "control/build/planned_collectives.h"
#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/base/framing.h"
#include "transports/libfabric/nic_settings.h"
#include "transports/uet/collectives/collective_connection.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::build {

class UetNics {
 public:
  // `plans`: all flows of the lab; those whose traffic is UET are then connected, in their order. `collectives`: those
  // over UET, in the lab's order.
  UetNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans,
          std::vector<PlannedCollective> collectives, ScaleUpNetworks& networks, const NicClocks& clocks);
  ~UetNics();

  // Makes both ends of `flow`.
  void connect(Flow& flow, const uet::FlowConfig& config, const uet::AddressVector& forth,
               const uet::AddressVector& back);

  // Makes the ranks of all collectives, in their order. From a NIC to another, for packets like those of such traffic.
  using Way = std::function<uet::AddressVector(const spec::PortName& from, const spec::PortName& to,
                                               const spec::TrafficSpec& like)>;
  std::vector<Collective> make_collectives(const Way& way);

  // What drives a NIC: its UET endpoint and `rest`, unless that is a generator without flows; `rest` alone, if it has
  // no UET. Once each.
  std::unique_ptr<Endpoint> drive(const spec::PortName& nic, std::unique_ptr<Endpoint> rest);
  struct Named {
    spec::PortName name;
    uet::FlowEndpoint* endpoint = nullptr;
  };
  std::vector<Named> endpoints() const;

  // What the NIC's profile says to applications that run an engine themselves (`attach: application`). `framing`: of its
  // link. `rate`, `mtu` (octets of an IP packet): the least of the links of all such NICs, for it may send to any.
  static libfabric::NicSettings application_settings(const spec::Lab& lab, const spec::PortName& nic, BitRate rate,
                                                     Framing framing, std::uint32_t mtu);

 private:
  struct Nic;
  Nic& add_nic(const spec::PortName& name, const spec::TrafficSpec& like);
  void note_ranks(std::size_t collective);
  // Has connections of rank `r` go through the NICs that lead to its peers.
  void use_nics(uet::UetRank& rank, const PlannedCollective& planned, std::uint32_t r, const spec::TrafficSpec& like);
  // Which of its data classes traffic is of at a NIC.
  std::uint8_t class_at(const spec::PortName& name, const spec::TrafficSpec& traffic) const;
  void find_network(const std::vector<workload::FlowPlan>& plans);
  void join_scale_up(ScaleUpNetworks& networks);
  uet::EngineConfig engine_config(const spec::PortName& name, const Nic& nic) const;
  uet::DataClass data_class(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& traffic,
                            Priority priority) const;
  uet::RcccConfig rccc_config(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& traffic) const;
  uet::CreditPacerConfig grants(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& traffic) const;
  uet::NsccConfig nscc_config(const Nic& nic, const spec::UetNicSpec& said, const spec::TrafficSpec& traffic) const;
  uet::EncapsulationConfig encapsulation(const spec::PortName& name, const Nic& nic) const;
  const spec::UetNicSpec& settings(const spec::PortName& name) const;
  const spec::TrafficClass& class_of(const spec::NodeSpec& of_switch, const spec::TrafficSpec& traffic) const;
  // What the switches of the lab do with some traffic, all together.
  struct AtSwitches {
    bool trims = false;        // any cuts what there is no room for
    bool lossless = true;      // all keep it so; without any there is nothing that would drop it
    bool keeps_order = true;   // all choose paths by hash: packets of one entropy value stay in order
    std::optional<int> last_hop_dscp{};  // of what is cut at its last hop; nothing: none says anything of its own
  };
  const AtSwitches& at_switches(const spec::TrafficSpec& traffic) const;

  const spec::Lab& lab_;
  const NicClocks& clocks_;
  Duration base_rtt_{};  // of the longest way there and back
  std::map<spec::PortName, Nic> nics_;
  mutable std::map<const spec::TrafficSpec*, AtSwitches> at_switches_;  // looked at once, and asked for by every NIC
  std::vector<PlannedCollective> collectives_;  // until they are made
  std::vector<std::vector<spec::TrafficSpec>> like_;  // their packets, of each kind
};

}  // namespace railyard::build
