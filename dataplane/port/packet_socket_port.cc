#include "dataplane/port/packet_socket_port.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "dataplane/base/hash.h"
#include "dataplane/port/network_interface.h"
#include "dataplane/port/network_namespace.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw std::runtime_error(fmt::format("interface '{}': {}", name, what));
}

constexpr std::uint32_t kBlockOctets = 128 * 1024;  // of the ring; no slot lies across two
constexpr std::uint32_t kSlotHeader = 96;           // tpacket2_hdr, sockaddr_ll, OffloadHeader, and gaps, rounded up
constexpr std::size_t kRoomInFront = wire::Vlan::kOctets + sizeof(OffloadHeader);
// An interface that is away is looked for once in so many takes that find nothing.
constexpr std::uint32_t kIdleTakes = 4096;

template <class Value>
bool set_option(int socket, int level, int option, Value value) noexcept {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

ifreq request_for(const std::string& name) noexcept {
  ifreq request{};
  name.copy(request.ifr_name, kMostInterfaceName);
  return request;
}

FileDescriptor open_socket(const std::string& name) {
  // Protocol 0: nothing comes in before it is bound.
  FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket && (errno == EPERM || errno == EACCES))
    fail(name, "a packet socket needs CAP_NET_RAW; run as root, or: setcap cap_net_raw+ep");
  if (!socket) fail(name, fmt::format("no packet socket: {}", std::strerror(errno)));
  return socket;
}

// Whether to try again later: the way out is full, or the interface is down or away. Else the frame is refused for
// good.
bool is_passing(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR || error == ENETDOWN ||
         error == ENXIO || error == ENODEV;
}

// The name of the driver of an interface; empty if it does not tell.
std::string driver_of(int socket, const std::string& name) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&info);
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) return {};
  return {info.driver, strnlen(info.driver, sizeof info.driver)};
}

void put_tag(std::byte* frame, std::uint16_t tpid, std::uint16_t tci) noexcept {
  wire::write<wire::Ethernet::EtherType>(frame, tpid);
  wire::write<wire::Field<0, 16>>(frame + wire::Ethernet::kOctets, tci);
}

}  // namespace

PacketSocketPort::PacketSocketPort(const PacketSocketPortConfig& config, PacketPool& pool)
    : name_(config.interface),
      ours_(config.ours),
      stream_(hash_string("port/netdev/" + config.netns + "/" + config.interface)),
      long_frame_(kRoomInFront + SuperFrame::kMostOctets),
      pool_(pool) {
  if (const std::string bad = bad_interface_name(name_); !bad.empty()) fail(name_, bad);
  {
    const NetworkNamespace inside(config.netns);
    in_ = open_socket(name_);
    out_ = open_socket(name_);
  }
  ifreq request = request_for(name_);
  if (ioctl(in_.get(), SIOCGIFINDEX, &request) != 0)
    fail(name_, fmt::format("no such interface{}; create it first, e.g.: ip link add {} type veth peer name {}",
                            config.netns.empty() ? "" : fmt::format(" in network namespace '{}'", config.netns), name_,
                            name_ == "eth0" ? "eth1" : "eth0"));
  const int index = request.ifr_ifindex;
  if (ioctl(in_.get(), SIOCGIFHWADDR, &request) != 0 || request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
    fail(name_, "is not an Ethernet interface; expected an end of a veth pair or a NIC");
  std::uint32_t mtu = config.mtu;
  if (ioctl(in_.get(), SIOCGIFMTU, &request) == 0) mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  if (mtu < config.mtu)
    fail(name_, fmt::format("its MTU is {}, but the link's is {}; raise it (ip link set {} mtu {}), or set mtu: {} on "
                            "the link",
                            mtu, config.mtu, name_, config.mtu, mtu));
  if (!set_option(in_.get(), SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}) ||
      !set_option(in_.get(), SOL_PACKET, PACKET_VNET_HDR, 1) ||
      !set_option(out_.get(), SOL_PACKET, PACKET_VNET_HDR, 1) ||
      !set_option(in_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) ||
      !set_option(in_.get(), SOL_PACKET, PACKET_COPY_THRESH, 1))
    fail(name_, fmt::format("the kernel's packet sockets lack a feature ({}); expected Linux 4.20 or later",
                            std::strerror(errno)));
  map_ring(config);
  // For frames that do not fit a slot, and on the way out; as much as is permitted.
  constexpr int kSocketBuffer = 4 << 20;
  for (const auto& [socket, force, plain] :
       {std::tuple{in_.get(), SO_RCVBUFFORCE, SO_RCVBUF}, std::tuple{out_.get(), SO_SNDBUFFORCE, SO_SNDBUF}})
    if (!set_option(socket, SOL_SOCKET, force, kSocketBuffer)) set_option(socket, SOL_SOCKET, plain, kSocketBuffer);
  if (!bind_to(index)) {
    const int error = errno;
    munmap(ring_, ring_octets_);
    fail(name_, fmt::format("cannot bind a socket to it: {}", std::strerror(error)));
  }
  // Between the ends of a veth pair there is nothing; a NIC and its driver may keep what is between two MACs.
  joins_ = driver_of(in_.get(), name_) == "veth";
  abilities_ = {joins_ ? PortAbilities::Pfc::kYes : PortAbilities::Pfc::kUnverified,
                static_cast<std::uint32_t>(mtu + wire::Ethernet::kOctets + wire::Vlan::kOctets), true};
}

