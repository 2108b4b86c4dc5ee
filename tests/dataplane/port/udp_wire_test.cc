// Datagrams over the loopback interface, which loses none of a few.
#include "dataplane/port/udp_wire.h"

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railyard {
namespace {

using namespace literals;

wire::UdpEndpoint endpoint(std::uint16_t port, const char* address = "127.0.0.1") {
  return {*wire::IpAddress::parse(address), port};
}

// A port that was free just now.
std::uint16_t free_port() {
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t octets = sizeof in;
  EXPECT_EQ(bind(s, reinterpret_cast<sockaddr*>(&in), sizeof in), 0);
  EXPECT_EQ(getsockname(s, reinterpret_cast<sockaddr*>(&in), &octets), 0);
  close(s);
  return ntohs(in.sin_port);
}

std::vector<std::string> receive(UdpWire& wire, std::size_t n) {
  std::vector<std::string> out;
  std::array<TrunkReceived, TrunkWire::kBurst> in;
  while (out.size() < n)
    for (std::size_t i = 0, got = wire.receive(Instant{}, {}, in); i < got; ++i) {
      out.emplace_back(reinterpret_cast<const char*>(in[i].octets.data()), in[i].octets.size());
    }
  return out;
}

TEST(UdpWire, CarriesDatagramsBothWaysInOnePieceEach) {
  const std::uint16_t a_port = free_port();
  const std::uint16_t b_port = free_port();
  UdpWire a(endpoint(a_port), endpoint(b_port));
  UdpWire b(endpoint(b_port), endpoint(a_port));
  const std::string head = "head", body(9000, 'x');
  const auto octets = [](const std::string& s) { return std::as_bytes(std::span(s)); };
  const std::array datagrams{TrunkDatagram{octets(head), octets(body)}, TrunkDatagram{octets(head), {}}};
  EXPECT_EQ(a.send(datagrams), 2u);
  EXPECT_THAT(receive(b, 2), testing::ElementsAre(head + body, head));
  EXPECT_EQ(b.send(std::span(datagrams).first(1)), 1u);
  EXPECT_THAT(receive(a, 1), testing::ElementsAre(head + body));
  std::array<TrunkReceived, 1> in;
  EXPECT_EQ(a.receive(Instant{}, {}, in), 0u);
}

TEST(UdpWire, WhatComesAfterTheLookBeganIsNoOlderThanThat) {
  const std::uint16_t a_port = free_port();
  const std::uint16_t b_port = free_port();
  UdpWire a(endpoint(a_port), endpoint(b_port));
  UdpWire b(endpoint(b_port), endpoint(a_port));
  const std::string head = "head";
  const TrunkDatagram datagram{std::as_bytes(std::span(head)), {}};
  std::array<TrunkReceived, 1> in;
  for (int i = 0; i < 100; ++i) {
    const Duration look{std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count() * 1000};
    ASSERT_EQ(a.send({&datagram, 1}), 1u);
    while (b.receive(Instant{}, look, in) == 0) continue;
    EXPECT_LE(in[0].age, 1_us) << "but for rounding";
  }
}

TEST(UdpWire, NobodyThereIsNoError) {
  const std::uint16_t port = free_port();
  UdpWire a(endpoint(free_port()), endpoint(port));
  const std::string head = "head";
  const TrunkDatagram datagram{std::as_bytes(std::span(head)), {}};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.send({&datagram, 1}), 1u);
  EXPECT_GT(a.counters().refused, 0u) << "the kernel says so with the one after";
  std::array<TrunkReceived, 1> in;
  EXPECT_EQ(a.receive(Instant{}, {}, in), 0u);
}

std::string error_of(const wire::UdpEndpoint& local, const wire::UdpEndpoint& remote) {
  try {
    UdpWire wire(local, remote);
    return "(no error)";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST(UdpWire, SaysWhatIsWrongWithAnAddress) {
  const std::uint16_t port = free_port();
  const UdpWire first(endpoint(port), endpoint(1));
  EXPECT_EQ(error_of(endpoint(port), endpoint(1)),
            "trunk over UDP: 127.0.0.1:" + std::to_string(port) +
                " is in use by another socket; choose another port, or end its process");
  EXPECT_EQ(error_of(endpoint(4800, "192.0.2.77"), endpoint(1)),
            "trunk over UDP: 192.0.2.77:4800 is not an address of this machine; expected an address of `ip addr`");
}

}  // namespace
}  // namespace railyard
