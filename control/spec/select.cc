#include "control/spec/select.h"

#include <cstddef>
#include <set>
#include <variant>

#include "control/spec/value.h"

namespace railyard::spec {
namespace {

enum class Which { kBuiltIn, kAttachedToo, kAgentsToo };

bool is_meant(const NodeSpec& node, const NicSpec& nic, Which which) noexcept {
  return std::holds_alternative<std::monostate>(nic.attach) || which == Which::kAttachedToo ||
         (which == Which::kAgentsToo && node.agent);
}

// `port` 0: all NICs.
void select(const Lab& lab, std::string_view host, int port, Which which, std::set<PortName>& seen,
            std::vector<PortName>& out) {
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind != NodeSpec::Kind::kHost || node.reduces || !matches(host, node.name)) continue;
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      const PortName nic{node.name, static_cast<int>(n) + 1};
      if ((port == 0 || port == nic.port) && is_meant(node, node.nics[n], which) && seen.insert(nic).second)
        out.push_back(nic);
    }
  }
}

// `exact`: of hosts that are named without '*' and '?'.
std::vector<PortName> select_all(const Lab& lab, const std::vector<std::string>& selectors, Which which, Which exact) {
  std::vector<PortName> nics;
  std::set<PortName> seen;
  for (const std::string_view selector : selectors) {
    const std::size_t colon = selector.find(':');
    const std::string_view host = selector.substr(0, colon);
    const auto port = colon == selector.npos ? 0 : parse_integer(selector.substr(colon + 1), 1, 8).value_or(0);
    const bool is_exact = host.find_first_of("*?") == host.npos;
    select(lab, host, static_cast<int>(port), is_exact ? exact : which, seen, nics);
  }
  return nics;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) noexcept {
  std::size_t p = 0, n = 0, star = pattern.npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<PortName> rank_nics(const Lab& lab, const std::vector<std::string>& selectors) {
  return select_all(lab, selectors, Which::kAgentsToo, Which::kAgentsToo);
}
std::vector<PortName> senders(const Lab& lab, const TrafficSpec& traffic) {
  const Which which = takes_agents(traffic) ? Which::kAgentsToo : Which::kBuiltIn;
  return select_all(lab, traffic.from, which, which);
}
std::vector<PortName> receivers(const Lab& lab, const TrafficSpec& traffic) {
  return select_all(lab, traffic.to, takes_agents(traffic) ? Which::kAgentsToo : Which::kBuiltIn, Which::kAttachedToo);
}
bool takes_agents(const TrafficSpec& traffic) noexcept { return traffic.is_roce() && !traffic.is_rping(); }

}  // namespace railyard::spec