PacketSocketPort::~PacketSocketPort() {
  staged_.release(staged_.waiting().size(), pool_);
  munmap(ring_, ring_octets_);
}

// A slot holds a frame of the link. Longer ones come by the socket's queue.
void PacketSocketPort::map_ring(const PacketSocketPortConfig& config) {
  constexpr std::uint32_t kUnit = TPACKET_ALIGNMENT;
  const auto frame = static_cast<std::uint32_t>(config.mtu + wire::Ethernet::kOctets + wire::Vlan::kOctets);
  slot_octets_ = (kSlotHeader + frame + kUnit - 1) / kUnit * kUnit;
  slots_per_block_ = kBlockOctets / slot_octets_;
  blocks_ = std::max<std::uint32_t>(config.ring_octets / kBlockOctets, 1);
  if (slots_per_block_ == 0)
    fail(name_, fmt::format("an MTU of {} is too large; expected at most {}", config.mtu, 65535));
  ring_octets_ = std::size_t{blocks_} * kBlockOctets;
  const tpacket_req request{.tp_block_size = kBlockOctets,
                            .tp_block_nr = blocks_,
                            .tp_frame_size = slot_octets_,
                            .tp_frame_nr = blocks_ * slots_per_block_};
  void* mapped = MAP_FAILED;
  if (set_option(in_.get(), SOL_PACKET, PACKET_RX_RING, request))
    mapped = mmap(nullptr, ring_octets_, PROT_READ | PROT_WRITE, MAP_SHARED, in_.get(), 0);
  if (mapped == MAP_FAILED)
    fail(name_, fmt::format("no memory for a packet ring of {} bytes: {}", ring_octets_, std::strerror(errno)));
  ring_ = static_cast<std::byte*>(mapped);
}

