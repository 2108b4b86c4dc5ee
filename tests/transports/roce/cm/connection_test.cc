// Two ends that connect: what is said, what is lost or comes twice on the way, and what becomes of it.
#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/base/units.h"
#include "tests/transports/roce/cm/ends.h"

namespace railyard::roce::cm {
namespace {

using namespace literals;

TEST(Connection, EndsInTwoQpsInRts) {
  for (const QpType type : {QpType::kRc, QpType::kUc}) {
    Ends ends(type);
    const QpNumber qp = ends.qp(0);
    const auto hello = octets_of("hello"), world = octets_of("world");
    ends.accepted.private_data = world;
    ends.connect(qp, {.private_data = hello});
    ends.run();
    EXPECT_EQ(ends.said(), "0REQ 1REP 0RTU");
    EXPECT_EQ(ends.happened(0), "established");
    EXPECT_EQ(text_of(ends.last[0].private_data), "world");
    EXPECT_EQ(ends.happened(1), "request established");
    ends.expect_connected(qp, ends.last[1].qp);
  }
}

TEST(Connection, ARequestSaysWhoAndWhat) {
  Ends ends;
  ends.accepts = false;
  const auto hello = octets_of("hello");
  ends.connect(ends.qp(0), {.private_data = hello});
  ends.run(Instant{10'000'000});
  EXPECT_EQ(ends.happened(1), "request");
  const Event& e = ends.last[1];
  EXPECT_EQ(e.port, kPort);
  EXPECT_EQ(e.addresses, (IpServiceValues{40000, ip(0), ip(1)}));
  EXPECT_EQ(text_of(e.private_data), "hello");
  const Req& req = std::get<Req>(ends.log.front().message);
  EXPECT_EQ(req.service_id, 0x01060000u + kPort);
  EXPECT_EQ(req.local_ca_guid, 0xA0u);
  EXPECT_EQ(req.primary.local_gid, ip(0));
  EXPECT_EQ(req.primary.remote_gid, ip(1));
  EXPECT_EQ(req.primary.traffic_class, 26 << 2 | 2) << "DSCP and ECT(0)";
}

// As Linux means it (ib_cm takes its own starting PSN for rq_psn and the peer's for sq_psn): found by talking to it.
TEST(Connection, AStartingPsnIsWhatTheOtherEndBeginsToSendWith) {
  Ends ends;
  const QpNumber active = ends.qp(0);
  ends.connect(active);
  ends.run();
  ends.happened(1);
  const Req& req = std::get<Req>(ends.log[0].message);
  const Rep& rep = std::get<Rep>(ends.log[1].message);
  ASSERT_NE(req.starting_psn, rep.starting_psn);
  const QpAttributes& a = ends.state(0, active).info.attributes;
  const QpAttributes& b = ends.state(1, ends.last[1].qp).info.attributes;
  EXPECT_EQ(b.sq_psn, req.starting_psn);
  EXPECT_EQ(a.rq_psn, req.starting_psn);
  EXPECT_EQ(a.sq_psn, rep.starting_psn);
  EXPECT_EQ(b.rq_psn, rep.starting_psn);
}

TEST(Connection, EachGetsWhatBothCanDo) {
  Ends ends;
  const QpNumber qp = ends.qp(0);
  ends.accepted = {.responder_resources = 3, .initiator_depth = 20, .rnr_retry_count = 2, .path_mtu = PathMtu::k4096};
  ends.connect(qp, {.access_flags = Access::kRemoteRead,
                    .responder_resources = 8,
                    .initiator_depth = 5,
                    .retry_count = 4,
                    .rnr_retry_count = 6,
                    .path_mtu = PathMtu::k2048,
                    .ack_timeout = 15});
  ends.run();
  ends.happened(1);
  const QpAttributes& a = ends.state(0, qp).info.attributes;
  const QpAttributes& b = ends.state(1, ends.last[1].qp).info.attributes;
  EXPECT_EQ(a.max_rd_atomic, 3);  // it wants 5, the peer serves 3
  EXPECT_EQ(b.max_dest_rd_atomic, 3);
  EXPECT_EQ(b.max_rd_atomic, 8);  // it wants 20, the peer serves 8
  EXPECT_EQ(a.max_dest_rd_atomic, 8);
  EXPECT_EQ(a.path_mtu, PathMtu::k2048);
  EXPECT_EQ(b.path_mtu, PathMtu::k2048);
  EXPECT_EQ(a.timeout, 15);
  EXPECT_EQ(b.timeout, 15);
  EXPECT_EQ(a.retry_cnt, 4);
  EXPECT_EQ(b.retry_cnt, 4);
  EXPECT_EQ(a.rnr_retry, 2) << "what the peer wants";
  EXPECT_EQ(b.rnr_retry, 6);
  EXPECT_TRUE(a.access_flags.has(Access::kRemoteRead));
  EXPECT_FALSE(b.access_flags.has(Access::kRemoteRead));
}

// ---- Loss and duplicates -------------------------------------------------------------------------------------------

TEST(Connection, EachMessageMayBeLostOnceOrComeTwice) {
  for (const What what : {What::kLost, What::kTwice})
    for (const std::string one : {"REQ", "REP", "RTU", "DREQ", "DREP"}) {
      SCOPED_TRACE(one);
      Ends ends;
      ends.fate = [&](const Sent& s) { return s.name == one && s.nth == 0 ? what : What::kArrives; };
      const QpNumber qp = ends.qp(0);
      const ConnectionId id = ends.connect(qp);
      ends.run(Instant{} + 10_s);
      EXPECT_EQ(ends.happened(0), "established");
      EXPECT_EQ(ends.happened(1), "request established") << "once each";
      ends.expect_connected(qp, ends.last[1].qp);
      ASSERT_TRUE(ends.manager(0).disconnect(ends.now(), id));
      ends.run();
      EXPECT_EQ(ends.happened(0), "disconnected timewait_exit");
      EXPECT_EQ(ends.happened(1), "disconnected timewait_exit");
      EXPECT_EQ(ends.state(0, qp).info.state, QpState::kErr);
      EXPECT_EQ(ends.state(1, ends.last[1].qp).info.state, QpState::kErr);
      EXPECT_EQ(ends.manager(0).size() + ends.manager(1).size(), 0u);
      const std::uint64_t again =
          ends.manager(0).counters().sent_again.read() + ends.manager(1).counters().sent_again.read();
      EXPECT_EQ(again > 0, what == What::kLost);
    }
}

TEST(Connection, WhatGoesAgainIsTheSame) {
  Ends ends;
  ends.fate = [](const Sent& s) { return s.nth == 0 && s.name != "RTU" ? What::kLost : What::kArrives; };
  ends.connect(ends.qp(0));
  ends.run();
  EXPECT_EQ(ends.happened(0), "established");
  for (const std::string what : {"REQ", "REP", "RTU"}) {
    std::vector<Message> all;
    for (const Sent& s : ends.log)
      if (s.name == what) all.push_back(s.message);
    EXPECT_GT(all.size(), 1u) << what;
    EXPECT_EQ(std::ranges::count(all, all.front()), std::ssize(all)) << what;
  }
}

TEST(Connection, ARandomWireConnectsAndEndsAllTheSame) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Ends ends;
    RngStream rng(Seed{seed}, "wire");
    ends.fate = [&](const Sent&) {
      const auto n = rng.below(10);
      return n < 3 ? What::kLost : n < 5 ? What::kTwice : What::kArrives;
    };
    std::vector<ConnectionId> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(ends.connect(ends.qp(0)));
    ends.run(Instant{} + 200_s);
    EXPECT_EQ(ends.happened(0), "established established established established established");
    EXPECT_EQ(ends.manager(1).size(), 5u);
    for (const ConnectionId id : ids) ASSERT_TRUE(ends.manager(0).disconnect(ends.now(), id));
    ends.run();
    EXPECT_EQ(ends.manager(0).size() + ends.manager(1).size(), 0u);
    for (std::size_t i = 0; i < 2; ++i) {
      const CmCounters& c = ends.manager(i).counters();
      std::uint64_t sum = c.taken.read();
      for (const Counter& n : c.ignored) sum += n.read();
      EXPECT_EQ(c.received.read(), sum);
    }
  }
}

