#include "tests/dataplane/port/outside_port_fixture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "dataplane/base/hash.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/port/network_namespace.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/parse.h"
#include "tests/dataplane/port/tcp_frame.h"

namespace railyard::test {
namespace {

FileDescriptor open_socket(const HostNamespace& host, int type, bool v4) {
  const NetworkNamespace inside(host.name());
  return FileDescriptor(socket(v4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int connect_to_us(const FileDescriptor& socket, bool v4) {
  sockaddr_in to4{};
  to4.sin_family = AF_INET;
  to4.sin_port = htons(5000);
  inet_pton(AF_INET, "10.9.0.1", &to4.sin_addr);
  sockaddr_in6 to6{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(5000);
  inet_pton(AF_INET6, "2001:db8::1", &to6.sin6_addr);
  return v4 ? connect(socket.get(), reinterpret_cast<const sockaddr*>(&to4), sizeof to4)
            : connect(socket.get(), reinterpret_cast<const sockaddr*>(&to6), sizeof to6);
}

}  // namespace

void OutsidePortFixture::SetUp() {
  if (const auto why = why_no_namespaces()) GTEST_SKIP() << *why;
  host.emplace();
  host->keep_quiet();
}

OutsidePortFixture::~OutsidePortFixture() {
  EXPECT_EQ(pools.in_use() + few_.in_use(), 0u) << "a packet was lost, or given back twice";
}

Packet* OutsidePortFixture::frame(const FrameSpec& spec) { return make_frame(pool, FecTable{}, spec); }

OutsidePortFixture::Octets OutsidePortFixture::octets(const FrameSpec& spec) {
  Packet* p = frame(spec);
  Octets out;
  assemble(*p, out);
  pool.release(p);
  return out;
}

OutsidePortFixture::Octets OutsidePortFixture::octets_of(const Packet& p) {
  return {p.header(), p.header() + p.header_octets + p.payload_octets};
}

std::vector<Packet*> OutsidePortFixture::take(OutsidePort& port) {
  std::vector<Packet*> all;
  std::array<Packet*, 16> burst;
  for (std::size_t n = port.take(pool, burst); n > 0; n = port.take(pool, burst))
    all.insert(all.end(), burst.begin(), burst.begin() + static_cast<std::ptrdiff_t>(n));
  return all;
}

std::size_t OutsidePortFixture::release(const std::vector<Packet*>& packets) {
  for (Packet* p : packets) pool.release(p);
  return packets.size();
}

bool OutsidePortFixture::give(OutsidePort& port, const FrameSpec& spec) {
  Packet* p = frame(spec);
  if (port.give(pool, {&p, 1}) == 1) return true;
  pool.release(p);
  return false;
}

void OutsidePortFixture::expect_whole_frames(OutsidePort& port, const std::string& name) {
  const HostSocket eth0(*host, "eth0");
  EXPECT_TRUE(port.link_up());
  std::uint64_t number = 0;
  for (const std::uint32_t length : {64u, 1500u, 9018u}) {
    for (const bool real : {false, true}) {
      const FrameSpec spec{.frame_octets = length, .real = real};
      ASSERT_TRUE(give(port, spec));
      EXPECT_EQ(eth0.receive(), octets(spec));

      ASSERT_TRUE(eth0.send(octets(spec)));
      const std::vector<Packet*> taken = take(port);
      ASSERT_EQ(taken.size(), 1u);
      const Packet& p = *taken[0];
      EXPECT_EQ(octets_of(p), octets(spec));
      EXPECT_EQ(p.frame_octets, length);
      EXPECT_EQ(p.header_octets, std::min(length - 4, 256u)) << "enough for all headers";
      EXPECT_EQ(p.stream, hash_string(name));
      EXPECT_EQ(p.offset, number++) << "its number at this port";
      EXPECT_FALSE(p.has(Packet::kElided));
      release(taken);
    }
  }
  EXPECT_EQ(port.counters().sent, 6u);
  EXPECT_EQ(port.counters().received, 6u);
  EXPECT_EQ(port.counters().host_ring_full, 0u);
}

void OutsidePortFixture::expect_tags_stay(OutsidePort& port) {
  const HostSocket eth0(*host, "eth0");
  for (const std::uint32_t length : {68u, 1500u, 9022u}) {
    const FrameSpec spec{.tag = VlanTag{.vid = 9, .pcp = 5}, .frame_octets = length};
    ASSERT_TRUE(eth0.send(octets(spec)));
    const std::vector<Packet*> taken = take(port);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(octets_of(*taken[0]), octets(spec));
    EXPECT_EQ(taken[0]->frame_octets, length);
    release(taken);
    ASSERT_TRUE(give(port, spec));
    EXPECT_EQ(eth0.receive(), octets(spec));
  }
}

void OutsidePortFixture::expect_joined_segments(OutsidePort& port) {
  const HostSocket eth0(*host, "eth0");
  const std::uint64_t sent = port.counters().sent;
  for (const bool v4 : {true, false}) {
    const std::uint64_t before = port.counters().sent;
    const Octets whole = tcp_frame(v4, 10'000, kAck | kPsh);
    SuperFrame super;
    ASSERT_TRUE(super.start(whole, offload(v4, 1448)));
    std::vector<Packet*> segments;
    while (!super.done()) {
      Octets segment(super.longest());
      segment.resize(super.cut(segment.data()));
      segments.push_back(make_frame(pool, FecTable{}, segment));
    }
    ASSERT_EQ(segments.size(), 7u);
    ASSERT_EQ(port.give(pool, segments), 7u);
    // An interface that has just come up takes nothing at first: then they wait in the port.
    for (int i = 0; i < 100'000 && port.counters().sent == before; ++i) release(take(port));
    auto received = eth0.receive();
    ASSERT_TRUE(received && received->size() == whole.size());
    // What is left to the NIC differs: there is none.
    const std::size_t checksum =
        wire::Ethernet::kOctets + (v4 ? wire::Ipv4::kOctets : wire::Ipv6::kOctets) + wire::Tcp::Checksum::kFirstOctet;
    for (const std::size_t at : {checksum, checksum + 1}) (*received)[at] = whole[at];
    EXPECT_EQ(*received, whole);
  }
  EXPECT_EQ(port.counters().sent - sent, 14u) << "frames of the fabric count";
}

void OutsidePortFixture::expect_to_wait_for_memory(OutsidePort& port) {
  const HostSocket eth0(*host, "eth0");
  for (std::uint32_t i = 0; i < 6; ++i) ASSERT_TRUE(eth0.send(octets({.psn = i})));
  std::array<Packet*, 16> first;
  ASSERT_EQ(port.take(few(), first), 4u);
  std::array<Packet*, 16> second;
  EXPECT_EQ(port.take(few(), second), 0u);
  for (std::size_t i = 0; i < 4; ++i) few().release(first[i]);
  ASSERT_EQ(port.take(few(), second), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(octets_of(*second[i]), octets({.psn = 4 + i}));
    few().release(second[i]);
  }
  EXPECT_EQ(port.counters().no_memory, 0u);
}

// Of both families, and a neighbour that is there without being asked.
void OutsidePortFixture::give_addresses() const {
  EXPECT_TRUE(host->run("sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6'"));
  EXPECT_TRUE(host->ip("addr add 10.9.0.2/24 dev eth0") && host->ip("addr add 2001:db8::2/64 dev eth0 nodad"));
  EXPECT_TRUE(host->ip("neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent") &&
              host->ip("neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent"));
}

std::vector<OutsidePortFixture::Octets> OutsidePortFixture::take_of(OutsidePort& port, std::uint8_t protocol) {
  std::vector<Octets> out;
  const std::vector<Packet*> taken = take(port);
  for (const Packet* p : taken)
    if (const auto view = wire::parse_frame(octets_of(*p)); view && view->protocol == protocol)
      out.push_back(octets_of(*p));
  release(taken);
  return out;
}

void OutsidePortFixture::expect_right_checksum(const Octets& frame) {
  const auto view = wire::parse_frame(frame);
  ASSERT_TRUE(view.has_value());
  const std::size_t l4_octets = view->l3_offset + view->ip_octets - view->l4_offset;
  EXPECT_EQ(wire::transport_checksum(view->source, view->destination, view->protocol,
                                     std::span(frame).subspan(view->l4_offset, l4_octets)),
            0);
}

void OutsidePortFixture::expect_whole_checksums(OutsidePort& port) {
  for (const bool v4 : {true, false}) {
    const FileDescriptor udp = open_socket(*host, SOCK_DGRAM, v4);
    ASSERT_EQ(connect_to_us(udp, v4), 0);
    for (const std::size_t octets : {0uz, 1uz, 18uz, 1001uz, 8952uz - 60}) {
      const std::vector<char> payload(octets, 'x');
      ASSERT_EQ(send(udp.get(), payload.data(), octets, 0), static_cast<ssize_t>(octets)) << std::strerror(errno);
      const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kUdp);
      ASSERT_EQ(frames.size(), 1u);
      expect_right_checksum(frames[0]);
    }
    const FileDescriptor tcp = open_socket(*host, SOCK_STREAM, v4);
    EXPECT_LT(connect_to_us(tcp, v4), 0) << "a SYN is on its way";
    const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kTcp);
    ASSERT_EQ(frames.size(), 1u);
    expect_right_checksum(frames[0]);
  }
}

void OutsidePortFixture::expect_segmentation(OutsidePort& port) {
  constexpr int kSegment = 1000;
  for (const bool v4 : {true, false}) {
    const FileDescriptor udp = open_socket(*host, SOCK_DGRAM, v4);
    ASSERT_EQ(setsockopt(udp.get(), SOL_UDP, UDP_SEGMENT, &kSegment, sizeof kSegment), 0) << std::strerror(errno);
    ASSERT_EQ(connect_to_us(udp, v4), 0);
    // Less than a packet, and what comes in more than one burst.
    for (const std::size_t segments : {5uz, 60uz}) {
      Octets payload(segments * kSegment - 10);
      for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i / kSegment + i);
      ASSERT_EQ(send(udp.get(), payload.data(), payload.size(), 0), static_cast<ssize_t>(payload.size()))
          << std::strerror(errno);
      const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kUdp);
      ASSERT_EQ(frames.size(), segments);
      Octets arrived;
      for (const Octets& f : frames) {
        expect_right_checksum(f);
        const std::size_t headers = wire::parse_frame(f)->l4_offset + 8uz;
        EXPECT_LE(f.size() - headers, std::size_t{kSegment});
        arrived.insert(arrived.end(), f.begin() + static_cast<std::ptrdiff_t>(headers), f.end());
      }
      EXPECT_EQ(arrived, payload);
    }
  }
}

}  // namespace railyard::test
