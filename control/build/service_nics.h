// The NICs of a lab that peers may connect to, and those that connect to peers: by rdma_cm, in the lab or outside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/nic/host_config.h"
#include "transports/roce/services/service_endpoint.h"

namespace railyard::build {

// A client of rping, from one NIC to another.
struct RpingRun {
  workload::FlowPlan plan;
  const roce::ServiceEndpoint* endpoint = nullptr;
  std::size_t index = 0;  // in the endpoint

  const roce::RpingClient& client() const { return endpoint->rping_client(index); }
};

class ServiceNics {
 public:
  explicit ServiceNics(const spec::Lab& lab) : lab_(lab) {}

  // The NIC at the source of `plan` becomes a client. `way` to its server lacks its UDP source port.
  void add_client(workload::FlowPlan plan, const roce::AddressVector& way, Instant start, Instant stop);

  // What drives a NIC beside `rest`, whose QP numbers are less than `first_qpn`: an endpoint with its services and
  // clients, and `rest`. `rest` alone, if it has neither. Once for each NIC. `next_hop`: where it sends everything.
  std::unique_ptr<Endpoint> drive(const spec::PortName& nic, const NicConfig& config, wire::MacAddress next_hop,
                                  const spec::LinkSpec& link, std::unique_ptr<Endpoint> rest, std::uint32_t first_qpn);

  // Of all NICs that were driven.
  struct Nic {
    spec::PortName name;
    roce::ServiceEndpoint* endpoint;
  };
  const std::vector<Nic>& nics() const noexcept { return nics_; }
  // Those of NICs that were driven have their endpoints.
  const std::vector<RpingRun>& rping_runs() const noexcept { return rping_runs_; }

 private:
  struct Client {
    std::size_t run;
    roce::RpingClientConfig config;
  };

  const spec::Lab& lab_;
  std::map<spec::PortName, std::vector<Client>> clients_;
  std::vector<RpingRun> rping_runs_;
  std::vector<Nic> nics_;
};

}  // namespace railyard::build
