#include "control/import/port_list.h"

#include <cctype>
#include <set>

#include <fmt/format.h>

namespace railyard::importing {

std::string node_name(const std::string& name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '-';
  while (out.starts_with('-') || out.starts_with('_')) out.erase(0, 1);
  return out.substr(0, 56);
}

std::vector<unsigned long> digits_of(const std::string& name) {
  std::vector<unsigned long> out;
  for (std::size_t i = 0; i < name.size();) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      ++i;
      continue;
    }
    unsigned long n = 0;
    for (; i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0; ++i)
      n = n * 10 + static_cast<unsigned long>(name[i] - '0');
    out.push_back(n);
  }
  return out;
}

void name_peers(std::vector<PortConfig>& ports, const std::string& switch_name) {
  std::set<std::string> names{switch_name};
  for (PortConfig& port : ports) {
    if (!port.linked) continue;
    const std::string base = node_name(port.peer).empty() ? fmt::format("h{}", port.number) : node_name(port.peer);
    port.peer = base;
    for (int n = 2; !names.insert(port.peer).second; ++n) port.peer = fmt::format("{}-{}", base, n);
  }
}

}  // namespace railyard::importing
