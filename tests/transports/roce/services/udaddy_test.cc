// A server of udaddy's clients: who asks for its QP is told, and datagrams come back as they went.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/transports/roce/pair.h"
#include "transports/roce/cm/gsi.h"
#include "transports/roce/services/udaddy_server.h"
#include "transports/roce/wire/grh.h"

namespace railyard::roce {
namespace {

using namespace literals;

// End 1 serves; end 0 has a QP 1 and a UD QP of the test's.
class Udaddy : public testing::Test {
 protected:
  Udaddy() {
    PairConfig config;
    config.type = QpType::kUd;
    config.connect = false;
    pair_ = std::make_unique<Pair>(config);
    cm::CmConfig cm{.seed = {1}};
    cm.route = [](const wire::IpAddress& own, const wire::IpAddress& peer) {
      AddressVector av;
      av.source = own;
      av.destination = peer;
      av.priority = Priority{0};
      return std::optional(av);
    };
    manager_ = std::make_unique<cm::ConnectionManager>(pair_->engine(1), cm);
    gsi_ = std::make_unique<cm::Gsi>(Instant{}, pair_->engine(1), *manager_);
    context_.emplace(ServiceContext{
        .engine = pair_->engine(1), .connections = *manager_, .cq = pair_->engine(1).create_cq(512), .defaults = {}});
    server_.emplace(*context_);
    qp1_ = to_rts(pair_->engine(0).create_qp({.type = QpType::kUd,
                                              .domain = ProtectionDomain{1},
                                              .send_cq = pair_->end(0).send_cq,
                                              .recv_cq = pair_->end(0).recv_cq,
                                              .gsi = true}),
                  kGsiQKey);
    qp_ = to_rts(pair_->engine(0).create_qp({.type = QpType::kUd,
                                             .domain = ProtectionDomain{1},
                                             .send_cq = pair_->end(0).send_cq,
                                             .recv_cq = pair_->end(0).recv_cq,
                                             .max_recv_wr = 64}),
                 cm::kUdpQKey);
  }

  QpNumber to_rts(const auto& made, std::uint32_t q_key) {
    using enum QpAttribute;
    const QpAttributes a{.q_key = q_key};
    Engine& e = pair_->engine(0);
    EXPECT_TRUE(made.has_value());
    EXPECT_TRUE(e.modify_qp({}, *made, QpState::kInit, {kPKeyIndex, kPort, kQKey}, a));
    EXPECT_TRUE(e.modify_qp({}, *made, QpState::kRtr, {}, a));
    EXPECT_TRUE(e.modify_qp({}, *made, QpState::kRts, {kSqPsn}, a));
    return *made;
  }

  void run() {
    for (int i = 0; i < 100; ++i) {
      gsi_->run(pair_->now());
      std::array<Completion, 16> some;
      while (const std::size_t n = pair_->engine(1).poll(context_->cq, some))
        for (const Completion& c : std::span(some).first(n)) EXPECT_TRUE(server_->on_completion(pair_->now(), c));
      pair_->run_until(pair_->now() + 5_us);
    }
  }

