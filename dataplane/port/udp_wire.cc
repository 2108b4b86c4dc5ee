#include "dataplane/port/udp_wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "dataplane/port/arrival_age.h"
#include "dataplane/trunk/message.h"

namespace railyard {
namespace {

// What the kernel keeps for us while the loop is away: some milliseconds at 25 Gb/s. Without privileges it gives what
// net.core.rmem_max and wmem_max allow.
constexpr int kReceiveBuffer = 16 << 20;
constexpr int kSendBuffer = 4 << 20;
// Longer ones are none of ours.
constexpr std::size_t kMostOctets = kTrunkFrameOctets + kMostTrunkFrameOctets;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t octets = 0;
};

SocketAddress socket_address(const wire::UdpEndpoint& e) {
  SocketAddress a;
  if (e.address.is_v4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(e.port);
    in.sin_addr.s_addr = htonl(e.address.v4());
    std::memcpy(&a.storage, &in, sizeof in);
    a.octets = sizeof in;
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(e.port);
    std::memcpy(&in.sin6_addr, e.address.octets.data(), e.address.octets.size());
    std::memcpy(&a.storage, &in, sizeof in);
    a.octets = sizeof in;
  }
  return a;
}

void set_buffer(int socket, int forced, int asked, int octets) noexcept {
  if (setsockopt(socket, SOL_SOCKET, forced, &octets, sizeof octets) != 0)
    setsockopt(socket, SOL_SOCKET, asked, &octets, sizeof octets);
}

std::int64_t nanoseconds_of(const timespec& t) noexcept { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

// How long ago the kernel took it in. 0 if it does not say, or if its clock was set since.
Duration age_of(msghdr& message, std::int64_t now_ns) noexcept {
  constexpr std::int64_t kMostNs = 1'000'000'000;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp;
    std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    const std::int64_t ns = now_ns - nanoseconds_of(stamp);
    return ns < 0 || ns > kMostNs ? Duration{} : Duration{ns * 1000};
  }
  return {};
}

// The network has no room for now; everything else is about this datagram or the far end.
bool is_full(int error) noexcept { return error == EAGAIN || error == ENOBUFS || error == ENOMEM; }

}  // namespace

struct UdpWire::Buffers {
  std::array<mmsghdr, kBurst> out{};
  std::array<std::array<iovec, 2>, kBurst> pieces{};
  std::array<mmsghdr, kBurst> in{};
  std::array<iovec, kBurst> rooms{};
  std::array<std::array<std::byte, CMSG_SPACE(sizeof(timespec))>, kBurst> stamps{};
  std::vector<std::byte> octets = std::vector<std::byte>(kBurst * kMostOctets);
};

UdpWire::UdpWire(const wire::UdpEndpoint& local, const wire::UdpEndpoint& remote)
    : buffers_(std::make_unique<Buffers>()) {
  const auto fail = [&](const std::string& what) -> void { throw std::runtime_error("trunk over UDP: " + what); };
  if (local.address.is_v4() != remote.address.is_v4())
    fail(fmt::format("{} and {} are of different families", to_string(local), to_string(remote)));
  FileDescriptor s(::socket(local.address.is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!s) fail(fmt::format("no socket: {}", std::strerror(errno)));
  const SocketAddress own = socket_address(local);
  if (bind(s.get(), reinterpret_cast<const sockaddr*>(&own.storage), own.octets) != 0) {
    if (errno == EADDRINUSE)
      fail(fmt::format("{} is in use by another socket; choose another port, or end its process", to_string(local)));
    if (errno == EADDRNOTAVAIL)
      fail(fmt::format("{} is not an address of this machine; expected an address of `ip addr`", to_string(local)));
    if (errno == EACCES) fail(fmt::format("no permission for {}; expected a port above 1023", to_string(local)));
    fail(fmt::format("{} cannot be used: {}", to_string(local), std::strerror(errno)));
  }
  const SocketAddress far = socket_address(remote);
  if (connect(s.get(), reinterpret_cast<const sockaddr*>(&far.storage), far.octets) != 0)
    fail(fmt::format("no route from {} to {} ({})", to_string(local), to_string(remote), std::strerror(errno)));
  set_buffer(s.get(), SO_RCVBUFFORCE, SO_RCVBUF, kReceiveBuffer);
  set_buffer(s.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
  const int on = 1;
  setsockopt(s.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);  // without it clocks align less well
  socket_ = std::move(s);
  for (std::size_t i = 0; i < kBurst; ++i) {
    buffers_->out[i].msg_hdr.msg_iov = buffers_->pieces[i].data();
    buffers_->rooms[i] = {buffers_->octets.data() + i * kMostOctets, kMostOctets};
    buffers_->in[i].msg_hdr.msg_iov = &buffers_->rooms[i];
    buffers_->in[i].msg_hdr.msg_iovlen = 1;
  }
}

UdpWire::~UdpWire() = default;

std::size_t UdpWire::send(std::span<const TrunkDatagram> datagrams) {
  std::size_t done = 0;
  while (done < datagrams.size()) {
    const std::size_t n = std::min(datagrams.size() - done, kBurst);
    for (std::size_t i = 0; i < n; ++i) {
      const TrunkDatagram& d = datagrams[done + i];
      // The kernel only reads them.
      buffers_->pieces[i] = {iovec{const_cast<std::byte*>(d.head.data()), d.head.size()},
                             iovec{const_cast<std::byte*>(d.body.data()), d.body.size()}};
      buffers_->out[i].msg_hdr.msg_iovlen = d.body.empty() ? 1 : 2;
    }
    const int sent = sendmmsg(socket_.get(), buffers_->out.data(), static_cast<unsigned>(n), 0);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && is_full(errno)) {
      return done;
    } else {  // for one reason or another nobody gets this one: no such route, nobody at that port
      refused_.increment();
      ++done;
    }
  }
  return done;
}

std::size_t UdpWire::receive(Instant, Duration wall, std::span<TrunkReceived> datagrams) {
  const auto room = static_cast<unsigned>(std::min(datagrams.size(), kBurst));
  for (unsigned i = 0; i < room; ++i) {
    buffers_->in[i].msg_hdr.msg_control = buffers_->stamps[i].data();
    buffers_->in[i].msg_hdr.msg_controllen = buffers_->stamps[i].size();
  }
  int n = recvmmsg(socket_.get(), buffers_->in.data(), room, 0, nullptr);
  // What the network has to say about an earlier datagram comes first, and once.
  if (n < 0 && !is_full(errno)) n = recvmmsg(socket_.get(), buffers_->in.data(), room, 0, nullptr);
  if (n <= 0) return 0;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    datagrams[i] = {{static_cast<const std::byte*>(buffers_->rooms[i].iov_base), buffers_->in[i].msg_len},
                    age_at(wall, age_of(buffers_->in[i].msg_hdr, nanoseconds_of(now)))};
  return static_cast<std::size_t>(n);
}

TrunkWireCounters UdpWire::counters() const {
  TrunkWireCounters c;
  c.refused = refused_.read();
  return c;
}

}  // namespace railyard