TEST(Connection, DataBeforeTheRtuEstablishesIt) {
  Ends ends;
  ends.fate = [](const Sent& s) { return s.name == "RTU" ? What::kLost : What::kArrives; };
  const QpNumber qp = ends.qp(0);
  ends.connect(qp);
  ends.run(Instant{10'000'000});
  EXPECT_EQ(ends.happened(1), "request");
  ends.manager(1).on_path_established(ends.now(), QpNumber{std::get<Rep>(ends.log[1].message).local_qpn});
  ends.run();
  EXPECT_EQ(ends.happened(1), "established");
  EXPECT_EQ(ends.said(), "0REQ 1REP 0RTU") << "the REP does not go again";
}

// ---- Silence -------------------------------------------------------------------------------------------------------

TEST(Connection, NobodyThereIsUnreachable) {
  Ends ends(QpType::kRc, [](CmConfig& c) {
    c.response_timeout = 10;  // 4.19 ms
    c.max_retries = 3;
  });
  ends.fate = [](const Sent&) { return What::kLost; };
  ends.connect(ends.qp(0));
  ends.run();
  EXPECT_EQ(ends.happened(0), "unreachable");
  EXPECT_EQ(ends.said(), "0REQ 0REQ 0REQ 0REQ 0REJ");
  EXPECT_EQ(ends.now(), Instant{} + local_ack_timeout(10) * 4);
  EXPECT_EQ(ends.manager(0).size(), 0u);
}

