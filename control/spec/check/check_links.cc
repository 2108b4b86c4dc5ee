#include <map>

#include <fmt/format.h>

#include "control/spec/check/check.h"

namespace railyard::spec {
namespace {

// Of a link that somebody wrote, its n-th element; of a preset's, the preset.
const Tree& element(const Tree& said, std::size_t n) { return n < said.items.size() ? said.items[n] : said; }

// A preset says all its links in one place, so the message has to say which one it is about.
std::string which(const Tree& said, const LinkSpec& link) {
  return said.kind == Tree::Kind::kList ? "" : fmt::format("link {} to {}: ", format(link.a), format(link.b));
}

Duration latency(const Lab& lab, const NodeSpec& node) {
  return node.kind == NodeSpec::Kind::kSwitch ? lab.switches.at(node.profile).latency
                                              : lab.hosts.at(node.profile).latency;
}

class LinkCheck {
 public:
  explicit LinkCheck(const Draft& draft) : draft_(draft), lab_(draft.lab) {}

  void run() {
    for (std::size_t i = 0; i < lab_.links.size(); ++i) check(lab_.links[i], *draft_.links[i]);
    for (std::size_t i = 0; i < lab_.nodes.size(); ++i) check(lab_.nodes[i], *draft_.nodes[i]);
  }

 private:
  void check(const LinkSpec& link, const Tree& said) {
    const NodeSpec& a = check_end(link.a, element(said, 0), link, said);
    const NodeSpec& b = check_end(link.b, element(said, 1), link, said);
    if (&a == &b) element(said, 1).fail(fmt::format("links {} with itself", a.name));
    for (const NodeSpec* node : {&a, &b})
      if (link.delay == Duration{} && latency(lab_, *node) == Duration{})
        element(said, 2).fail(
            fmt::format("{}no delay, and {} (profile {}) has no latency; expected one of them above 0",
                        which(said, link), node->name, node->profile));
  }

  const NodeSpec& check_end(const PortName& end, const Tree& where, const LinkSpec& link, const Tree& said) {
    const NodeSpec& node = lab_.nodes[draft_.node(end.node, where)];
    if (node.kind == NodeSpec::Kind::kHost && static_cast<std::size_t>(end.port) > node.nics.size())
      where.fail(fmt::format("{}{} has {} NIC{}; expected a port of these", which(said, link), node.name,
                             node.nics.size(), node.nics.size() == 1 ? "" : "s"));
    const auto [used, is_new] = used_.try_emplace(end, &link);
    if (!is_new)
      where.fail(fmt::format("{} is linked already: to {}, at {}", format(end),
                             format(used->second->a == end ? used->second->b : used->second->a),
                             to_string(used->second->place)));
    return node;
  }

  void check(const NodeSpec& node, const Tree& said) const {
    for (std::size_t nic = 0; nic < node.nics.size(); ++nic)
      if (const PortName port{node.name, static_cast<int>(nic) + 1}; !used_.contains(port))
        said.fail(fmt::format("NIC {} has no link", format(port)));
    for (const auto& [port, vlan] : node.vlans)
      if (!used_.contains({node.name, port}))
        said.at_or_self("vlans")
            .at_or_self(std::to_string(port))
            .fail(fmt::format("port {}:{} has no link", node.name, port));
  }

  const Draft& draft_;
  const Lab& lab_;
  std::map<PortName, const LinkSpec*> used_;
};

}  // namespace

void check_links(const Draft& draft) { LinkCheck(draft).run(); }

}  // namespace railyard::spec
