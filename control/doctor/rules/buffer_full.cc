// Buffers that are full: an incast, or RDMA in a lossy class.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

// The switch port before the only host at which flows that lose packets end, if they are several.
const PortCase* before_sink_of_losses(const Case& c) {
  std::string sink;
  std::size_t flows = 0;
  for (const auto& f : c.flows()) {
    if (count(f, "lost") == 0 && count(below(f, "roce"), "retransmitted_packets") == 0) continue;
    if (!sink.empty() && sink != text(f, "dst")) return nullptr;
    sink = text(f, "dst");
    ++flows;
  }
  return flows >= 2 ? c.before(sink) : nullptr;
}

std::vector<Diagnosis> find_incast(const Case& c) {
  const PortCase* to = before_sink_of_losses(c);
  if (to == nullptr) return {};
  std::uint64_t dropped = 0;
  std::string places;
  for (const PortCase& p : c.ports()) {
    std::uint64_t here = 0;
    for (const char* reason : {"ingress_full", "egress_full", "wred"}) here += p.is_switch ? p.dropped(reason) : 0;
    if (here > 0 && dropped == 0) places = p.name();
    dropped += here;
  }
  if (dropped == 0) return {};
  return {{to->name(),
           0.85,
           {fmt::format("all flows that lose packets end at {}, behind {}", to->peer, to->name()),
            fmt::format("switches dropped {} packets because a buffer was full, some at {}", dropped, places),
            fmt::format("its queue was {} bytes deep", to->deepest())}}};
}

std::vector<Diagnosis> find_buffer_full(const Case& c) {
  if (std::vector<Diagnosis> incast = find_incast(c); !incast.empty()) return incast;
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
      const std::string dst = text(f, "dst");
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
