#include "control/spec/select.h"

#include <cstddef>
#include <set>
#include <variant>

#include "control/spec/value.h"

namespace railyard::spec {
namespace {

// `port` 0: all NICs.
void select(const Lab& lab, std::string_view host, int port, bool attached_too, std::set<PortName>& seen,
            std::vector<PortName>& out) {
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind != NodeSpec::Kind::kHost || !matches(host, node.name)) continue;
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      const PortName nic{node.name, static_cast<int>(n) + 1};
      const bool is_attached = !std::holds_alternative<std::monostate>(node.nics[n].attach);
      if ((port == 0 || port == nic.port) && (attached_too || !is_attached) && seen.insert(nic).second)
        out.push_back(nic);
    }
  }
}

std::vector<PortName> select_all(const Lab& lab, const std::vector<std::string>& selectors, bool sending) {
  std::vector<PortName> nics;
  std::set<PortName> seen;
  for (const std::string_view selector : selectors) {
    const std::size_t colon = selector.find(':');
    const std::string_view host = selector.substr(0, colon);
    const auto port = colon == selector.npos ? 0 : parse_integer(selector.substr(colon + 1), 1, 8).value_or(0);
    const bool is_exact = host.find_first_of("*?") == host.npos;
    select(lab, host, static_cast<int>(port), is_exact && !sending, seen, nics);
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

std::vector<PortName> senders(const Lab& lab, const TrafficSpec& traffic) {
  return select_all(lab, traffic.from, true);
}
std::vector<PortName> receivers(const Lab& lab, const TrafficSpec& traffic) {
  return select_all(lab, traffic.to, false);
}

}  // namespace railyard::spec