TEST(Connection, AnActiveEndThatGoesSilentIsGivenUp) {
  Ends ends;
  ends.fate = [](const Sent& s) { return s.name == "REP" || s.name == "REJ" ? What::kLost : What::kArrives; };
  ends.connect(ends.qp(0));
  ends.run();
  EXPECT_EQ(ends.happened(0), "unreachable");
  EXPECT_EQ(ends.happened(1), "request unreachable timewait_exit");
  EXPECT_EQ(ends.state(1, ends.last[1].qp).info.state, QpState::kErr);
}

TEST(Connection, AnMraBuysTime) {
  Ends ends;
  ends.accepts = false;
  ends.connect(ends.qp(0));
  ends.run(Instant{2'000'000});
  EXPECT_EQ(ends.happened(1), "request");
  const Event request = ends.last[1];
  ASSERT_TRUE(ends.manager(1).working(ends.now(), request.connection, 24));  // 68.7 s
  ends.run(Instant{} + 60_s);
  EXPECT_EQ(ends.said(), "0REQ 1MRA") << "4.3 s would have been its time";
  ends.accept(request);
  ends.run();
  EXPECT_EQ(ends.happened(0), "established");
  EXPECT_EQ(ends.happened(1), "established");
}

// ---- Rejection -----------------------------------------------------------------------------------------------------

TEST(Connection, NobodyListens) {
  Ends ends;
  ends.connect(ends.qp(0), {}, 1);
  ends.run();
  EXPECT_EQ(ends.said(), "0REQ 1REJ");
  EXPECT_EQ(ends.happened(0), "rejected:8");
  EXPECT_EQ(ends.ignored(1, Ignored::kRefused), 1u);
  ends.manager(1).stop_listening(PortSpace::kTcp, kPort);
  ends.connect(ends.qp(0));
  ends.run();
  EXPECT_EQ(ends.happened(0), "rejected:8");
  EXPECT_EQ(name(ends.last[0].reason), "invalid service ID");
}

TEST(Connection, TheApplicationDoesNotWantIt) {
  Ends ends;
  ends.accepts = false;
  ends.connect(ends.qp(0));
  ends.run(Instant{2'000'000});
  ends.happened(1);
  const auto no = octets_of("no");
  ASSERT_TRUE(ends.manager(1).reject(ends.now(), ends.last[1].connection, no));
  ends.run();
  EXPECT_EQ(ends.happened(0), "rejected:28");
  EXPECT_EQ(text_of(ends.last[0].private_data), "no");
  EXPECT_EQ(ends.manager(1).reject(ends.now(), ends.last[1].connection).error(), ConnectError::kUnknownConnection);
}

TEST(Connection, APathMtuThatThePeerDoesNotHaveIsRejected) {
  Ends ends;
  ends.accepted.path_mtu = PathMtu::k1024;
  ends.connect(ends.qp(0), {.path_mtu = PathMtu::k4096});
  ends.run();
  EXPECT_EQ(ends.accepted_error, "path_mtu");
  EXPECT_EQ(ends.happened(0), "rejected:26");
}

