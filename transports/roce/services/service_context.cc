#include "transports/roce/services/service_context.h"

#include "dataplane/base/assert.h"

namespace railyard::roce {

ServiceMemory::ServiceMemory(Engine& engine, ProtectionDomain domain, std::size_t octets, AccessSet access)
    : engine_(engine), octets_(octets) {
  const auto key = engine_.memory().add({.address = kAddress,
                                         .octets = octets,
                                         .access = access | Access::kLocalWrite,
                                         .domain = domain,
                                         .memory = octets_.data()});
  RAILYARD_ASSERT(key.has_value(), "a service's memory can be registered");
  key_ = *key;
}

ServiceMemory::~ServiceMemory() { engine_.memory().remove(key_); }

std::optional<QpNumber> create_service_qp(const ServiceContext& context, ProtectionDomain domain) {
  const auto qp = context.engine.create_qp({.type = QpType::kRc,
                                            .domain = domain,
                                            .send_cq = context.cq,
                                            .recv_cq = context.cq,
                                            .max_send_wr = ServiceContext::kMostSends,
                                            .max_recv_wr = ServiceContext::kMostReceives});
  return qp ? std::optional(*qp) : std::nullopt;
}

}  // namespace railyard::roce
