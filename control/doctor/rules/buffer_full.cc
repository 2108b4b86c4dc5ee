// Buffers that are full: an incast, or RDMA in a lossy class.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

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

// What a switch has dropped for want of room, and its deepest queue.
struct FullSwitch {
  std::uint64_t dropped = 0;
  const PortCase* deepest = nullptr;
  std::size_t priority = 0;
};

std::map<std::string, FullSwitch> full_switches(const Case& c) {
  std::map<std::string, FullSwitch> by_node;
  for (const PortCase& p : c.ports()) {
    if (!p.is_switch) continue;
    FullSwitch& s = by_node[p.node];
    for (const char* reason : {"ingress_full", "egress_full", "wred"}) s.dropped += p.dropped(reason);
    for (std::size_t k = 0; k < p.classes.size(); ++k)
      if (s.deepest == nullptr || p.classes[k].deepest > s.deepest->classes[s.priority].deepest) {
        s.deepest = &p;
        s.priority = k;
      }
  }
  std::erase_if(by_node, [](const auto& s) { return s.second.dropped == 0 || s.second.deepest == nullptr; });
  return by_node;
}

// How many flows end at the NIC, or the host, that `peer` names.
std::size_t flows_to(const std::unordered_map<std::string, std::size_t>& flows_by_end, const std::string& peer) {
  std::size_t n = 0;
  const auto add = [&](const std::string& end) {
    if (const auto known = flows_by_end.find(end); known != flows_by_end.end()) n += known->second;
  };
  add(peer);
  for (std::size_t colon = peer.find(':'); colon != peer.npos; colon = peer.find(':', colon + 1)) add(peer.substr(0, colon));
  return n;
}

std::vector<Diagnosis> find_buffer_full(const Case& c) {
  if (std::vector<Diagnosis> incast = find_incast(c); !incast.empty()) return incast;
  const std::map<std::string, FullSwitch> by_node = full_switches(c);
  if (by_node.empty()) return {};
  std::unordered_map<std::string, std::size_t> flows_by_end;
  for (const auto& f : c.flows()) ++flows_by_end[text(f, "dst")];
  std::uint64_t most = 0;
  for (const auto& [node, s] : by_node) most = std::max(most, s.dropped);
  std::vector<Diagnosis> out;
  for (const auto& [node, s] : by_node) {
    Diagnosis d{s.deepest->name(),
                s.dropped == most ? 0.75 : 0.6,
                {fmt::format("{} dropped {} packets because a buffer was full", node, s.dropped)}};
    d.evidence.push_back(fmt::format("its deepest queue is {} towards {}, class {}: {} bytes", s.deepest->name(),
                                     s.deepest->peer, s.priority, s.deepest->classes[s.priority].deepest));
    if (const std::size_t to = flows_to(flows_by_end, s.deepest->peer); to > 1)
      d.evidence.push_back(fmt::format("{} flows end at {}", to, s.deepest->peer));
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