  // Asks for the QP of `port`; what is answered.
  std::optional<cm::SidrRep> resolve(std::uint16_t port, bool with_header = true) {
    cm::SidrReq req{.request_id = 0x11223344, .service_id = cm::service_id(cm::PortSpace::kUdp, port)};
    if (with_header)
      cm::write_ip_service(req.private_data.octets.data(),
                           {40'000, wire::IpAddress(0x0A000001u), wire::IpAddress(0x0A000002u)});
    cm::encode(pair_->memory(0, 0, cm::kMadOctets).first<cm::kMadOctets>(), {.transaction_id = 77, .message = req});
    EXPECT_TRUE(pair_->engine(0).post_recv(pair_->now(), qp1_, {.wr_id = 1, .sges = {pair_->local(0, 4096, 296)}}));
    EXPECT_TRUE(pair_->engine(0).post_send(pair_->now(), qp1_,
                                           {.wr_id = 2,
                                            .opcode = SendOpcode::kSend,
                                            .sges = {pair_->local(0, 0, cm::kMadOctets)},
                                            .ah = pair_->end(0).ah,
                                            .remote_qp = kGsiQp,
                                            .remote_q_key = kGsiQKey}));
    run();
    const std::vector<Completion> came = pair_->received(0);
    if (came.size() != 1) return std::nullopt;
    const auto answer = cm::decode(pair_->memory(0, 4096 + kGrhOctets, cm::kMadOctets));
    EXPECT_TRUE(answer.has_value());
    EXPECT_EQ(answer->transaction_id, 77u);
    return std::get<cm::SidrRep>(answer->message);
  }
  // A datagram of end 0, and where its answer goes.
  void send(std::uint64_t n, std::size_t octets, SendOpcode opcode = SendOpcode::kSendImm) {
    const std::size_t at = 8192 + n * 8192;
    pair_->fill(0, at, octets, n + 1);
    EXPECT_TRUE(
        pair_->engine(0).post_recv(pair_->now(), qp_, {.wr_id = n, .sges = {pair_->local(0, at + 4096, 1064)}}));
    EXPECT_TRUE(pair_->engine(0).post_send(pair_->now(), qp_,
                                           {.wr_id = n,
                                            .opcode = opcode,
                                            .sges = {pair_->local(0, at, octets)},
                                            .immediate = qp_.value,
                                            .ah = pair_->end(0).ah,
                                            .remote_qp = server_->qp(),
                                            .remote_q_key = cm::kUdpQKey}));
  }

  std::unique_ptr<Pair> pair_;
  std::unique_ptr<cm::ConnectionManager> manager_;
  std::unique_ptr<cm::Gsi> gsi_;
  std::optional<ServiceContext> context_;
  std::optional<UdaddyServer> server_;
  QpNumber qp1_{};
  QpNumber qp_{};
};

TEST_F(Udaddy, ItsQpIsResolved) {
  const auto rep = resolve(kUdaddyPort);
  ASSERT_TRUE(rep.has_value());
  EXPECT_EQ(*rep, (cm::SidrRep{.request_id = 0x11223344,
                               .status = 0,
                               .qpn = server_->qp().value,
                               .service_id = 0x01111C06,
                               .q_key = 0x01234567}));
  EXPECT_EQ(server_->counters().connections, 1u);
}

TEST_F(Udaddy, WhoAsksForNothingThatIsThereIsToldSo) {
  EXPECT_EQ(resolve(7175)->status, static_cast<std::uint8_t>(cm::SidrStatus::kUnsupportedServiceId));
  // Without the addresses that rdma_cm says: version and family are 0.
  EXPECT_EQ(resolve(kUdaddyPort, false)->status, static_cast<std::uint8_t>(cm::SidrStatus::kRejected));
  EXPECT_EQ(server_->counters().connections, 0u);
  EXPECT_EQ(manager_->counters().ignored[static_cast<std::size_t>(cm::Ignored::kRefused)].read(), 2u);
}

TEST_F(Udaddy, DatagramsComeBackAsTheyWent) {
  const std::array<std::size_t, 5> sizes{0, 1, 100, 1023, 1024};
  for (std::size_t n = 0; n < sizes.size(); ++n) send(n, sizes[n]);
  run();
  const std::vector<Completion> came = pair_->received(0);
  ASSERT_EQ(came.size(), sizes.size());
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    EXPECT_TRUE(came[n].ok());
    EXPECT_TRUE(came[n].with_immediate);
    EXPECT_EQ(came[n].immediate, server_->qp().value);
    EXPECT_EQ(came[n].source_qp, server_->qp());
    EXPECT_EQ(came[n].octets, kGrhOctets + sizes[n]);
    const std::size_t at = 8192 + n * 8192;
    EXPECT_TRUE(std::ranges::equal(pair_->memory(0, at, sizes[n]), pair_->memory(0, at + 4096 + kGrhOctets, sizes[n])));
  }
  EXPECT_EQ(server_->counters().rounds, sizes.size());
  EXPECT_EQ(server_->counters().octets, 0u + 1 + 100 + 1023 + 1024);
}

// More than there are places, and some that nobody can answer: the places are free again.
TEST_F(Udaddy, ItsPlacesAreUsedAgain) {
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t n = 0; n < 16; ++n) send(n, 200, n % 4 == 3 ? SendOpcode::kSend : SendOpcode::kSendImm);
    run();
    EXPECT_EQ(pair_->received(0).size(), 12u) << round;
    // Those that were not answered have left their receive requests.
    for (std::uint64_t n = 0; n < 4; ++n) {
      EXPECT_TRUE(pair_->engine(0).post_send(pair_->now(), qp_,
                                             {.wr_id = n,
                                              .opcode = SendOpcode::kSendImm,
                                              .sges = {pair_->local(0, 0, 8)},
                                              .immediate = qp_.value,
                                              .ah = pair_->end(0).ah,
                                              .remote_qp = server_->qp(),
                                              .remote_q_key = cm::kUdpQKey}));
    }
    run();
    EXPECT_EQ(pair_->received(0).size(), 4u);
  }
  EXPECT_EQ(server_->counters().rounds, 20u * 16);
  EXPECT_EQ(server_->counters().violations, 20u * 4);
}

}  // namespace
}  // namespace railyard::roce