// Takes and sends from now on. Promiscuous: the addresses of the hosts behind the fabric are not those of the
// interface.
bool PacketSocketPort::bind_to(int index) noexcept {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = index;
  const auto bound = [&](int socket) {
    return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  if (!bound(out_.get())) return false;
  const packet_mreq promiscuous{.mr_ifindex = index, .mr_type = PACKET_MR_PROMISC, .mr_alen = 0, .mr_address = {}};
  if (!set_option(in_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, promiscuous)) return false;
  address.sll_protocol = htons(ETH_P_ALL);
  return bound(in_.get());
}

// An interface that goes down takes its sockets along and back. One that goes away unbinds them: if there is one of its
// name again they are bound to that.
void PacketSocketPort::look_after_interface() noexcept {
  sockaddr_ll bound{};
  socklen_t octets = sizeof bound;
  ifreq request = request_for(name_);
  if (getsockname(in_.get(), reinterpret_cast<sockaddr*>(&bound), &octets) != 0 ||
      ioctl(in_.get(), SIOCGIFINDEX, &request) != 0 || request.ifr_ifindex == bound.sll_ifindex)
    return;
  static_cast<void>(bind_to(request.ifr_ifindex));  // gone again: then the next time
}

tpacket2_hdr* PacketSocketPort::slot() const noexcept {
  std::byte* const at = ring_ + std::size_t{block_} * kBlockOctets + std::size_t{slot_} * slot_octets_;
  return reinterpret_cast<tpacket2_hdr*>(at);
}

void PacketSocketPort::next_slot() noexcept {
  if (++slot_ < slots_per_block_) return;
  slot_ = 0;
  if (++block_ == blocks_) block_ = 0;
}

// A frame that is longer than a slot, or that is to be cut, in one piece in long_frame_.
PacketSocketPort::Frame PacketSocketPort::whole(tpacket2_hdr& header, std::uint32_t status) noexcept {
  std::byte* const in_slot = reinterpret_cast<std::byte*>(&header) + header.tp_mac;
  std::byte* frame = long_frame_.data() + kRoomInFront;
  std::uint32_t kept = header.tp_snaplen;
  std::byte* const offload = frame - sizeof(OffloadHeader);
  ssize_t received = -1;
  if ((status & TP_STATUS_COPY) != 0)
    received = recv(in_.get(), offload, sizeof(OffloadHeader) + SuperFrame::kMostOctets, MSG_DONTWAIT);
  if (received >= static_cast<ssize_t>(sizeof(OffloadHeader)))
    kept = static_cast<std::uint32_t>(static_cast<std::size_t>(received) - sizeof(OffloadHeader));
  else
    std::memcpy(offload, in_slot - sizeof(OffloadHeader), sizeof(OffloadHeader) + kept);
  Frame out{frame, kept, header.tp_len, OffloadHeader::read(offload)};
  if ((status & TP_STATUS_VLAN_VALID) != 0) {
    out.at -= wire::Vlan::kOctets;
    std::memmove(out.at, frame, wire::Ethernet::EtherType::kFirstOctet);
    put_tag(out.at, (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header.tp_vlan_tpid : wire::ether_type::kVlan,
            header.tp_vlan_tci);
    out.kept += wire::Vlan::kOctets;
    out.octets += wire::Vlan::kOctets;
    out.offload.csum_start = static_cast<std::uint16_t>(out.offload.csum_start + wire::Vlan::kOctets);
  }
  return out;
}

// Makes what is in a slot a packet; false if it is a super-frame, which is in super_ then.
bool PacketSocketPort::receive(Packet& packet, tpacket2_hdr& header, std::uint32_t status, std::size_t room) noexcept {
  const std::byte* const in_slot = reinterpret_cast<const std::byte*>(&header) + header.tp_mac;
  OffloadHeader offload = OffloadHeader::read(in_slot - sizeof(OffloadHeader));
  std::byte* const to = packet.header();
  std::uint32_t octets = header.tp_len;
  std::size_t kept = header.tp_snaplen;
  if (kept < octets || offload.gso_type != OffloadHeader::kNoGso) [[unlikely]] {
    const Frame frame = whole(header, status);
    if (frame.offload.gso_type != OffloadHeader::kNoGso && frame.kept == frame.octets) {
      if (super_.start({frame.at, frame.kept}, frame.offload) && super_.longest() <= room) return false;
      super_ = {};
    }
    kept = std::min<std::size_t>(frame.kept, room);
    octets = frame.octets;
    offload = frame.offload;
    std::memcpy(to, frame.at, kept);
  } else if ((status & TP_STATUS_VLAN_VALID) != 0) {
    constexpr std::size_t kAddresses = wire::Ethernet::EtherType::kFirstOctet;
    octets += wire::Vlan::kOctets;
    kept = std::min(kept + wire::Vlan::kOctets, room);
    std::memcpy(to, in_slot, kAddresses);
    put_tag(to, (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header.tp_vlan_tpid : wire::ether_type::kVlan,
            header.tp_vlan_tci);
    std::memcpy(to + kAddresses + wire::Vlan::kOctets, in_slot + kAddresses, kept - kAddresses - wire::Vlan::kOctets);
    offload.csum_start = static_cast<std::uint16_t>(offload.csum_start + wire::Vlan::kOctets);
  } else {
    kept = std::min(kept, room);
    std::memcpy(to, in_slot, kept);
  }
  if (kept == octets) complete_checksum(offload, {to, kept});
  describe_received(packet, octets, stream_, received_.read());
  return true;
}

std::size_t PacketSocketPort::take(PacketPool& pool, std::span<Packet*> packets) {
  if (!staged_.empty()) send_staged();  // nothing more may come to be given for a long time
  std::size_t n = 0;
  while (n < packets.size()) {
    tpacket2_hdr* const header = slot();
    const std::atomic_ref<std::uint32_t> in_ring(header->tp_status);
    const std::uint32_t status = in_ring.load(std::memory_order_acquire);
    if (super_.done() && (status & TP_STATUS_USER) == 0) break;
    Packet* const p = pool.allocate_real();
    if (p == nullptr) break;  // the frame stays in the ring
    if (!super_.done()) {
      const auto octets = static_cast<std::uint32_t>(super_.cut(p->header()));
      stamps_ns_[received_.read() % kStamps] = 0;
      describe_received(*p, octets, stream_, received_.read());
    } else {
      stamps_ns_[received_.read() % kStamps] = std::int64_t{header->tp_sec} * 1'000'000'000 + header->tp_nsec;
      const bool is_packet = receive(*p, *header, status, pool.real_octets());
      in_ring.store(TP_STATUS_KERNEL, std::memory_order_release);
      next_slot();
      if (!is_packet) {
        pool.release(p);
        continue;
      }
    }
    received_.increment();
    packets[n++] = p;
  }
  idle_ = n == 0 ? idle_ + 1 : 0;
  if (idle_ == kIdleTakes) {
    idle_ = 0;
    look_after_interface();
  }
  return n;
}

// Sends until the way out is full. A frame that is refused for good is counted and given up.
void PacketSocketPort::send_staged() noexcept {
  std::array<mmsghdr, StagedPackets::kBurst> messages{};
  std::array<iovec, 2 * StagedPackets::kBurst> pieces;
  while (!staged_.empty()) {
    std::span<Packet* const> waiting = staged_.waiting();
    unsigned count = 0;
    for (std::size_t piece = 0; !waiting.empty(); ++count) {
      JoinedSegments& out = outgoing_[count];
      join_segments(joins_ ? waiting : waiting.first(1), out);
      msghdr& message = messages[count].msg_hdr;
      message.msg_iov = &pieces[piece];
      message.msg_iovlen = 1 + out.frames;
      pieces[piece++] = {out.front.data(), out.front_octets};
      for (Packet* const p : waiting.first(out.frames))
        pieces[piece++] = {p->header() + out.left_out, p->header_octets + std::size_t{p->payload_octets} - out.left_out};
      waiting = waiting.subspan(out.frames);
    }
    const int sent = sendmmsg(out_.get(), messages.data(), count, MSG_DONTWAIT);
    if (sent < 0 && is_passing(errno)) return;
    std::size_t frames = 0;
    for (int i = 0; i < std::max(sent, 1); ++i) frames += outgoing_[static_cast<std::size_t>(i)].frames;
    (sent > 0 ? sent_ : not_sent_).add(frames);
    staged_.release(frames, pool_);
  }
}

std::size_t PacketSocketPort::give(PacketPool& pool, std::span<Packet* const> packets) {
  return staged_.give(packets, pool, [this] { send_staged(); });
}

// 0 also if the clock was set since.
Duration PacketSocketPort::waited(const Packet& packet) const {
  constexpr std::int64_t kMostNs = 1'000'000'000;
  const std::int64_t stamp = stamps_ns_[packet.offset % kStamps];
  timespec now{};
  if (stamp == 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return {};
  const std::int64_t ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - stamp;
  return ns < 0 || ns > kMostNs ? Duration{} : Duration{ns * 1000};
}

OutsidePortCounters PacketSocketPort::counters() const {
  tpacket_stats since{};
  socklen_t octets = sizeof since;
  if (getsockopt(in_.get(), SOL_PACKET, PACKET_STATISTICS, &since, &octets) == 0) host_ring_full_ += since.tp_drops;
  OutsidePortCounters c;
  c.received = received_.read();
  c.sent = sent_.read();
  c.host_ring_full = host_ring_full_;
  c.not_sent = not_sent_.read();
  return c;
}

void PacketSocketPort::set_carrier(bool up) noexcept {
  if (!ours_) return;
  ifreq request = request_for(name_);
  if (ioctl(in_.get(), SIOCGIFFLAGS, &request) != 0) return;  // the interface is gone
  const int flags = up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
  request.ifr_flags = static_cast<short>(flags);
  static_cast<void>(ioctl(in_.get(), SIOCSIFFLAGS, &request));
}

// The flag IFF_RUNNING would say so up to a second later.
bool PacketSocketPort::link_up() const {
  ethtool_value link{.cmd = ETHTOOL_GLINK, .data = 0};
  ifreq request = request_for(name_);
  request.ifr_data = reinterpret_cast<char*>(&link);
  return ioctl(in_.get(), SIOCETHTOOL, &request) == 0 && link.data != 0;
}

}  // namespace railyard
