#include <map>
#include <string>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/select.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

class SiteCheck {
 public:
  explicit SiteCheck(const Draft& draft) : lab_(draft.lab), said_(draft.sections.sites) {}

  void run() {
    for (const auto& [name, site] : lab_.sites) {
      const Tree& said = said_->at_or_self(name);
      check_nodes(name, site, said);
      check_ports(name, site, said);
    }
  }

 private:
  void check_nodes(const std::string& name, const SiteSpec& site, const Tree& said) {
    for (const std::string& pattern : site.nodes) {
      bool fits = false;
      for (const NodeSpec& node : lab_.nodes) {
        if (!matches(pattern, node.name)) continue;
        fits = true;
        const auto [first, is_new] = site_of_.try_emplace(node.name, name);
        if (!is_new && first->second != name)
          said.at_or_self("nodes").fail(
              fmt::format("'{}' includes {}, which site {} has, too; expected each node at one site", pattern, node.name,
                          first->second));
      }
      if (!fits) said.at_or_self("nodes").fail(fmt::format("'{}' matches no node", pattern));
    }
  }

  void check_ports(const std::string& name, const SiteSpec& site, const Tree& said) const {
    for (const auto& [other, ports] : site.ports) {
      const Tree& where = said.at_or_self("ports");
      if (other == name || !lab_.sites.contains(other)) {
        std::vector<std::string> names;
        for (const auto& [n, s] : lab_.sites)
          if (n != name) names.push_back(n);
        where.fail(fmt::format("'{}' is no other site{}", other, meant_or_known(other, names)));
      }
      const auto& theirs = lab_.sites.at(other).ports;
      const auto back = theirs.find(name);
      const std::size_t n = back == theirs.end() ? 0 : back->second.size();
      if (n != ports.size())
        where.fail(fmt::format("{} ports to site {}, which has {} to {}; expected as many at both", ports.size(), other, n,
                               name));
    }
  }

  const Lab& lab_;
  const Tree* said_;
  std::map<std::string, std::string> site_of_;  // by node
};

}  // namespace

void check_sites(const Draft& draft) {
  if (draft.sections.sites != nullptr) SiteCheck(draft).run();
}

}  // namespace railyard::spec