// A REQ of our making, as from end 0.
void request(Ends& ends, const std::function<void(Req&)>& change) {
  Req req{.local_comm_id = 77, .service_id = service_id(PortSpace::kTcp, kPort), .local_qpn = 0x999};
  write_ip_service(req.private_data.octets.data(), {.source_port = 1, .source = ip(0), .destination = ip(1)});
  change(req);
  std::array<std::byte, kMadOctets> mad;
  encode(mad, {1, req});
  ends.manager(1).on_mad(ends.now(), ip(0), ip(1), mad);
  ends.run(ends.now() + Duration{5'000'000});
}
std::string rejected(const std::function<void(Req&)>& change) {
  Ends ends;
  request(ends, change);
  if (ends.log.empty() || ends.log[0].name != "REJ") return "not rejected";
  const Rej& rej = std::get<Rej>(ends.log[0].message);
  EXPECT_EQ(rej.remote_comm_id, 77u);
  EXPECT_EQ(rej.message, 0);
  return std::string(name(static_cast<RejReason>(rej.reason)));
}

TEST(Connection, RequestsThatCannotBeMetAreRejectedForTheRightReason) {
  EXPECT_EQ(rejected([](Req&) {}), "not rejected");
  EXPECT_EQ(rejected([](Req& r) { r.transport = 2; }), "unsupported request");
  EXPECT_EQ(rejected([](Req& r) { r.extended_transport = 1; }), "unsupported request");
  EXPECT_EQ(rejected([](Req& r) { r.path_mtu = 0; }), "invalid path MTU");
  EXPECT_EQ(rejected([](Req& r) { r.path_mtu = 6; }), "invalid path MTU");
  EXPECT_EQ(rejected([](Req& r) { r.private_data.octets[0] = std::byte{1}; }), "consumer reject");
  EXPECT_EQ(rejected([](Req& r) { r.service_id = 5; }), "invalid service ID");
}

TEST(Connection, AnsweringWhatIsNotThere) {
  Ends ends;
  std::array<std::byte, kMadOctets> mad;
  encode(mad, {1, Rep{.local_comm_id = 5, .remote_comm_id = 6}});
  ends.manager(1).on_mad({}, ip(0), ip(1), mad);
  encode(mad, {2, Dreq{.local_comm_id = 5, .remote_comm_id = 6}});
  ends.manager(1).on_mad({}, ip(0), ip(1), mad);
  encode(mad, {3, Rtu{.local_comm_id = 5, .remote_comm_id = 6}});
  ends.manager(1).on_mad({}, ip(0), ip(1), mad);
  EXPECT_EQ(ends.ignored(1, Ignored::kUnknownConnection), 3u);
  encode(mad, {4, Req{}});
  ends.manager(1).on_mad({}, wire::IpAddress(0x01020304u), ip(1), mad);
  EXPECT_EQ(ends.ignored(1, Ignored::kNoRoute), 1u);
  ends.run();
  EXPECT_EQ(ends.said(), "1REJ 1DREP") << "the peer shall not wait for nothing";
  EXPECT_EQ(static_cast<RejReason>(std::get<Rej>(ends.log[0].message).reason), RejReason::kInvalidCommId);
}

TEST(Connection, SomebodyElseCannotEndIt) {
  Ends ends;
  const QpNumber qp = ends.qp(0);
  ends.connect(qp);
  ends.run();
  const auto own = std::get<Req>(ends.log[0].message).local_comm_id;
  const auto peers = std::get<Rep>(ends.log[1].message).local_comm_id;
  std::array<std::byte, kMadOctets> mad;
  encode(mad, {1, Dreq{.local_comm_id = peers + 1, .remote_comm_id = own, .remote_qpn = qp.value}});
  ends.manager(0).on_mad(ends.now(), ip(1), ip(0), mad);
  EXPECT_EQ(ends.ignored(0, Ignored::kOtherPeer), 1u);
  encode(mad, {1, Dreq{.local_comm_id = peers, .remote_comm_id = own, .remote_qpn = qp.value + 1}});
  ends.manager(0).on_mad(ends.now(), ip(1), ip(0), mad);
  encode(mad, {1, Rej{.local_comm_id = peers, .remote_comm_id = own, .reason = 28}});
  ends.manager(0).on_mad(ends.now(), ip(1), ip(0), mad);
  EXPECT_EQ(ends.ignored(0, Ignored::kUnexpected), 2u);
  EXPECT_EQ(ends.state(0, qp).info.state, QpState::kRts);
}

// ---- Timewait ------------------------------------------------------------------------------------------------------

