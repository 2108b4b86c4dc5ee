// A flow over RoCE of which an agent has one end, or two have both: what is built in of it is there, and waits for
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "control/spec/spec.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/hash.h"
#include "transports/roce/flows/flow_connection.h"
#include "transports/roce/qp_attributes.h"

namespace railyard::build {

struct AgentFlow {
  struct End {
    spec::PortName nic{};
    wire::IpAddress address{};
    // Attributes are an agent's, too; its NIC is nullptr. The way to the other end lacks its UDP source port.
    roce::FlowEnd end{};
    std::size_t place = 0;  // in the NIC's endpoint

    bool is_agents() const noexcept { return end.nic == nullptr; }
  };
  workload::FlowPlan plan{};
  Priority priority{};        // class of its data at a sending NIC that is built in
  roce::FlowConfig config{};  // it starts then at the earliest
  End source{};
  End sink{};
  std::uint64_t chance = 0;  // what UDP source ports and first PSNs are drawn from

  // Whether the source asks for the messages; else the sink does.
  bool source_asks() const noexcept { return config.asks(true); }
  const End& asker() const noexcept { return source_asks() ? source : sink; }
  // Whether the sink is an agent's that hears of messages: it has to say that it has all.
  bool sink_is_told() const noexcept { return sink.is_agents() && config.receive_requests() > 0; }

  // What is built in of it is given up and made anew, to be run again. While the engine rests.
  void renew() {
    for (End* const end : {&source, &sink})
      if (!end->is_agents()) end->place = roce::FlowConnection::make_anew(end->end, end->place);
    chance = mix64(chance);
  }
};

}  // namespace railyard::build
