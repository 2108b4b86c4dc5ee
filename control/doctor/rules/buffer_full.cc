// Buffers that are full: an incast, or RDMA in a lossy class.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_buffer_full(const Case& c) {
  std::vector<Diagnosis> out;
  std::map<std::string, std::uint64_t> by_node;
  for (const PortCase& p : c.ports()) {
    if (!p.is_switch) continue;
    for (const char* reason : {"ingress_full", "egress_full", "wred"}) by_node[p.node] += p.dropped(reason);
  }
  std::uint64_t most = 0;
  for (const auto& [node, n] : by_node) most = std::max(most, n);
  for (const auto& [node, n] : by_node) {
    if (n == 0) continue;
    const PortCase* deepest = nullptr;
    std::size_t priority = 0;
    for (const PortCase& p : c.ports())
      if (p.node == node)
        for (std::size_t k = 0; k < p.classes.size(); ++k)
          if (deepest == nullptr || p.classes[k].deepest > deepest->classes[priority].deepest) {
            deepest = &p;
            priority = k;
          }
    const auto to = std::ranges::count_if(c.flows(), [&](const auto& f) {
      const auto dst = f["dst"].template get<std::string>();
      return deepest->peer == dst || deepest->peer.starts_with(dst + ":");
    });
    Diagnosis d{deepest->name(),
                n == most ? 0.75 : 0.6,
                {fmt::format("{} dropped {} packets because a buffer was full", node, n)}};
    d.evidence.push_back(fmt::format("its deepest queue is {} towards {}, class {}: {} bytes", deepest->name(),
                                     deepest->peer, priority, deepest->classes[priority].deepest));
    if (to > 1) d.evidence.push_back(fmt::format("{} flows end at {}", to, deepest->peer));
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

const Rule rules::kBufferFull{
    "buffer-full",
    "More comes to a port than it can send, and its switch runs out of buffer: an incast in a lossy class.",
    "RDMA in a lossless class, congestion control, fewer senders at once, or trimming for UET.",
    "The port is paused or slow: then look at what is behind it.", find_buffer_full, {Input::kPorts}};

}  // namespace railyard::doctor
