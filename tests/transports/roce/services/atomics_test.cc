// Exchanges of atomics with a server of them: what is done wrong, twice or not at all is seen at both ends.
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"
#include "transports/roce/cm/gsi.h"
#include "transports/roce/services/atomics_server.h"

namespace railyard::roce {
namespace {

using namespace literals;
using State = AtomicsExchange::State;

// End 1 serves; end 0 connects, as the client of an exchange or as whoever the test wants it to be.
class Atomics : public testing::Test {
 protected:
  Atomics() {
    PairConfig config;
    config.connect = false;
    pair_ = std::make_unique<Pair>(config);
    for (std::size_t i = 0; i < 2; ++i) {
      cm::CmConfig cm{.seed = {i + 1}, .response_timeout = 6, .timewait = 1_ms};
      cm.route = [](const wire::IpAddress& own, const wire::IpAddress& peer) {
        AddressVector av;
        av.source = own;
        av.destination = peer;
        av.priority = Priority{0};
        return std::optional(av);
      };
      managers_[i] = std::make_unique<cm::ConnectionManager>(pair_->engine(i), cm);
      gsis_[i] = std::make_unique<cm::Gsi>(Instant{}, pair_->engine(i), *managers_[i]);
      contexts_[i].emplace(ServiceContext{.engine = pair_->engine(i),
                                          .connections = *managers_[i],
                                          .cq = pair_->engine(i).create_cq(512),
                                          .defaults = {.ack_timeout = 4}});
    }
    server_.emplace(*contexts_[1], 2);
  }

  // Connects; then `established_` is said of it.
  void connect() {
    const ProtectionDomain domain{contexts_[0]->next_domain++};
    qp_ = create_service_qp(*contexts_[0], domain).value();
    exchange_.emplace(pair_->engine(0), domain);
    cm::ConnectionParameters p = contexts_[0]->defaults;
    p.qp = qp_;
    p.access_flags = AtomicsExchange::access();
    connection_ = managers_[0]
                      ->connect(pair_->now(),
                                {.source_port = 40'000,
                                 .source = wire::IpAddress(0x0A000001u),
                                 .destination = wire::IpAddress(0x0A000002u)},
                                cm::PortSpace::kTcp, kAtomicsPort, p)
                      .value();
    run(200_us);
    ASSERT_TRUE(established_);
  }
  void exchange(std::uint32_t atomics, Duration patience = 20_ms) {
    connect();
    exchange_->start(pair_->now(), qp_);
    exchange_->offer(pair_->now(), atomics);
    run(patience);
  }
  void disconnect() {
    EXPECT_TRUE(managers_[0]->disconnect(pair_->now(), connection_));
    run(3_ms);
  }

  void run(Duration time) {
    for (const Instant until = pair_->now() + time; pair_->now() < until; pair_->run_until(pair_->now() + 2_us))
      for (std::size_t i = 0; i < 2; ++i) {
        managers_[i]->on_timer(pair_->now());
        gsis_[i]->run(pair_->now());
        take_events(i);
        std::array<Completion, 16> some;
        while (const std::size_t n = pair_->engine(i).poll(contexts_[i]->cq, some))
          for (const Completion& c : std::span(some).first(n)) on_completion(i, c);
      }
  }
  void take_events(std::size_t i) {
    for (const AsyncEvent& e : pair_->engine(i).take_events())
      if (i == 1 && e.type != AsyncEventType::kPathEstablished)
        server_->on_invalid_request(pair_->now(), QpNumber{e.number});
    for (const cm::Event& e : managers_[i]->take_events()) {
      if (i == 0) {
        established_ = established_ || e.type == cm::EventType::kEstablished;
        ended_ = ended_ || e.type == cm::EventType::kDisconnected;
      } else if (e.type == cm::EventType::kConnectRequest) {
        server_->on_request(pair_->now(), e);
      } else {
        EXPECT_TRUE(server_->on_event(pair_->now(), e));
      }
    }
  }
  void on_completion(std::size_t i, const Completion& c) {
    if (i == 1) {
      EXPECT_TRUE(server_->on_completion(pair_->now(), c));
    } else if (c.ok()) {
      exchange_->on_completion(pair_->now(), c);
    }
  }

  // A message of a client of the test's making; `octets` of it.
  void say(const RpingOffer& message, std::uint32_t octets = RpingMessage::kOctets) {
    if (!memory_)
      memory_.emplace(pair_->engine(0), ProtectionDomain{contexts_[0]->next_domain - 1}, 4096, Access::kRemoteAtomic);
    write_rping(memory_->octets().data() + 64, message);
    EXPECT_TRUE(pair_->engine(0).post_recv(pair_->now(), qp_, {.wr_id = 0, .sges = {memory_->piece(128, 16)}}));
    EXPECT_TRUE(pair_->engine(0).post_send(pair_->now(), qp_, {.sges = {memory_->piece(64, octets)}}));
    run(100_us);
  }
  RpingOffer own_word(std::uint32_t atomics) {
    return {memory_ ? memory_->address() : 0x10000, memory_ ? memory_->key() : 0, atomics};
  }

