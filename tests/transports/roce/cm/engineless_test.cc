// Two managers without engines: whoever uses them takes QPs through their states, as rdma_cm does in programs.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transports/roce/cm/ends.h"

namespace railyard::roce::cm {
namespace {

class Engineless : public ::testing::Test {
 protected:
  static CmConfig config(std::size_t i) {
    CmConfig c{.seed = {i + 1}, .response_timeout = 10, .max_retries = 3};
    c.first_comm_id = static_cast<std::uint32_t>(i + 5) << 20;
    c.comm_ids = 1u << 20;
    c.route = [](const wire::IpAddress& own, const wire::IpAddress& peer) {
      AddressVector av;
      av.source = own;
      av.destination = peer;
      return std::optional(av);
    };
    return c;
  }
  static constexpr IpServiceValues kWay{40000, wire::IpAddress(0x0A000001u), wire::IpAddress(0x0A000002u)};
  static ConnectionParameters parameters(std::uint32_t qp) {
    ConnectionParameters p;
    p.qp = QpNumber{qp};
    return p;
  }

  // What is under way arrives, unless `cut`; time passes as timers want it. Returns what happened at end `i`.
  std::string run(std::size_t i, Instant until = Instant{10'000'000}) {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t from = 0; from < 2; ++from)
        while (const auto out = ends[from].next()) {
          any = true;
          said += std::to_string(from) + std::string(name(decode(out->mad)->message)) + " ";
          if (!cut) ends[1 - from].on_mad(now, ip(from), ip(1 - from), out->mad);
        }
      const Instant next = std::min(ends[0].deadline(), ends[1].deadline());
      if (any || next > until) continue;
      now = next;
      for (auto& end : ends) end.on_timer(now);
      any = true;
    }
    std::string what;
    for (std::size_t end = 0; end < 2; ++end)
      for (Event& e : ends[end].take_events()) {
        constexpr std::array kNames{"request",       "established", "rejected", "unreachable", "disconnected",
                                    "timewait_exit", "response",    "look_up",  "found"};
        if (end == i) what += std::string(kNames[static_cast<std::size_t>(e.type)]) + " ";
        last[end] = std::move(e);
      }
    return what;
  }
  void connect() {
    ends[1].listen(PortSpace::kTcp, 7);
    active = ends[0].connect(now, kWay, PortSpace::kTcp, 7, parameters(0x11)).value();
    EXPECT_EQ(run(1), "request ");
    passive = last[1].connection;
    ASSERT_TRUE(ends[1].accept(now, passive, parameters(0x22)));
    EXPECT_EQ(run(0), "response ");
    ASSERT_TRUE(ends[0].establish(now, active));
    EXPECT_EQ(run(1), "established ");
  }

  std::array<ConnectionManager, 2> ends{ConnectionManager(config(0)), ConnectionManager(config(1))};
  std::array<Event, 2> last;
  Instant now{};
  std::string said;
  bool cut = false;
  ConnectionId active{}, passive{};
};

TEST_F(Engineless, TheUserTakesItsQpToRtsBeforeThePeerHears) {
  connect();
  EXPECT_EQ(said, "0REQ 1REP 0RTU ");
  const auto a = ends[0].agreement(active), b = ends[1].agreement(passive);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->remote_qpn, 0x22u);
  EXPECT_EQ(b->remote_qpn, 0x11u);
  EXPECT_EQ(a->sq_psn, b->rq_psn);
  EXPECT_EQ(a->rq_psn, b->sq_psn);
  EXPECT_EQ(a->path_mtu, b->path_mtu);
  EXPECT_EQ(a->ack_timeout, b->ack_timeout);
}

TEST_F(Engineless, CommunicationIdsAreOfTheRangeGiven) {
  connect();
  EXPECT_EQ(active.value >> 20, 5u);
  EXPECT_EQ(passive.value >> 20, 6u);
}

TEST_F(Engineless, AResponseMayBeRejected) {
  ends[1].listen(PortSpace::kTcp, 7);
  active = ends[0].connect(now, kWay, PortSpace::kTcp, 7, parameters(0x11)).value();
  run(1);
  ASSERT_TRUE(ends[1].accept(now, last[1].connection, parameters(0x22)));
  run(0);
  ASSERT_TRUE(ends[0].reject(now, active));
  EXPECT_EQ(run(1), "rejected ");
  EXPECT_EQ(last[1].reason, RejReason::kConsumer);
  EXPECT_FALSE(ends[0].establish(now, active));
}

TEST_F(Engineless, WhoGoesTellsThePeerOnce) {
  connect();
  said.clear();
  ends[0].abandon(now, active);
  EXPECT_EQ(run(1), "disconnected ");
  EXPECT_EQ(said, "0DREQ 1DREP ");
  EXPECT_EQ(run(0, Instant{2'000'000'000'000}), "timewait_exit ");
  EXPECT_EQ(ends[0].size() + ends[1].size(), 0u);
}

TEST_F(Engineless, WhoGoesBeforeTheAnswerSaysSo) {
  ends[1].listen(PortSpace::kTcp, 7);
  active = ends[0].connect(now, kWay, PortSpace::kTcp, 7, parameters(0x11)).value();
  EXPECT_EQ(run(1), "request ");
  ends[1].abandon(now, last[1].connection);
  EXPECT_EQ(run(0), "rejected ");
  EXPECT_EQ(ends[0].size() + ends[1].size(), 0u);
}

TEST_F(Engineless, ADatagramServiceIsLookedUp) {
  ends[1].listen(PortSpace::kUdp, 9);
  const auto hello = octets_of("hello"), world = octets_of("world");
  active = ends[0].look_up(now, kWay, 9, std::nullopt, hello).value();
  EXPECT_EQ(run(1), "look_up ");
  EXPECT_EQ(last[1].space, PortSpace::kUdp);
  EXPECT_EQ(last[1].port, 9u);
  EXPECT_EQ(last[1].addresses, kWay);
  EXPECT_EQ(text_of(last[1].private_data), "hello");
  ASSERT_TRUE(ends[1].answer(last[1].connection, SidrStatus::kValid, QpNumber{0x33}, kUdpQKey, world));
  EXPECT_EQ(run(0), "found ");
  EXPECT_EQ(last[0].remote_qpn, 0x33u);
  EXPECT_EQ(last[0].q_key, kUdpQKey);
  EXPECT_EQ(text_of(last[0].private_data), "world");
  EXPECT_EQ(said, "0SIDR_REQ 1SIDR_REP ");
  EXPECT_EQ(ends[0].size() + ends[1].size(), 0u);
}

TEST_F(Engineless, ALookUpOfNothingIsRefusedAndOfNobodyTimesOut) {
  active = ends[0].look_up(now, kWay, 9, std::nullopt, {}).value();
  EXPECT_EQ(run(0), "unreachable ");
  EXPECT_EQ(last[0].status, SidrStatus::kUnsupportedServiceId);
  cut = true;
  said.clear();
  active = ends[0].look_up(now, kWay, 9, std::nullopt, {}).value();
  EXPECT_EQ(run(0, Instant{1'000'000'000'000}), "unreachable ");
  EXPECT_EQ(last[0].status, SidrStatus::kValid);
  EXPECT_EQ(said, "0SIDR_REQ 0SIDR_REQ 0SIDR_REQ 0SIDR_REQ ");
}

}  // namespace
}  // namespace railyard::roce::cm
