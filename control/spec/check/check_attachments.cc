#include <map>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "control/spec/check/check.h"

namespace railyard::spec {
namespace {

const Tree& attach_tree(const Tree& node, std::size_t nic) {
  const Tree* list = node.find("nics");
  return (list != nullptr && nic < list->items.size() ? list->items[nic] : node).at_or_self("attach");
}

// What only one may use: a file to write, a socket, a device. With its key.
std::pair<std::string, std::string> exclusive(const Attachment& attachment) {
  if (const auto* pcap = std::get_if<AttachPcap>(&attachment)) return {"out", pcap->out};
  if (const auto* vhost = std::get_if<AttachVhostUser>(&attachment)) return {"vhost-user", vhost->socket};
  if (const auto* memif = std::get_if<AttachMemif>(&attachment)) {
    // One socket serves several interfaces.
    return {"memif", fmt::format("{} id {}", memif->socket, memif->id)};
  }
  if (const auto* dpdk = std::get_if<AttachDpdk>(&attachment)) return {"dpdk", dpdk->device};
  if (const auto* tap = std::get_if<AttachTap>(&attachment)) return {"tap", tap->name};
  if (const auto* netdev = std::get_if<AttachNetdev>(&attachment)) return {"netdev", netdev->name};
  return {};
}

}  // namespace

void check_attachments(const Draft& draft) {
  std::map<std::pair<std::string, std::string>, PortName> users;
  const auto use = [&users](const std::pair<std::string, std::string>& what, const PortName& port, const Tree& where) {
    const auto [first, is_new] = users.try_emplace(what, port);
    if (!is_new) where.fail(fmt::format("'{}' is already used by {}", what.second, format(first->second)));
  };
  for (std::size_t i = 0; i < draft.lab.nodes.size(); ++i) {
    const NodeSpec& node = draft.lab.nodes[i];
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      const Attachment& attachment = node.nics[n].attach;
      const Tree& where = attach_tree(*draft.nodes[i], n);
      const bool is_outside =
          !std::holds_alternative<std::monostate>(attachment) && !std::holds_alternative<AttachPcap>(attachment);
      if (is_outside && draft.lab.run.clock == Clock::kVirtual)
        where.fail("attachments to the outside need the wall clock: set run.clock: wall");
      if (node.agent && !is_outside)
        draft.nodes[i]->at_or_self("agent").fail(fmt::format(
            "{}:{} is built in; expected an attached host (such as `attach: vm`) with RDMA devices for the agent",
            node.name, n + 1));
      const bool made = is_made_host(attachment) || is_made_host(node.nics[0].attach);
      if (made && attachment != node.nics[0].attach)
        where.fail("a namespace, virtual machine or application has all NICs of its host; expected the same `attach` for each "
                   "NIC");
      if (std::holds_alternative<AttachApplication>(attachment))
        for (const auto& [profile, host] : draft.lab.hosts)
          if (host.uet.security)
            where.fail(fmt::format("hosts.{}.uet.security does not apply to applications, which neither encrypt nor decrypt; "
                                   "expected none in a lab with `attach: application`",
                                   profile));
      const auto used = exclusive(attachment);
      if (used.second.empty()) continue;
      use(used, {node.name, static_cast<int>(n) + 1}, where);
    }
    if (const auto used = exclusive(node.trunk.attach); !used.second.empty())
      use(used, {node.name, 1}, draft.nodes[i]->at_or_self("attach"));
  }
}

}  // namespace railyard::spec
