#include "control/spec/addresses.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "dataplane/wire/address.h"

namespace railyard::spec {
namespace {

using wire::IpAddress;

constexpr std::uint32_t kPerBlock = 250;
constexpr std::uint32_t kBlocks = 255 * 256;  // up to 10.254.255.0/24

IpAddress ipv4_in_block(std::uint32_t block, std::uint32_t j) { return IpAddress{0x0A00'0000u | block << 8 | j}; }

// fd00:<group1>:<group2>:<group3>::<last>
IpAddress ipv6_of(std::uint16_t group1, std::uint16_t group2, std::uint16_t group3, std::uint32_t last) {
  std::array<std::uint8_t, 16> octets{0xFD, 0x00};
  const auto put = [&](std::size_t group, std::uint32_t value) {
    octets[2 * group] = static_cast<std::uint8_t>(value >> 8 & 0xFF);
    octets[2 * group + 1] = static_cast<std::uint8_t>(value & 0xFF);
  };
  put(1, group1);
  put(2, group2);
  put(3, group3);
  put(6, last >> 16);
  put(7, last);
  return IpAddress{octets};
}

// The NICs that share a block of addresses, in order.
using Block = std::vector<NicSpec*>;

class Assignment {
 public:
  explicit Assignment(Lab& lab) : lab_(lab) {
    for (std::size_t i = 0; i < lab.nodes.size(); ++i) index_[lab.nodes[i].name] = i;
    for (const NodeSpec& node : lab.nodes) {
      take(node.loopback_v4);
      take(node.loopback_v6);
      for (const NicSpec& nic : node.nics) {
        take(nic.address_v4);
        take(nic.address_v6);
        if (nic.mac) macs_.insert(*nic.mac);
      }
    }
  }

  void run() {
    const std::vector<Block> blocks = collect_blocks();
    next_block_ = static_cast<std::uint32_t>(blocks.size());
    for (std::uint32_t i = 0; i < blocks.size(); ++i) address_block(i, blocks[i]);
    std::uint32_t n = 0;
    for (NodeSpec& node : lab_.nodes)
      if (node.kind == NodeSpec::Kind::kSwitch) address_switch(node, ++n);
    for (std::size_t i = 0; i < lab_.nodes.size(); ++i)
      for (std::size_t nic = 0; nic < lab_.nodes[i].nics.size(); ++nic)
        give_mac(lab_.nodes[i].nics[nic], i, static_cast<int>(nic) + 1);
  }

 private:
  void take(const std::optional<IpAddress>& address) {
    if (address) taken_.insert(*address);
  }

  NicSpec* nic(const PortName& port) {
    NodeSpec& node = lab_.nodes[index_.at(port.node)];
    return node.kind == NodeSpec::Kind::kHost ? &node.nics[static_cast<std::size_t>(port.port) - 1] : nullptr;
  }

  std::vector<Block> collect_blocks() {
    std::vector<std::vector<std::pair<int, NicSpec*>>> at(lab_.nodes.size());  // by port
    std::vector<Block> pairs;
    for (const LinkSpec& link : lab_.links) {
      NicSpec* a = nic(link.a);
      NicSpec* b = nic(link.b);
      if (a != nullptr && b != nullptr)
        pairs.push_back({a, b});
      else if (a != nullptr)
        at[index_.at(link.b.node)].emplace_back(link.b.port, a);
      else if (b != nullptr)
        at[index_.at(link.a.node)].emplace_back(link.a.port, b);
    }
    std::vector<Block> blocks;
    for (auto& nics : at) {
      if (nics.empty()) continue;
      std::ranges::sort(nics, {}, [](const auto& entry) { return entry.first; });
      Block& block = blocks.emplace_back();
      for (const auto& [port, n] : nics) block.push_back(n);
    }
    std::ranges::move(pairs, std::back_inserter(blocks));
    return blocks;
  }

  void address_block(std::uint32_t i, const Block& nics) {
    std::uint32_t block = i;
    for (std::uint32_t rank = 0; rank < nics.size(); ++rank) {
      if (rank > 0 && rank % kPerBlock == 0) block = next_block_++;
      NicSpec& n = *nics[rank];
      if (!n.address_v4) n.address_v4 = give(ipv4_in_block(std::min(block, kBlocks), rank % kPerBlock + 1));
      if (!n.address_v6) n.address_v6 = give(ipv6_of(0, 0, static_cast<std::uint16_t>(i), rank + 1));
    }
  }

  void address_switch(NodeSpec& node, std::uint32_t n) {
    if (!node.loopback_v4) node.loopback_v4 = give(IpAddress{0x0AFF'0000u | n});
    if (!node.loopback_v6) node.loopback_v6 = give(ipv6_of(0xFFFF, 0, 0, n));
  }

  // `wanted`, or the next of those that are kept for this if somebody has it.
  IpAddress give(IpAddress wanted) {
    while (!taken_.insert(wanted).second) {
      const std::uint32_t n = spilled_++;
      wanted =
          wanted.is_v4() ? ipv4_in_block(kBlocks - 1 - n / kPerBlock, n % kPerBlock + 1) : ipv6_of(0, 0, 0xFFFF, n + 1);
    }
    return wanted;
  }

  void give_mac(NicSpec& n, std::size_t node, int port) {
    if (n.mac || !is_ours(n.attach)) return;
    wire::MacAddress mac = automatic_mac(node, port);
    while (!macs_.insert(mac).second) mac.octets[0] = static_cast<std::uint8_t>(mac.octets[0] + 4);
    n.mac = mac;
  }

  Lab& lab_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_set<IpAddress> taken_;
  std::unordered_set<wire::MacAddress> macs_;
  std::uint32_t next_block_ = 0;
  std::uint32_t spilled_ = 0;
};

}  // namespace

wire::MacAddress automatic_mac(std::size_t node, int port) noexcept {
  const auto octet = [](auto n) { return static_cast<std::uint8_t>(n & 0xFF); };
  return {{0x02, octet(node >> 16), octet(node >> 8), octet(node), octet(port >> 8), octet(port)}};
}

wire::MacAddress port_mac(const Lab& lab, const PortName& port) {
  const NodeSpec& node = *lab.find(port.node);
  if (node.kind == NodeSpec::Kind::kHost)
    return node.nics[static_cast<std::size_t>(port.port) - 1].mac.value_or(wire::MacAddress{});
  return automatic_mac(static_cast<std::size_t>(&node - lab.nodes.data()), port.port);
}

wire::IpAddress ipv4_of_rail(int rail, int leaf, int nic) noexcept {
  return ipv4_in_block(static_cast<std::uint32_t>(rail << 8 | leaf), static_cast<std::uint32_t>(nic));
}

wire::IpAddress ipv6_of_rail(int rail, int leaf, int nic) noexcept {
  return ipv6_of(0, static_cast<std::uint16_t>(rail), static_cast<std::uint16_t>(leaf), static_cast<std::uint32_t>(nic));
}

wire::IpAddress ipv4_of_leaf(int leaf, int n) noexcept {
  return ipv4_in_block(static_cast<std::uint32_t>(leaf), static_cast<std::uint32_t>(n));
}

wire::IpAddress ipv6_of_leaf(int leaf, int rail, int nic) noexcept {
  return ipv6_of(static_cast<std::uint16_t>(leaf + 1), static_cast<std::uint16_t>(rail), 0,
                 static_cast<std::uint32_t>(nic));
}

void assign_addresses(Lab& lab) { Assignment(lab).run(); }

}  // namespace railyard::spec
