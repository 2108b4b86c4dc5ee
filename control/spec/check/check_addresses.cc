#include <map>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "control/spec/addresses.h"
#include "control/spec/check/check.h"

namespace railyard::spec {
namespace {

// Who has an address, and where it was said.
struct Owner {
  std::string name;
  const Tree* said;
};

template <class Address>
class Owners {
 public:
  void add(const Address& address, std::string name, const Tree& said) {
    const auto [first, is_new] = owners_.try_emplace(address, Owner{name, &said});
    if (!is_new)
      said.fail(fmt::format("{} has {} already: {}", first->second.name, to_string(address),
                            to_string(first->second.said->place)));
  }
  // Of an address that follows from the port and cannot be changed.
  void expect_free(const Address& address, const std::string& name) const {
    if (const auto owner = owners_.find(address); owner != owners_.end())
      owner->second.said->fail(
          fmt::format("{} is the automatic MAC address of {}; expected another", to_string(address), name));
  }

 private:
  std::unordered_map<Address, Owner> owners_;
};

// The map of a NIC's keys: an element of `nics`, or the node itself.
const Tree& nic_tree(const Tree& node, std::size_t nic) {
  const Tree* list = node.find("nics");
  return list != nullptr && nic < list->items.size() ? list->items[nic] : node;
}

}  // namespace

void check_addresses(const Draft& draft) {
  Owners<wire::IpAddress> addresses;
  Owners<wire::MacAddress> macs;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < draft.lab.nodes.size(); ++i) {
    const NodeSpec& node = draft.lab.nodes[i];
    const Tree& said = *draft.nodes[i];
    index[node.name] = i;
    if (node.loopback_v4) addresses.add(*node.loopback_v4, node.name, said.at_or_self("loopback"));
    if (node.loopback_v6) addresses.add(*node.loopback_v6, node.name, said.at_or_self("loopback6"));
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      const NicSpec& nic = node.nics[n];
      const std::string name = format(PortName{node.name, static_cast<int>(n) + 1});
      const Tree& keys = nic_tree(said, n);
      if (nic.address_v4) addresses.add(*nic.address_v4, name, keys.at_or_self("address"));
      if (nic.address_v6) addresses.add(*nic.address_v6, name, keys.at_or_self("address6"));
      if (nic.mac) macs.add(*nic.mac, name, keys.at_or_self("mac"));
    }
  }
  for (const LinkSpec& link : draft.lab.links)
    for (const PortName& end : {link.a, link.b})
      if (draft.lab.nodes[index.at(end.node)].kind != NodeSpec::Kind::kHost)
        macs.expect_free(automatic_mac(index.at(end.node), end.port), format(end));
}

}  // namespace railyard::spec
