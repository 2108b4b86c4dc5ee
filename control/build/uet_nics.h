// The UET NICs of a lab, as its traffic wants them, and the flows between them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "control/build/flow.h"
#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/endpoint.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::build {

class UetNics {
 public:
  // `plans`: all flows of the lab; those whose traffic is UET are then connected, in their order.
  UetNics(const spec::Lab& lab, const std::vector<workload::FlowPlan>& plans);
  ~UetNics();

  // Makes both ends of `flow`.
  void connect(Flow& flow, const uet::FlowConfig& config, const uet::AddressVector& forth,
               const uet::AddressVector& back);

  // What drives a NIC: its UET endpoint and `rest`; `rest` alone, if it has none. Once each.
  std::unique_ptr<Endpoint> drive(const spec::PortName& nic, std::unique_ptr<Endpoint> rest);
  struct Named {
    spec::PortName name;
    uet::FlowEndpoint* endpoint = nullptr;
  };
  std::vector<Named> endpoints() const;

 private:
  struct Nic;
  void find_network(const std::vector<workload::FlowPlan>& plans);
  uet::EngineConfig engine_config(const spec::PortName& name, const Nic& nic) const;
  uet::NsccConfig nscc_config(const Nic& nic, const spec::UetNicSpec& said, std::uint32_t mtu) const;
  uet::EncapsulationConfig encapsulation(const spec::PortName& name, const Nic& nic) const;
  const spec::UetNicSpec& settings(const spec::PortName& name) const;
  bool trims(const spec::TrafficSpec& traffic) const;

  const spec::Lab& lab_;
  Duration base_rtt_{};  // of the longest way there and back
  std::map<spec::PortName, Nic> nics_;
};

}  // namespace railyard::build
