#include "dataplane/port/tap_port.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "dataplane/base/hash.h"
#include "dataplane/port/network_interface.h"
#include "dataplane/port/network_namespace.h"
#include "dataplane/port/offload_header.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

constexpr const char* kDevice = "/dev/net/tun";
// Frames that the kernel keeps for us before it drops; its own default of 500 is less than a burst of jumbo frames at
// what a worker may be away.
constexpr int kQueueLength = 4096;

// What the host's kernel may leave to the port: all checksums that are sums, segmentation of TCP. Of UDP, too, where it
// can (Linux 6.2; its headers may be older).
constexpr unsigned kOffloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
constexpr unsigned kUdpOffloads = 0x20 | 0x40;  // TUN_F_USO4, TUN_F_USO6

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw std::runtime_error(fmt::format("TAP '{}': {}", name, what));
}

FileDescriptor open_device(const std::string& name) {
  FileDescriptor tap(open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap) return tap;
  if (errno == ENOENT)
    fail(name,
         fmt::format(
             "{} is missing; load the kernel driver (modprobe tun), or pass the device to the container (--device {})",
             kDevice, kDevice));
  if (errno == ENODEV || errno == ENXIO) fail(name, fmt::format("{} has no driver; load it: modprobe tun", kDevice));
  if (errno == EACCES || errno == EPERM)
    fail(name, fmt::format("no permission to open {}; run as root, or change its permissions", kDevice));
  fail(name, fmt::format("cannot open {}: {}", kDevice, std::strerror(errno)));
}

// What may be tried again later: no room, or the interface is down or away. Else the frame is refused for good.
bool is_passing(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR || error == EIO || error == EBADFD;
}

// As `ethtool -s IF speed N duplex full autoneg off` does it. Older kernels refuse it, and show 10 Mb/s as ever.
void set_speed(int socket, ifreq request, BitRate rate) noexcept {
  constexpr std::size_t kMostMaskOctets = 3 * 32 * sizeof(std::uint32_t);  // the kernel says how much of it it wants
  alignas(ethtool_link_settings) std::array<char, sizeof(ethtool_link_settings) + kMostMaskOctets> room{};
  auto& settings = *reinterpret_cast<ethtool_link_settings*>(room.data());
  request.ifr_data = room.data();
  settings.cmd = ETHTOOL_GLINKSETTINGS;
  if (ioctl(socket, SIOCETHTOOL, &request) != 0 || settings.link_mode_masks_nwords >= 0) return;
  const auto words = static_cast<std::int8_t>(-settings.link_mode_masks_nwords);
  room.fill(0);
  settings.cmd = ETHTOOL_SLINKSETTINGS;
  settings.link_mode_masks_nwords = words;
  settings.speed = static_cast<std::uint32_t>(rate.bps / 1'000'000);
  settings.duplex = DUPLEX_FULL;
  settings.port = PORT_OTHER;
  settings.autoneg = AUTONEG_DISABLE;
  static_cast<void>(ioctl(socket, SIOCETHTOOL, &request));
}

}  // namespace

TapPort::TapPort(const TapPortConfig& config, PacketPool& pool)
    : stream_(hash_string("port/tap/" + config.netns + "/" + config.interface)),
      long_frame_(sizeof(OffloadHeader) + SuperFrame::kMostOctets),
      pool_(pool) {
  const std::string& name = config.interface;
  if (const std::string bad = bad_interface_name(name); !bad.empty()) fail(name, bad);
  // The interface is made where the device is opened.
  const NetworkNamespace inside(config.netns);
  FileDescriptor tap = open_device(name);
  ifreq request{};
  name.copy(request.ifr_name, kMostInterfaceName);
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL);
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) {
    const int error = errno;
    // The kernel looks for the name before it looks at who asks.
    if (error == EBUSY || error == EEXIST || error == EINVAL || if_nametoindex(name.c_str()) != 0)
      fail(name,
           fmt::format("an interface of this name exists already{}; choose another, or remove it: ip link del {}",
                       config.netns.empty() ? "" : fmt::format(" in network namespace '{}'", config.netns), name));
    if (error == EPERM)
      fail(name, "creating an interface needs CAP_NET_ADMIN; run as root, or: setcap cap_net_admin+ep");
    fail(name, fmt::format("cannot be created: {}", std::strerror(error)));
  }
  if (ioctl(tap.get(), TUNSETOFFLOAD, kOffloads | kUdpOffloads) != 0) ioctl(tap.get(), TUNSETOFFLOAD, kOffloads);
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  request.ifr_mtu = static_cast<int>(config.mtu);
  if (ioctl(socket.get(), SIOCSIFMTU, &request) != 0)
    fail(name, fmt::format("the kernel refuses an MTU of {} ({}); a TAP carries 68 to 65521: set mtu: on its link",
                           config.mtu, std::strerror(errno)));
  request.ifr_qlen = kQueueLength;
  ioctl(socket.get(), SIOCSIFTXQLEN, &request);  // else there is less of it
  if (config.rate.bps > 0) set_speed(socket.get(), request, config.rate);
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
        fail(name, fmt::format("cannot be brought up: {}", std::strerror(errno)));
    }
  }
  tap_ = std::move(tap);
  abilities_ = {PortAbilities::Pfc::kYes, config.mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets},
                true};
}

