// A built-in server that returns messages, and a client with the addresses that programs have.
//
//   client (10.0.0.1) ---- 1 us ---- server (10.0.0.2), PIDonFEP 0, resource index 1
#include "transports/uet/services/echo_endpoint.h"

#include <array>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

using namespace literals;

constexpr std::uint32_t kJob = 7;
constexpr std::uint16_t kPid = 33, kIndex = 2;  // of the second process at the client's address

EngineConfig config() {
  EngineConfig c;
  c.payload_mtu = 1024;
  c.rto_init = 100_us;
  c.retries = 4;
  return c;
}

struct Client {
  explicit Client(std::uint32_t job)
      : nic(config(), {}, RngStream(Seed{1}, "client"), true), cq(nic.engine().create_cq(64)) {
    AddressVector to;
    to.source = wire::IpAddress(0x0A000001);
    to.destination = wire::IpAddress(0x0A000002);
    server = nic.engine().peer(to);
    context = nic.engine().create_context({.job_id = job,
                                           .pid_on_fep = kPid,
                                           .resource_index = kIndex,
                                           .initiator = std::uint32_t{kPid} << 12 | kIndex,
                                           .cq = cq});
    memory.resize(2 * EchoEndpoint::kMostOctets + 8);
    key = *nic.engine().memory().add(
        {.address = 4096, .octets = memory.size(), .access = Access::kLocalWrite, .memory = memory.data()});
  }
  // The first `octets` of its memory go; what comes back lies behind.
  bool send(std::uint32_t octets, std::optional<std::uint64_t> tag = {}) {
    const std::uint64_t behind = 4096 + octets;
    EXPECT_TRUE(nic.engine().post_receive(now, context,
                                          {.wr_id = 2, .local = {behind, octets, key}, .tagged = tag.has_value(), .match_bits = tag.value_or(0)}));
    return nic.engine()
        .post(now, context,
              {.wr_id = 1,
               .operation = tag ? Operation::kTaggedSend : Operation::kSend,
               .peer = server,
               .local = {4096, octets, key},
               .pid_on_fep = EchoEndpoint::kPidOnFep,
               .resource_index = EchoEndpoint::kResourceIndex,
               .match_bits = tag.value_or(0),
               .header_data = 0x1234})
        .has_value();
  }

  Instant now{};
  UetEndpoint nic;
  CqId cq;
  ContextId context;
  PeerId server{};
  std::vector<std::byte> memory;
  MemoryRegions::Key key = 0;
};

// Carries frames between the two, 1 us each way, for `lasts`; of every `lose` frames one is lost.
void run(Client& client, EchoEndpoint& server, Duration lasts = 50_ms, unsigned lose = 0) {
  struct Frame {
    Instant at;
    Endpoint* to;
    std::vector<std::byte> header, payload;
  };
  std::deque<Frame> wire;
  Instant& now = client.now;
  const Instant until = now + lasts;
  unsigned carried = 0;
  const auto step = [&](Endpoint& from, Endpoint& to) {
    const Readiness r = from.ready(now);
    bool any = false;
    for (std::uint8_t p = kPriorities; p-- > 0;) {
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      for (out.header = header.data(); (r.classes & bit(Priority{p})) != 0 && from.send(now, Priority{p}, {&out, 1}) == 1;
           out = {}, out.header = header.data()) {
        any = true;
        if (lose != 0 && ++carried % lose == 0) continue;
        Frame f{now + 1_us, &to, {header.begin(), header.begin() + out.header_octets}, {}};
        if (out.payload.bytes != nullptr) f.payload.assign(out.payload.bytes, out.payload.bytes + out.payload.octets);
        wire.push_back(std::move(f));
      }
    }
    return any ? now : r.until;
  };
  while (now < until) {
    const Instant next = std::min(step(client.nic, server), step(server, client.nic));
    if (next == now) continue;
    now = std::min({next, wire.empty() ? Instant::never() : wire.front().at, until});
    while (!wire.empty() && wire.front().at <= now) {
      const Frame f = std::move(wire.front());
      wire.pop_front();
      PayloadRef payload;
      payload.octets = static_cast<std::uint32_t>(f.payload.size());
      if (payload.octets > 0) payload.bytes = f.payload.data();
      const RxFrame in{now, now, f.header, payload, true};
      f.to->receive({&in, 1});
    }
  }
}

std::vector<Completion> completions(Client& client) {
  std::vector<Completion> out(16);
  out.resize(client.nic.engine().poll(client.cq, out));
  return out;
}

struct Echo : testing::Test {
  Client client{kJob};
  EchoEndpoint server{config(), {}, RngStream(Seed{1}, "server"), kJob, 32};

  void expect_back(std::uint32_t octets, std::optional<std::uint64_t> tag, unsigned lose = 0) {
    for (std::uint32_t i = 0; i < octets; ++i) client.memory[i] = static_cast<std::byte>(i * 131 + octets);
    ASSERT_TRUE(client.send(octets, tag));
    run(client, server, 50_ms, lose);
    const auto done = completions(client);
    ASSERT_EQ(done.size(), 2u);
    for (const Completion& c : done) {
      EXPECT_TRUE(c.ok()) << name(c.status);
      if (c.work != uet::Work::kReceive) continue;
      EXPECT_EQ(c.octets, octets);
      EXPECT_EQ(c.header_data, 0x1234u);
      EXPECT_EQ(c.match_bits, tag.value_or(0));
    }
    EXPECT_EQ(std::memcmp(client.memory.data(), client.memory.data() + octets, octets), 0);
    EXPECT_EQ(server.counters().messages.read(), 1u);
    EXPECT_EQ(server.counters().returned.read(), 1u);
  }
};

TEST_F(Echo, AMessageComesBack) { expect_back(10'000, {}); }
TEST_F(Echo, ATaggedOneComesBackWithItsTag) { expect_back(3, 0xABCD'EF01'2345); }
TEST_F(Echo, TheLongestComesBack) { expect_back(EchoEndpoint::kMostOctets, {}); }
TEST_F(Echo, LossIsRepairedBothWays) { expect_back(EchoEndpoint::kMostOctets, {}, 5); }

TEST_F(Echo, ALongerOneIsRefused) {
  ASSERT_TRUE(client.send(EchoEndpoint::kMostOctets + 4));
  run(client, server);
  const auto done = completions(client);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, Status::kRefused);
  EXPECT_EQ(server.counters().returned.read(), 0u);
}

// Buffers are used again: more messages than there are, one after the other.
TEST_F(Echo, ServesMoreMessagesThanItHasBuffers) {
  for (std::uint32_t i = 0; i < 2 * EchoEndpoint::kBuffers; ++i) {
    ASSERT_TRUE(client.send(100));
    run(client, server, 200_us);
    ASSERT_EQ(completions(client).size(), 2u) << i;
  }
  EXPECT_EQ(server.counters().returned.read(), 2 * EchoEndpoint::kBuffers);
}

TEST(EchoJobs, AnotherJobIsRefused) {
  Client client(kJob + 1);
  EchoEndpoint server(config(), {}, RngStream(Seed{1}, "server"), kJob, 32);
  ASSERT_TRUE(client.send(100));
  run(client, server);
  const auto done = completions(client);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, Status::kRefused);
  EXPECT_EQ(done[0].return_code, ReturnCode::kBadJobId);
}

}  // namespace
}  // namespace railyard::uet