  std::unique_ptr<Pair> pair_;
  std::array<std::unique_ptr<cm::ConnectionManager>, 2> managers_;
  std::array<std::unique_ptr<cm::Gsi>, 2> gsis_;
  std::array<std::optional<ServiceContext>, 2> contexts_;
  std::optional<AtomicsServer> server_;
  std::optional<AtomicsExchange> exchange_;
  std::optional<ServiceMemory> memory_;
  QpNumber qp_{};
  cm::ConnectionId connection_{};
  bool established_ = false;
  bool ended_ = false;
};

TEST(AtomicStep, AddsSwapsAndComparesWithSomethingElse) {
  EXPECT_EQ(word_after(0), 0u);
  EXPECT_EQ(word_after(1), 0x1'0000'0001u);
  EXPECT_EQ(word_after(2), ~std::uint64_t{0x1'0000'0001});
  EXPECT_EQ(word_after(3), word_after(2));
  EXPECT_EQ(word_after(4), word_after(2) + 0x4'0000'0004);
}

TEST_F(Atomics, OfBothEndsAreRight) {
  exchange(100);
  EXPECT_EQ(exchange_->state(), State::kRight);
  EXPECT_EQ(server_->counters().rounds, 200u);
  EXPECT_EQ(server_->counters().octets, 1600u);
  EXPECT_EQ(server_->counters().connections, 1u);
  EXPECT_EQ(server_->counters().open, 1u);
  disconnect();
  EXPECT_EQ(server_->counters().open, 0u);
  EXPECT_EQ(server_->counters().corrupted + server_->counters().violations + server_->counters().failed, 0u);
}

TEST_F(Atomics, AreDoneOnceThoughTheyAndTheirAnswersAreLostOrComeTwice) {
  pair_->fate = [](const Seen& s) { return Fate{.lost = s.index % 7 == 3, .copies = s.index % 5 == 1 ? 2u : 1u}; };
  exchange(300, 400_ms);
  EXPECT_EQ(exchange_->state(), State::kRight);
  EXPECT_EQ(server_->counters().rounds, 600u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(pair_->counters(i).retransmitted_packets.read(), 20u);
    EXPECT_GT(pair_->counters(i).duplicate_request.read(), 20u);
  }
}

TEST_F(Atomics, AWordThatIsSaidToBeAnotherIsWrong) {
  connect();
  memory_.emplace(pair_->engine(0), ProtectionDomain{2}, 4096, Access::kRemoteAtomic);
  say(own_word(1));
  say({word_after(1) + 1, 0, 0});
  EXPECT_EQ(server_->counters().corrupted, 1u);
  EXPECT_EQ(server_->counters().rounds, 0u);
}

TEST_F(Atomics, AnAtomicThatWasNotDoneIsSeen) {
  connect();
  memory_.emplace(pair_->engine(0), ProtectionDomain{2}, 4096, Access::kRemoteAtomic);
  say(own_word(1));
  // Says what its word would be, and has done nothing to the server's.
  say({word_after(1), 0, 0});
  EXPECT_EQ(server_->counters().corrupted, 1u);
}

TEST_F(Atomics, WhoBreaksTheProtocolLosesItsConnection) {
  const auto broken = [&](const RpingOffer& message, std::uint32_t octets = RpingMessage::kOctets) {
    established_ = ended_ = false;
    const std::uint64_t before = server_->counters().violations;
    connect();
    memory_.reset();
    say(message, octets);
    run(3_ms);
    EXPECT_TRUE(ended_);
    EXPECT_EQ(server_->counters().violations, before + 1);
    EXPECT_EQ(server_->counters().open, 0u);
  };
  broken({0x10000, 1, 0});                 // no atomics
  broken({0x10000, 1, kMostAtomics + 1});  // too many
  broken({0x10000, 1, 1}, 15);             // too short
  EXPECT_EQ(server_->counters().rounds, 0u);
}

TEST_F(Atomics, AKeyThatIsNoneEndsTheConnection) {
  connect();
  say({0x10000, 0x666, 1});
  run(3_ms);
  EXPECT_TRUE(ended_);
  EXPECT_EQ(server_->counters().failed, 1u);
  EXPECT_EQ(server_->counters().status, WcStatus::kRemAccessErr);
}

}  // namespace
}  // namespace railyard::roce
