#include "control/lab/open_port.h"

#include <atomic>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>

#include "control/spec/value.h"
#include "dataplane/port/ethdev_port.h"
#include "dataplane/port/packet_socket_port.h"
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
         PacketPool& pool)
      : name_(name), nic_(nic), mtu_(mtu), made_(made), pool_(pool) {}

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
    return {std::make_unique<TapPort>(config, pool_), "tap " + a.name, {}};
  }
  OpenedPort operator()(const spec::AttachNamespace&) const {
    const Interface& i = made("namespace");
    return interface(i.netns, i.name, "namespace", true);
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
      throw std::runtime_error(fmt::format(
          "{} is a host with attach: {}, which only `railyard up` makes; expected that command", name_.node, kind));
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
};

}  // namespace

OpenedPort open_port(const spec::PortName& name, const spec::NicSpec& nic, std::uint32_t mtu, const Interfaces& made,
                     PacketPool& pool) {
  return std::visit(Opener(name, nic, mtu, made, pool), nic.attach);
}

OpenedWire open_wire(const spec::TrunkSpec& trunk) {
  return {std::make_unique<UdpWire>(trunk.udp.local, trunk.udp.remote),
          fmt::format("udp {} to {}", to_string(trunk.udp.local), to_string(trunk.udp.remote))};
}

}  // namespace railyard::lab
