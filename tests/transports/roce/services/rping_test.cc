// rping between built-in NICs: every octet checked at both ends, through whatever the network does.
#include <array>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/transports/roce/services/network.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce {
namespace {

using namespace literals;
using State = RpingClient::State;
using Failure = RpingClient::Failure;

RpingClientConfig client(std::size_t i, std::uint32_t octets, std::uint64_t count, std::size_t server = 0) {
  RpingClientConfig c;
  c.id = i;
  c.own = Network::address(i);
  c.server = Network::address(server);
  c.own_port = static_cast<std::uint16_t>(40'000 + i);
  c.octets = octets;
  c.count = count;
  c.patience = 1_s;
  return c;
}

// NIC 0 serves, all others are clients of it.
auto clients_of_one(std::uint32_t octets, std::uint64_t count) {
  return [=](std::size_t i, ServiceEndpointConfig& c) {
    c.rping_server = i == 0;
    if (i > 0) c.rping_clients.push_back(client(i, octets, count));
  };
}

// The RoCE packet in a frame over IPv4.
constexpr std::size_t kBthAt = 14 + 20 + 8;
Packet packet_of(const NetworkFrame& f) {
  return *decode(std::span(f.octets).subspan(kBthAt), f.octets.size() - kBthAt);
}
// The payload of a frame, which may be changed: then its ICRC is made anew.
std::span<std::byte> payload_of(NetworkFrame& f) {
  const Packet p = packet_of(f);
  return std::span(f.octets).subspan(kBthAt + p.header_octets(), p.payload_octets);
}

std::string text_of(std::span<const std::byte> octets) {
  std::string text(octets.size(), ' ');
  std::memcpy(text.data(), octets.data(), octets.size());
  return text;
}

TEST(RpingMessage, PingsAreThoseOfRping) {
  std::vector<std::byte> ping(100);
  write_ping(ping, 0);
  std::string text = text_of(ping);
  EXPECT_EQ(text.substr(0, 28), "rdma-ping-0: ABCDEFGHIJKLMNO");
  EXPECT_EQ(text.substr(13, 60),
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzAB") << "'z' and 'A' again";
  EXPECT_EQ(text.back(), '\0');
  EXPECT_TRUE(is_ping(ping, 0));
  EXPECT_FALSE(is_ping(ping, 1));
  write_ping(ping, 12);
  EXPECT_EQ(text_of(ping).substr(0, 16), "rdma-ping-12: MN");
  write_ping(ping, 58);
  EXPECT_EQ(text_of(ping).substr(0, 16), "rdma-ping-58: AB");
  ping[70] ^= std::byte{1};
  EXPECT_FALSE(is_ping(ping, 58));
}

TEST(RpingMessage, AnOfferIsBigEndian) {
  std::array<std::byte, RpingMessage::kOctets> octets;
  write_rping(octets.data(), {0x0102030405060708, 0x0A0B0C0D, 100});
  EXPECT_EQ(text_of(octets), std::string("\1\2\3\4\5\6\7\10\12\13\14\15\0\0\0d", 16));
  EXPECT_EQ(read_rping(octets.data()), (RpingOffer{0x0102030405060708, 0x0A0B0C0D, 100}));
}

TEST(Rping, PingsOfAllSizesGoThereAndBack) {
  for (const std::uint32_t octets : {26u, 100u, 4096u, 65535u})
    for (const PathMtu mtu : {PathMtu::k256, PathMtu::k1024, PathMtu::k4096}) {
      SCOPED_TRACE(octets);
      Network n(2, [&](std::size_t i, ServiceEndpointConfig& c) {
        clients_of_one(octets, 5)(i, c);
        for (RpingClientConfig& r : c.rping_clients) r.path_mtu = mtu;
      });
      n.run(Instant{} + 10_ms);
      const RpingClient& c = n.nic(1).rping_client(0);
      EXPECT_EQ(name(c.state()), "done");
      EXPECT_EQ(c.counters().rounds, 5u);
      EXPECT_EQ(c.counters().octets, 5 * std::uint64_t{octets});
      EXPECT_EQ(c.latency().count(), 5u);
      const ServiceCounters& s = n.nic(0).rping_server()->counters();
      EXPECT_EQ(s.connections, 1u);
      EXPECT_EQ(s.open, 0u);
      EXPECT_EQ(s.rounds, 5u);
      EXPECT_EQ(s.octets, 5 * std::uint64_t{octets});
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(n.nic(i).engine().counters().all_drops(), 0u);
        EXPECT_EQ(n.nic(i).engine().counters().retransmitted_packets.read(), 0u);
        EXPECT_EQ(n.nic(i).connections().size(), 0u) << "forgotten after timewait";
      }
      // READ and WRITE in packets of the path MTU that the client asked for.
      std::uint32_t longest = 0;
      for (const NetworkFrame& f : n.log())
        if (const Packet p = packet_of(f); p.bth.dest_qp != kGsiQp.value) longest = std::max(longest, p.payload_octets);
      EXPECT_EQ(longest, std::min<std::size_t>(octets, roce::octets(mtu)));
    }
}

TEST(Rping, ManyClientsAtATimeAreServed) {
  Network n(9, clients_of_one(5000, 20));
  n.run(Instant{} + 20_ms);
  for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(n.nic(i).rping_client(0).counters().octets, 100'000u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().connections, 8u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().octets, 800'000u);
}

// Everything that can happen to a frame, each to one in a hundred.
unsigned bad_luck(RngStream& rng, NetworkFrame& f) {
  const std::uint64_t luck = rng.below(100);
  if (luck == 0) return 0;
  if (luck == 1) return 2;
  if (luck == 2) f.octets[14 + rng.below(f.octets.size() - 14)] ^= std::byte{0x10};
  if (luck == 3) f.late = 2_us;  // others overtake it
  return 1;
}

TEST(Rping, LossDuplicatesDisorderAndDamageChangeNothingButTime) {
  std::uint64_t damaged = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Network n(3, clients_of_one(65535, 20));
    RngStream rng(Seed{seed}, "bad luck");
    n.fate = [&](std::size_t, NetworkFrame& f) { return bad_luck(rng, f); };
    n.run(Instant{} + 5_s);
    for (std::size_t i = 1; i < 3; ++i) {
      const RpingClient& c = n.nic(i).rping_client(0);
      EXPECT_EQ(name(c.state()), "done") << name(c.failure());
      EXPECT_EQ(c.counters().octets, 20 * 65535u);
      EXPECT_EQ(c.counters().corrupted, 0u);
    }
    const ServiceCounters& s = n.nic(0).rping_server()->counters();
    EXPECT_EQ(s.octets, 40 * 65535u);
    EXPECT_EQ(s.corrupted + s.violations + s.failed, 0u);
    EXPECT_GT(n.nic(0).engine().counters().retransmitted_packets.read(), 0u);
    damaged += n.nic(0).engine().counters().drops(Drop::kIcrc);
  }
  EXPECT_GT(damaged, 10u);
}

TEST(Rping, HowOftenANicIsAskedChangesNothing) {
  std::vector<NetworkFrame> first;
  for (const int idle : {0, 3}) {
    Network n(3, clients_of_one(20'000, 10));
    n.idle_questions = idle;
    n.fate = [](std::size_t i, NetworkFrame&) { return i % 97 == 5 ? 0u : 1u; };
    n.run(Instant{} + 1_s);
    EXPECT_EQ(n.nic(2).rping_client(0).counters().rounds, 10u);
    if (idle == 0)
      first = n.log();
    else
      EXPECT_TRUE(first == n.log());
  }
}

TEST(Rping, DataThatAreNotWhatTheyShouldBeAreNoticedAtBothEnds) {
  Network n(2, clients_of_one(100, 4));
  bool done = false;
  n.fate = [&](std::size_t, NetworkFrame& f) {
    const Packet p = packet_of(f);
    if (done || p.bth.opcode != opcode::kRcReadResponseOnly) return 1u;
    done = true;
    payload_of(f)[50] ^= std::byte{1};
    Network::write_icrc(f.octets);
    return 1u;
  };
  n.run(Instant{} + 10_ms);
  EXPECT_EQ(n.nic(0).rping_server()->counters().corrupted, 1u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().rounds, 3u);
  EXPECT_EQ(n.nic(1).rping_client(0).counters().corrupted, 1u) << "it gets back what the server has read";
  EXPECT_EQ(n.nic(1).rping_client(0).counters().rounds, 3u);
  EXPECT_EQ(name(n.nic(1).rping_client(0).state()), "done");
}

TEST(Rping, WhoIsNotServedIsToldWhy) {
  struct Case {
    std::function<void(std::size_t, ServiceEndpointConfig&)> change;
    cm::RejReason reason;
  };
  const std::vector<Case> cases{
      {[](std::size_t i, ServiceEndpointConfig& c) { c.rping_server = c.rping_server && i != 0; },
       cm::RejReason::kInvalidServiceId},
      {[](std::size_t, ServiceEndpointConfig& c) { c.most_sessions = 0; }, cm::RejReason::kNoResources},
      {[](std::size_t i, ServiceEndpointConfig& c) {
         if (i == 0) c.defaults.path_mtu = PathMtu::k512;
       },
       cm::RejReason::kInvalidPathMtu},
  };
  for (const Case& c : cases) {
    Network n(2, [&](std::size_t i, ServiceEndpointConfig& config) {
      clients_of_one(100, 4)(i, config);
      c.change(i, config);
    });
    n.run(Instant{} + 10_ms);
    const RpingClient& client = n.nic(1).rping_client(0);
    EXPECT_EQ(name(client.failure()), "rejected");
    EXPECT_EQ(client.reason(), c.reason) << name(client.reason());
    EXPECT_EQ(n.nic(0).connections().size(), 0u);
    EXPECT_EQ(n.nic(1).connections().size(), 0u);
  }
}

TEST(Rping, AClientMayAskAgainUntilThereIsRoom) {
  Network n(4, [](std::size_t i, ServiceEndpointConfig& c) {
    clients_of_one(10'000, 5)(i, c);
    c.most_sessions = 1;
    for (RpingClientConfig& r : c.rping_clients) r.retry_after = 500_us;
  });
  n.run(Instant{} + 50_ms);
  std::uint64_t refused = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(name(n.nic(i).rping_client(0).state()), "done");
    EXPECT_EQ(n.nic(i).rping_client(0).counters().rounds, 5u);
    refused += n.nic(i).rping_client(0).attempts_failed();
  }
  EXPECT_GT(refused, 2u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().refused, refused);
}

TEST(Rping, NobodyThereIsUnreachable) {
  Network n(2, [](std::size_t i, ServiceEndpointConfig& c) {
    if (i == 1) c.rping_clients.push_back(client(1, 100, 1, 7));
  });
  n.run(Instant{} + 1_s);
  EXPECT_EQ(name(n.nic(1).rping_client(0).failure()), "unreachable");
  EXPECT_EQ(n.nic(1).connections().counters().sent_again.read(), 15u);
}

// What one client says is changed on the way; the other's pings go on.
struct Garbage {
  const char* what;
  std::function<void(RpingOffer&)> change;
  std::uint64_t violations;
  std::uint64_t failed;
};

TEST(Rping, WhoBreaksTheProtocolLosesItsOwnConnectionAlone) {
  const std::vector<Garbage> cases{{"too short", [](RpingOffer& o) { o.octets = 25; }, 1, 0},
                                   {"too long", [](RpingOffer& o) { o.octets = 65536; }, 1, 0},
                                   {"of nothing", [](RpingOffer& o) { o = {}; }, 1, 0},
                                   {"another's memory", [](RpingOffer& o) { o.r_key ^= 0x100; }, 0, 1},
                                   {"beyond its memory", [](RpingOffer& o) { o.address += 1; }, 0, 1}};
  for (const Garbage& g : cases) {
    SCOPED_TRACE(g.what);
    Network n(3, clients_of_one(100, 50));
    std::size_t offers = 0;
    n.fate = [&](std::size_t, NetworkFrame& f) {
      const Packet p = packet_of(f);
      if (f.from != 1 || p.bth.opcode != opcode::kRcSendOnly || ++offers != 5) return 1u;
      RpingOffer o = read_rping(payload_of(f).data());
      g.change(o);
      write_rping(payload_of(f).data(), o);
      Network::write_icrc(f.octets);
      return 1u;
    };
    n.run(Instant{} + 100_ms);
    const ServiceCounters& s = n.nic(0).rping_server()->counters();
    EXPECT_EQ(s.violations, g.violations);
    EXPECT_EQ(s.failed, g.failed);
    if (g.failed > 0) {
      EXPECT_EQ(s.status, WcStatus::kRemAccessErr);
    }
    EXPECT_EQ(s.open, 0u);
    EXPECT_EQ(s.rounds, 52u);
    EXPECT_EQ(name(n.nic(1).rping_client(0).state()), "failed");
    EXPECT_EQ(n.nic(1).rping_client(0).counters().rounds, 2u);
    EXPECT_EQ(n.nic(2).rping_client(0).counters().rounds, 50u);
    EXPECT_EQ(n.nic(0).connections().size(), 0u);
  }
}

TEST(Rping, AMessageOfAnotherLengthIsAViolation) {
  // A client's own message, one octet longer than a message is: by a QP of a third kind of peer.
  Network n(2, clients_of_one(100, 50));
  std::size_t offers = 0;
  n.fate = [&](std::size_t, NetworkFrame& f) {
    const Packet p = packet_of(f);
    if (f.from != 1 || p.bth.opcode != opcode::kRcSendOnly || ++offers != 3) return 1u;
    BthValues bth = p.bth;
    bth.pad_cnt = 1;  // 15 octets
    write_bth(f.octets.data() + kBthAt, bth);
    Network::write_icrc(f.octets);
    return 1u;
  };
  n.run(Instant{} + 100_ms);
  EXPECT_EQ(n.nic(0).rping_server()->counters().violations, 1u);
  EXPECT_EQ(name(n.nic(1).rping_client(0).failure()), "disconnected");
}

TEST(Rping, ARequestThatIsNoneEndsTheConnection) {
  Network n(2, clients_of_one(100, 50));
  std::size_t offers = 0;
  n.fate = [&](std::size_t, NetworkFrame& f) {
    BthValues bth = packet_of(f).bth;
    if (f.from != 1 || bth.opcode != opcode::kRcSendOnly || ++offers != 3) return 1u;
    bth.opcode = opcode::kRcSendMiddle;  // of no message
    write_bth(f.octets.data() + kBthAt, bth);
    Network::write_icrc(f.octets);
    return 1u;
  };
  n.run(Instant{} + 100_ms);
  EXPECT_EQ(n.nic(0).rping_server()->counters().violations, 1u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().open, 0u);
  EXPECT_EQ(name(n.nic(1).rping_client(0).failure()), "error");
  EXPECT_EQ(n.nic(1).rping_client(0).counters().status, WcStatus::kRemInvReqErr);
  EXPECT_EQ(n.nic(0).connections().size(), 0u);
}

TEST(Rping, WhoStopsAnsweringIsGivenUp) {
  Network n(3, clients_of_one(100, 1000));
  n.fate = [](std::size_t i, NetworkFrame& f) { return i > 200 && f.from == 1 ? 0u : 1u; };
  n.run(Instant{} + 3_s);
  // The client hears the server, but is not heard; and the other way round.
  EXPECT_EQ(name(n.nic(1).rping_client(0).state()), "failed");
  const ServiceCounters& s = n.nic(0).rping_server()->counters();
  EXPECT_EQ(s.failed, 1u);
  EXPECT_EQ(s.status, WcStatus::kRetryExcErr);
  EXPECT_EQ(n.nic(2).rping_client(0).counters().rounds, 1000u);
  EXPECT_EQ(n.nic(0).connections().size(), 0u);
}

TEST(Rping, AServerThatSaysNothingAnyMoreIsGivenUpAfterAWhile) {
  Network n(2, clients_of_one(100, 1000));
  // All that it sends but acknowledgements.
  n.fate = [](std::size_t i, NetworkFrame& f) {
    return i > 100 && f.from == 0 && packet_of(f).bth.opcode != opcode::kRcAcknowledge ? 0u : 1u;
  };
  n.run(Instant{} + 900_ms);
  EXPECT_FALSE(n.nic(1).rping_client(0).state() == State::kDone);
  n.run(Instant{} + 5_s);
  const Failure why = n.nic(1).rping_client(0).failure();
  EXPECT_TRUE(why == Failure::kNoAnswer || why == Failure::kDisconnected) << name(why);
}

TEST(Rping, ConnectionsThatHaveEndedMakeRoomForOthers) {
  Network n(6, [](std::size_t i, ServiceEndpointConfig& c) {
    clients_of_one(1000, 3)(i, c);
    c.most_sessions = 1;
    c.engine.most_qps = 1;
    for (RpingClientConfig& r : c.rping_clients) r.start = Instant{} + 5_ms * static_cast<std::int64_t>(i);
  });
  n.run(Instant{} + 100_ms);
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(name(n.nic(i).rping_client(0).state()), "done") << i;
  EXPECT_EQ(n.nic(0).rping_server()->counters().connections, 5u);
  EXPECT_EQ(n.nic(0).engine().counters().all_drops(), 0u);
}

TEST(Rping, AStopEndsTheConnectionInGoodOrder) {
  Network n(2, clients_of_one(1000, 0));
  n.run(Instant{} + 1_ms);
  n.nic(1).stop_at(n.now());
  n.run(Instant{} + 20_ms);
  EXPECT_EQ(name(n.nic(1).rping_client(0).state()), "done");
  EXPECT_GT(n.nic(1).rping_client(0).counters().rounds, 20u);
  EXPECT_EQ(n.nic(0).rping_server()->counters().rounds, n.nic(1).rping_client(0).counters().rounds);
  EXPECT_EQ(n.nic(0).rping_server()->counters().open, 0u);
}

// What another process is told of a NIC is all that it counts.
TEST(Rping, FiguresAreExchanged) {
  Network network(2, clients_of_one(3000, 5));
  network.run(Instant{} + 100_ms);
  ASSERT_EQ(network.nic(1).rping_client(0).state(), State::kDone);
  Network elsewhere(2, clients_of_one(3000, 5));
  for (std::size_t i = 0; i < 2; ++i) {
    StateArchive out;
    network.nic(i).exchange_figures(out);
    StateArchive in{std::span(out.written())};
    elsewhere.nic(i).exchange_figures(in);
    EXPECT_EQ(in.left(), 0u);
    EXPECT_EQ(elsewhere.nic(i).engine().counters().sent_packets.read(),
              network.nic(i).engine().counters().sent_packets.read());
    EXPECT_EQ(elsewhere.nic(i).connections().counters().sent.read(), network.nic(i).connections().counters().sent.read());
  }
  const RpingClient& client = elsewhere.nic(1).rping_client(0);
  EXPECT_EQ(client.state(), State::kDone);
  EXPECT_EQ(client.ended(), network.nic(1).rping_client(0).ended());
  EXPECT_EQ(client.counters().rounds, 5u);
  EXPECT_EQ(client.latency().count(), 5u);
  EXPECT_EQ(elsewhere.nic(0).rping_server()->counters().octets, 5u * 3000);
}

}  // namespace
}  // namespace railyard::roce