TapPort::~TapPort() { staged_.release(staged_.waiting().size(), pool_); }

// Reads what comes next. Puts it at `to` if it is one frame, else the first that it is cut into. Returns the frame's
// octets, of which there are `room` at most; 0: there is nothing. By way of long_frame_: a copy costs less than to have
// the kernel scatter what it hands over.
std::uint32_t TapPort::receive(std::byte* to, std::size_t room) noexcept {
  const ssize_t got = read(tap_.get(), long_frame_.data(), long_frame_.size());
  if (got <= static_cast<ssize_t>(sizeof(OffloadHeader))) return 0;
  const OffloadHeader offload = OffloadHeader::read(long_frame_.data());
  const std::span<std::byte> frame(long_frame_.data() + sizeof offload, static_cast<std::size_t>(got) - sizeof offload);
  if (offload.gso_type != OffloadHeader::kNoGso) {
    if (super_.start(frame, offload) && super_.longest() <= room) return static_cast<std::uint32_t>(super_.cut(to));
    super_ = {};
  }
  std::memcpy(to, frame.data(), std::min(frame.size(), room));
  if (frame.size() <= room) complete_checksum(offload, {to, frame.size()});
  return static_cast<std::uint32_t>(frame.size());
}

// One frame or super-frame per call to the kernel; the call that finds none is the only one that is made in vain.
std::size_t TapPort::take(PacketPool& pool, std::span<Packet*> packets) {
  if (!staged_.empty()) send_staged();  // nothing more may come to be given for a long time
  std::size_t n = 0;
  while (n < packets.size()) {
    Packet* const p = pool.allocate_real();
    if (p == nullptr) break;  // the frame stays in the ring
    const std::uint32_t octets =
        super_.done() ? receive(p->header(), pool.real_octets()) : static_cast<std::uint32_t>(super_.cut(p->header()));
    if (octets == 0) {
      pool.release(p);
      break;
    }
    describe_received(*p, octets, stream_, received_.read());
    received_.increment();
    packets[n++] = p;
  }
  return n;
}

// Writes a frame with an offload header that says that nothing is left to do: in front of it, where there is room
// unless a tag was put in.
ssize_t TapPort::write_frame(Packet& p) noexcept {
  OffloadHeader nothing_left{};
  const std::size_t octets = p.header_octets + std::size_t{p.payload_octets};
  if (p.header_at >= sizeof(Packet) + sizeof nothing_left) [[likely]] {
    std::byte* const begin = p.header() - sizeof nothing_left;
    std::memcpy(begin, &nothing_left, sizeof nothing_left);
    return write(tap_.get(), begin, sizeof nothing_left + octets);
  }
  const std::array<iovec, 2> parts{{{&nothing_left, sizeof nothing_left}, {p.header(), octets}}};
  return writev(tap_.get(), parts.data(), static_cast<int>(parts.size()));
}

// Writes joined_, which begins with the first of `packets`.
ssize_t TapPort::write_joined(std::span<Packet* const> packets) noexcept {
  std::array<iovec, 1 + JoinedSegments::kMostFrames> pieces;
  pieces[0] = {joined_.front.data(), joined_.front_octets};
  for (std::size_t i = 0; i < joined_.frames; ++i) {
    Packet& p = *packets[i];
    pieces[1 + i] = {p.header() + joined_.left_out, p.header_octets + std::size_t{p.payload_octets} - joined_.left_out};
  }
  return writev(tap_.get(), pieces.data(), static_cast<int>(1 + joined_.frames));
}

// Sends until there is no more room. A frame that is refused for good is counted and given up.
void TapPort::send_staged() noexcept {
  while (!staged_.empty()) {
    join_segments(staged_.waiting(), joined_);
    const ssize_t written =
        joined_.frames == 1 ? write_frame(*staged_.waiting().front()) : write_joined(staged_.waiting());
    if (written < 0 && is_passing(errno)) return;
    (written >= 0 ? sent_ : not_sent_).add(joined_.frames);
    staged_.release(joined_.frames, pool_);
  }
}

std::size_t TapPort::give(PacketPool& pool, std::span<Packet* const> packets) {
  return staged_.give(packets, pool, [this] { send_staged(); });
}

// The interface as it is called now, where it is now.
std::optional<InterfaceState> TapPort::state() const {
  ifreq request{};
  const FileDescriptor netns(ioctl(tap_.get(), TUNGETDEVNETNS));
  if (!netns || ioctl(tap_.get(), TUNGETIFF, &request) != 0) return {};
  try {
    const NetworkNamespace inside(netns);
    return read_interface(request.ifr_name);
  } catch (const std::runtime_error&) {  // not permitted
    return {};
  }
}

void TapPort::set_carrier(bool up) noexcept {
  // Older kernels (before 5.0) cannot: the host then learns of it as from a switch that eats its frames.
  int on = up ? 1 : 0;
  static_cast<void>(ioctl(tap_.get(), TUNSETCARRIER, &on));
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
