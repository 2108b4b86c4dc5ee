#include "control/spec/collective_ranks.h"

#include <map>
#include <string>

#include "control/spec/select.h"

namespace railyard::spec {

std::vector<PortName> ranks(const Lab& lab, const CollectiveSpec& collective) {
  TrafficSpec all;
  all.from = collective.ranks;
  return senders(lab, all);
}

std::vector<std::uint32_t> leaves(const Lab& lab, const std::vector<PortName>& ranks) {
  std::map<PortName, std::string> leaf;
  for (const LinkSpec& link : lab.links) {
    leaf[link.a] = link.b.node;
    leaf[link.b] = link.a.node;
  }
  std::map<std::string, std::uint32_t> number;
  std::vector<std::uint32_t> out;
  for (const PortName& nic : ranks)
    out.push_back(number.try_emplace(leaf[nic], static_cast<std::uint32_t>(number.size())).first->second);
  return out;
}

}  // namespace railyard::spec
