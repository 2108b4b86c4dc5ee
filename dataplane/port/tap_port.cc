#include "dataplane/port/tap_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "dataplane/base/hash.h"
#include "dataplane/port/network_interface.h"
#include "dataplane/port/network_namespace.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

constexpr const char* kDevice = "/dev/net/tun";
// Frames that the kernel keeps for us before it drops; its own default of 500 is less than a burst of jumbo frames at
// what a worker may be away.
constexpr int kQueueLength = 4096;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw std::runtime_error(fmt::format("TAP '{}': {}", name, what));
}

FileDescriptor open_device(const std::string& name) {
  FileDescriptor tap(open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap.valid()) return tap;
  if (errno == ENOENT)
    fail(name, fmt::format("there is no {}; load the kernel's driver (modprobe tun), or in a container hand the device "
                           "in (--device {})",
                           kDevice, kDevice));
  if (errno == ENODEV || errno == ENXIO)
    fail(name, fmt::format("nothing is behind {}; load the kernel's driver: modprobe tun", kDevice));
  if (errno == EACCES || errno == EPERM)
    fail(name, fmt::format("{} may not be opened; run as root, or change its permissions", kDevice));
  fail(name, fmt::format("{} cannot be opened: {}", kDevice, std::strerror(errno)));
}

// What may be tried again later: no room, or the interface is down or away. Else the frame is refused for good.
bool is_passing(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR || error == EIO || error == EBADFD;
}

}  // namespace

TapPort::TapPort(const TapPortConfig& config, PacketPool& pool)
    : stream_(hash_string("port/tap/" + config.netns + "/" + config.interface)), pool_(pool) {
  const std::string& name = config.interface;
  if (const std::string bad = bad_interface_name(name); !bad.empty()) fail(name, bad);
  // The interface is made where the device is opened.
  const NetworkNamespace inside(config.netns);
  FileDescriptor tap = open_device(name);
  ifreq request{};
  name.copy(request.ifr_name, kMostInterfaceName);
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL);
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) {
    const int error = errno;
    // The kernel looks for the name before it looks at who asks.
    if (error == EBUSY || error == EEXIST || error == EINVAL || if_nametoindex(name.c_str()) != 0)
      fail(name,
           fmt::format("an interface of this name exists already{}; choose another, or remove it: ip link del {}",
                       config.netns.empty() ? "" : fmt::format(" in network namespace '{}'", config.netns), name));
    if (error == EPERM)
      fail(name,
           "making an interface needs CAP_NET_ADMIN; run as root, or give it to the program: setcap cap_net_admin+ep");
    fail(name, fmt::format("cannot be made: {}", std::strerror(error)));
  }
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  request.ifr_mtu = static_cast<int>(config.mtu);
  if (ioctl(socket.get(), SIOCSIFMTU, &request) != 0)
    fail(name, fmt::format("the kernel refuses an MTU of {} ({}); a TAP carries 68 to 65521: set mtu: on its link",
                           config.mtu, std::strerror(errno)));
  request.ifr_qlen = kQueueLength;
  ioctl(socket.get(), SIOCSIFTXQLEN, &request);  // else there is less of it
  if (config.mac) {
    request.ifr_hwaddr = {};
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::memcpy(request.ifr_hwaddr.sa_data, config.mac->octets.data(), config.mac->octets.size());
    if (ioctl(socket.get(), SIOCSIFHWADDR, &request) != 0)
      fail(name, fmt::format("the kernel refuses the MAC address {} ({}); expected a unicast one",
                             to_string(*config.mac), std::strerror(errno)));
  }
  if (config.up) {
    if (ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0) {
      request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
      if (ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
        fail(name, fmt::format("cannot be switched on: {}", std::strerror(errno)));
    }
  }
  tap_ = std::move(tap);
  // What the kernel sends to us is whole: the device offers no offloads.
  abilities_ = {PortAbilities::Pfc::kYes, config.mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets},
                true};
}

TapPort::~TapPort() { staged_.release(staged_.waiting().size(), pool_); }

// One frame per call, straight into its packet; the call that finds none is the only one that is made in vain. A frame
// that fills all of the packet's room may have been longer: it is a giant all the same.
std::size_t TapPort::take(PacketPool& pool, std::span<Packet*> packets) {
  if (!staged_.empty()) send_staged();  // nothing more may come to be given for a long time
  std::size_t n = 0;
  while (n < packets.size()) {
    Packet* const p = pool.allocate_real();
    if (p == nullptr) break;  // the frame stays in the ring
    const ssize_t octets = read(tap_.get(), p->header(), pool.real_octets());
    if (octets <= 0) {
      pool.release(p);
      break;
    }
    describe_received(*p, static_cast<std::uint32_t>(octets), stream_, received_.read());
    received_.increment();
    packets[n++] = p;
  }
  return n;
}

// Sends until there is no more room. A frame that is refused for good is counted and given up.
void TapPort::send_staged() noexcept {
  while (!staged_.empty()) {
    const Packet& p = *staged_.waiting().front();
    const ssize_t written = write(tap_.get(), p.header(), p.header_octets + std::size_t{p.payload_octets});
    if (written >= 0)
      sent_.increment();
    else if (is_passing(errno))
      return;
    else
      not_sent_.increment();
    staged_.release(1, pool_);
  }
}

std::size_t TapPort::give(PacketPool& pool, std::span<Packet* const> packets) {
  if (!staged_.empty()) send_staged();
  if (!staged_.empty()) return 0;
  const std::size_t n = staged_.stage(packets, pool);
  send_staged();
  return n;
}

// The interface as it is called now, where it is now.
std::optional<InterfaceState> TapPort::state() const {
  ifreq request{};
  const FileDescriptor netns(ioctl(tap_.get(), TUNGETDEVNETNS));
  if (!netns.valid() || ioctl(tap_.get(), TUNGETIFF, &request) != 0) return {};
  try {
    const NetworkNamespace inside(netns);
    return read_interface(request.ifr_name);
  } catch (const std::runtime_error&) {  // not permitted
    return {};
  }
}

OutsidePortCounters TapPort::counters() const {
  if (const auto now = state()) host_ring_full_ = now->tx_dropped;
  OutsidePortCounters c;
  c.received = received_.read();
  c.sent = sent_.read();
  c.host_ring_full = host_ring_full_;
  c.not_sent = not_sent_.read();
  return c;
}

bool TapPort::link_up() const {
  const auto now = state();
  return now && now->up;
}

}  // namespace railyard
