#include "control/lab/open_port.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "dataplane/port/application_port.h"
#include "dataplane/port/ethdev_port.h"
#include "dataplane/port/network_interface.h"
#include "dataplane/port/packet_socket_port.h"
#include "dataplane/port/port_wire.h"
#include "dataplane/port/tap_port.h"
#include "dataplane/port/udp_wire.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard::lab {
namespace {

// What each kind of attachment is.
class Opener {
 public:
  Opener(const spec::PortName& name, const spec::NicSpec& nic, std::uint32_t mtu, const Interfaces& made,
         PacketPool& pool, BitRate rate)
      : name_(name), nic_(nic), mtu_(mtu), made_(made), pool_(pool), rate_(rate) {}

  OpenedPort operator()(std::monostate) const { return {}; }
  OpenedPort operator()(const spec::AttachPcap&) const { return {}; }
  OpenedPort operator()(const spec::AttachVhostUser& a) const { return vhost_user(a.socket, a.is_client); }
  OpenedPort operator()(const spec::AttachMemif& a) const { return memif(a); }
  OpenedPort operator()(const spec::AttachDpdk& a) const { return ethdev(a.device, {}); }
  OpenedPort operator()(const spec::AttachNetdev& a) const { return interface({}, a.name, "netdev " + a.name, false); }
  OpenedPort operator()(const spec::AttachTap& a) const {
    TapPortConfig config;
    config.interface = a.name;
    config.mtu = mtu_;
    config.mac = nic_.mac;
    config.up = true;
    config.rate = rate_;
    return {std::make_unique<TapPort>(config, pool_), "tap " + a.name, {}};
  }
  OpenedPort operator()(const spec::AttachNamespace&) const {
    const Interface& i = made("namespace");
    return interface(i.netns, i.name, "namespace", true);
  }
  OpenedPort operator()(const spec::AttachApplication&) const {
    made("application");
    ApplicationPortConfig config;
    config.name = spec::format(name_);
    config.mac = nic_.mac.value_or(wire::MacAddress{});
    config.address_v4 = nic_.address_v4;
    config.address_v6 = nic_.address_v6;
    config.mtu = mtu_;
    return {std::make_unique<ApplicationPort>(config), "application", {}};
  }
  OpenedPort operator()(const spec::AttachVm&) const {
    OpenedPort opened = vhost_user(made("vm").socket, false);
    opened.description = "vm";
    return opened;
  }

 private:
  const Interface& made(const char* kind) const {
    const auto found = made_.find(name_);
    if (found == made_.end())
      throw std::runtime_error(
          fmt::format("{} has attach: {}, which needs a live lab; use `railyard up`", name_.node, kind));
    return found->second;
  }
  // DPDK wants a name for each device that is not in use.
  static unsigned next_serial() noexcept {
    static std::atomic<unsigned> serial = 0;
    return serial++;
  }
  OpenedPort vhost_user(const std::string& socket, bool is_client) const {
    return ethdev(fmt::format("net_vhost{},iface={},queues=1{}", next_serial(), socket, is_client ? ",client=1" : ""),
                  is_client ? "" : socket);
  }
  // Buffers that hold a frame of the link, so that none goes in pieces.
  OpenedPort memif(const spec::AttachMemif& a) const {
    constexpr std::uint32_t kUnit = 128;
    const std::uint32_t buffer = (mtu_ + wire::Ethernet::kOctets + wire::Vlan::kOctets + kUnit - 1) / kUnit * kUnit;
    return ethdev(fmt::format("net_memif{},role={},id={},socket-abstract=no,socket={},rsize=10,bsize={}", next_serial(),
                              a.is_client ? "client" : "server", a.id, a.socket, buffer),
                  a.is_client ? "" : a.socket);
  }
  OpenedPort ethdev(const std::string& device, const std::string& socket) const {
    EthdevPortConfig config;
    config.device = device;
    config.mtu = mtu_;
    return {std::make_unique<EthdevPort>(config, pool_), device, socket};
  }
  OpenedPort interface(const std::string& netns, const std::string& name, std::string description, bool ours) const {
    PacketSocketPortConfig config;
    config.interface = name;
    config.netns = netns;
    config.mtu = mtu_;
    config.ours = ours;
    return {std::make_unique<PacketSocketPort>(config, pool_), std::move(description), {}};
  }

  const spec::PortName& name_;
  const spec::NicSpec& nic_;
  std::uint32_t mtu_;
  const Interfaces& made_;
  PacketPool& pool_;
  BitRate rate_;
};

}  // namespace

OpenedPort open_port(const spec::PortName& name, const spec::NicSpec& nic, std::uint32_t mtu, const Interfaces& made,
                     PacketPool& pool, BitRate rate) {
  return std::visit(Opener(name, nic, mtu, made, pool, rate), nic.attach);
}

std::uint32_t whole_trunk_mtu(std::uint32_t mtu) noexcept {
  constexpr std::size_t kMore =
      wire::Ethernet::kOctets + wire::Vlan::kOctets + kTrunkFrameOctets + TrunkFragmentHeader::kOctets;
  return mtu + static_cast<std::uint32_t>(kMore);
}

namespace {

// Octets that frames through a trunk's port are to carry: what is said, else what keeps the link's frames in one piece;
// of an interface that exists no more than its own.
std::uint32_t port_mtu(const spec::TrunkSpec& trunk, std::uint32_t link_mtu) {
  const std::uint32_t wanted = trunk.port_mtu ? static_cast<std::uint32_t>(*trunk.port_mtu) : whole_trunk_mtu(link_mtu);
  const auto* netdev = std::get_if<spec::AttachNetdev>(&trunk.attach);
  if (netdev == nullptr) return wanted;
  const auto interface = read_interface(netdev->name);
  if (!interface) return wanted;  // who opens it says so
  if (trunk.port_mtu && interface->mtu < wanted)
    throw std::runtime_error(
        fmt::format("interface '{}': its MTU is {}, but port-mtu is {}; raise it (ip link set {} "
                    "mtu {}), or set port-mtu: {}",
                    netdev->name, interface->mtu, wanted, netdev->name, wanted, interface->mtu));
  return std::min(wanted, interface->mtu);
}

}  // namespace

OpenedWire open_wire(const spec::NodeSpec& node, const TrunkEndConfig& end, std::uint64_t session, PacketPool& pool) {
  const spec::TrunkSpec& trunk = node.trunk;
  if (trunk.udp)
    return {std::make_unique<UdpWire>(trunk.udp->local, trunk.udp->remote),
            fmt::format("udp {} to {}", to_string(trunk.udp->local), to_string(trunk.udp->remote)),
            {}};
  spec::NicSpec nic;
  nic.attach = trunk.attach;
  const std::uint32_t mtu = port_mtu(trunk, end.terms.mtu);
  OpenedPort port = open_port({node.name, 1}, nic, mtu, {}, pool);
  PortWireConfig config;
  config.mac = trunk_mac(session);
  config.mtu = mtu;
  config.peer_timeout = end.timeout;
  config.patience = end.ping_every * 10;  // a sender may lose the processor between two fragments
  config.carrier_every = end.ping_every * 5;
  auto wire = std::make_unique<PortWire>(std::move(port.port), pool, config);
  std::string description = fmt::format("{}, {} octets per frame", port.description, wire->mtu());
  return {std::move(wire), std::move(description), std::move(port.socket)};
}

}  // namespace railyard::lab
