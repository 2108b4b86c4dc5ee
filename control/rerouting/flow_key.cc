#include "control/rerouting/flow_key.h"

#include "transports/roce/flows/flow_connection.h"
#include "transports/roce/qp.h"

namespace railyard::rerouting {

FlowKey key_of(const build::BuiltLab& lab, const build::Flow& flow) {
  FlowKey key;
  key.from = flow.plan.source;
  key.to = flow.plan.destination;
  key.dscp = lab.spec().traffic[flow.plan.traffic].dscp;
  const auto with = [&key](const wire::IpAddress& source, std::uint16_t port, std::uint32_t qp) {
    key.ip_version = source.is_v4() ? 4 : 6;
    key.source_port = port;
    key.destination_qp = static_cast<int>(qp);
  };
  if (flow.is_generated()) {
    with(flow.config().source, flow.config().source_port, flow.config().destination_qp);
  } else if (flow.is_roce()) {
    const auto end = roce::FlowConnection::end_of(*flow.source, flow.places.at_source, 0);
    if (const roce::Qp* qp = flow.source->engine().qp(roce::QpNumber{end.qpn}))
      with(qp->info.path.av().source, qp->info.path.av().source_port, qp->info.dest_qpn);
  } else {
    key.entropy = 0;
    key.any_entropy = true;
  }
  return key;
}

}  // namespace railyard::rerouting