TEST(Connection, ItsEndIsRememberedForAWhile) {
  Ends ends;
  const QpNumber qp = ends.qp(0);
  const ConnectionId id = ends.connect(qp);
  ends.run();
  const Message request_again = ends.log[0].message;
  ASSERT_TRUE(ends.manager(0).disconnect(ends.now(), id));
  EXPECT_EQ(ends.manager(0).disconnect(ends.now(), id).error(), ConnectError::kConnectionState);
  const Instant begun = ends.now();
  ends.run(begun + 100_ms);
  EXPECT_EQ(ends.happened(1), "request established disconnected");
  EXPECT_EQ(ends.manager(1).size(), 1u);
  // A REQ that was under way all the time.
  std::array<std::byte, kMadOctets> mad;
  encode(mad, {1, request_again});
  ends.manager(1).on_mad(ends.now(), ip(0), ip(1), mad);
  ends.run();
  EXPECT_EQ(ends.log.back().name, "REJ");
  EXPECT_EQ(static_cast<RejReason>(std::get<Rej>(ends.log.back().message).reason), RejReason::kStaleConnection);
  EXPECT_EQ(ends.happened(1), "timewait_exit");
  EXPECT_EQ(ends.happened(0), "established disconnected timewait_exit");
  EXPECT_GE(ends.now(), begun + local_ack_timeout(17));
}

TEST(Connection, APeerThatStartedAgainEndsTheStaleOneFirst) {
  Ends ends;
  const QpNumber qp = ends.qp(0);
  ends.connect(qp);
  ends.run();
  ends.happened(1);
  // The same QP number at the peer, and a communication ID that is new.
  request(ends, [&](Req& r) { r.local_qpn = qp.value; });
  EXPECT_EQ(ends.log[3].name, "DREQ");
  EXPECT_EQ(ends.log[4].name, "REJ");
  EXPECT_EQ(static_cast<RejReason>(std::get<Rej>(ends.log[4].message).reason), RejReason::kStaleConnection);
  ends.run();
  EXPECT_EQ(ends.happened(1), "disconnected timewait_exit");
  ends.accepts = false;
  request(ends, [&](Req& r) { r.local_qpn = qp.value; });
  EXPECT_EQ(ends.happened(1), "request");
}

TEST(Connection, BothMayEndItAtOnce) {
  Ends ends;
  const ConnectionId id = ends.connect(ends.qp(0));
  ends.run();
  ends.happened(1);
  ASSERT_TRUE(ends.manager(0).disconnect(ends.now(), id));
  ASSERT_TRUE(ends.manager(1).disconnect(ends.now(), ends.last[1].connection));
  ends.run();
  EXPECT_EQ(ends.happened(0), "established disconnected timewait_exit");
  EXPECT_EQ(ends.happened(1), "disconnected timewait_exit");
}

// ---- What is wrong at this end -------------------------------------------------------------------------------------

TEST(Connection, WhatCannotBeDoneIsSaid) {
  Ends ends;
  const auto error = [&](const ConnectionParameters& p, const wire::IpAddress& to = ip(1)) {
    return ends.manager(0).connect({}, {.source = ip(0), .destination = to}, PortSpace::kTcp, kPort, p).error();
  };
  EXPECT_EQ(error({.qp = QpNumber{9999}}), ConnectError::kUnknownQp);
  const QpNumber qp = ends.qp(0);
  EXPECT_EQ(error({.qp = qp}, wire::IpAddress(0x01020304u)), ConnectError::kNoRoute);
  const std::vector<std::byte> much(57);
  EXPECT_EQ(error({.qp = qp, .private_data = much}), ConnectError::kPrivateData);
  ends.connect(qp);
  EXPECT_EQ(error({.qp = qp}), ConnectError::kQpState) << "it is taken";
  EXPECT_EQ(ends.manager(0).accept({}, ConnectionId{1}, {}).error(), ConnectError::kUnknownConnection);
  EXPECT_EQ(ends.manager(0).size(), 1u);
  EXPECT_EQ(ends.state(0, qp).info.state, QpState::kInit);
}

TEST(Connection, AQpThatIsGoneWhenTheRepComesIsNoQp) {
  Ends ends;
  const QpNumber qp = ends.qp(0);
  ends.connect(qp);
  EXPECT_TRUE(ends.engine(0).destroy_qp(qp));
  ends.run();
  EXPECT_EQ(ends.happened(0), "rejected:1");
  EXPECT_EQ(ends.happened(1), "request rejected:1");
}

}  // namespace
}  // namespace railyard::roce::cm
