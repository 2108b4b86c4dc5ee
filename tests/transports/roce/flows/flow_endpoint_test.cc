// Flows of messages between two endpoints and a bare wire: what is posted when, and what is made of what comes.
//
//   source (10.0.0.1) ---- 1 us, 100 Gb/s ---- sink (10.0.0.2)
#include "transports/roce/flows/flow_endpoint.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/icrc.h"
#include "transports/roce/flows/flow_connection.h"

namespace railyard::roce {
namespace {

using namespace literals;

struct Frame {
  std::size_t from = 0;
  Instant at{};
  std::vector<std::byte> header;
  PayloadRef payload;
  std::vector<std::byte> octets;  // real payload
  bool operator==(const Frame& o) const {
    return from == o.from && at == o.at && header == o.header && payload.offset == o.payload.offset;
  }
};

class Wire {
 public:
  // `apart`: each end is made as if the other were elsewhere, connected 3 us after the run began and started then.
  explicit Wire(const FlowConfig& flow, bool real = false, PathMtu mtu = PathMtu::k1024, bool apart = false,
                QpType type = QpType::kRc)
      : ends_{FlowEndpoint({}, real, 4096), FlowEndpoint({}, real, 4096)} {
    AddressVector forth;
    forth.source = wire::IpAddress(0x0A000001);
    forth.destination = wire::IpAddress(0x0A000002);
    AddressVector back = forth;
    std::swap(back.source, back.destination);
    QpAttributes a;
    a.path_mtu = mtu;
    a.timeout = 5;
    a.max_rd_atomic = 4;
    source_ = {&ends_[0], forth, a, {}, type};
    sink_ = {&ends_[1], back, a, {}, type};
    if (!apart) {
      places_ = FlowConnection::make(flow, source_, sink_, 42);
      return;
    }
    places_ = {FlowConnection::make_here(flow, source_, true), FlowConnection::make_here(flow, sink_, false)};
    now_ = Instant{} + 3_us;
    connect_and_start(42);
  }

  // One that was made `apart`, from the beginning.
  void again() {
    places_ = {FlowConnection::make_anew(source_, places_.at_source), FlowConnection::make_anew(sink_, places_.at_sink)};
    connect_and_start(43);
  }

  FlowEndpoint& source() { return ends_[0]; }
  FlowEndpoint& sink() { return ends_[1]; }
  FlowEndpoint& asker() { return ends_[ends_[0].config(0).asks(true) ? 0 : 1]; }
  bool done() { return asker().done(now_, place_of_asker()); }
  const MessageCounters& asked() { return asker().messages(place_of_asker()); }
  Instant now() const { return now_; }
  const RxFlowCounters& received() const { return ends_[1].received(places_.at_sink); }
  std::uint64_t verified() const { return ends_[1].verified(places_.at_sink); }
  const MessageCounters& messages(std::size_t end) const { return ends_[end].messages(0); }
  const std::vector<Frame>& log() const { return log_; }

  // How often a frame arrives; and what it is then.
  std::function<unsigned(Frame&)> fate = [](Frame&) { return 1u; };
  // Between two events the endpoints are asked this often for nothing.
  int idle_questions = 0;

  void run(Instant until = Instant{} + 100_ms) {
    for (;;) {
      Instant next = Instant::never();
      for (std::size_t i = 0; i < 2; ++i) next = std::min(next, step(i));
      if (!arrivals_.empty()) next = std::min(next, arrivals_.begin()->first.first);
      if (next > until) return;
      for (int q = 1; q <= idle_questions; ++q) ask_between(next, q);
      now_ = std::max(now_, next);
      while (!arrivals_.empty() && arrivals_.begin()->first.first <= now_) {
        const Frame f = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        PayloadRef payload = f.payload;
        if (!f.octets.empty()) payload.bytes = f.octets.data();
        const RxFrame in{now_, f.at, f.header, payload, true};
        ends_[1 - f.from].receive({&in, 1});
      }
    }
  }

 private:
  std::size_t place_of_asker() { return &asker() == &ends_[0] ? places_.at_source : places_.at_sink; }

  void connect_and_start(std::uint64_t chance) {
    const std::size_t before = log_.size();
    run(now_);
    for (std::uint32_t q = 0; q < ends_[0].config(places_.at_source).qps; ++q) {
      const auto draws = FlowConnection::draws(chance, q);
      FlowConnection::connect_to(now_, source_, places_.at_source, q,
                                 FlowConnection::end_of(ends_[1], places_.at_sink, q), 4, draws);
      FlowConnection::connect_to(now_, sink_, places_.at_sink, q, FlowConnection::end_of(ends_[0], places_.at_source, q),
                                 4, draws);
    }
    now_ = now_ + 1_us;
    run(now_);
    EXPECT_EQ(log_.size(), before) << "it has not been started";
    EXPECT_FALSE(done());
    asker().start(now_, place_of_asker());
  }

  void ask_between(Instant next, int q) {
    const Duration gap = next - now_;
    if (gap <= Duration{}) return;
    const Instant at = now_ + gap * q / (idle_questions + 1);
    for (FlowEndpoint& e : ends_) static_cast<void>(e.ready(at));
  }

  // Sends what can go now; when the end wants to be looked at again.
  Instant step(std::size_t i) {
    if (now_ < free_at_[i]) return free_at_[i];
    const Readiness r = ends_[i].ready(now_);
    for (std::uint8_t p = 0; p < kPriorities; ++p) {
      if ((r.classes & bit(Priority{p})) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (ends_[i].send(now_, Priority{p}, {&out, 1}) == 0) continue;
      Frame f{i, now_, {header.begin(), header.begin() + out.header_octets}, out.payload, {}};
      const std::uint32_t pad = out.trailer_octets - std::uint32_t{wire::kIcrcOctets};
      if (ends_[i].has_real_payload() && out.payload.octets > 0) {
        f.octets.resize(out.payload.octets + pad);
        if (out.payload.bytes != nullptr)
          std::copy_n(out.payload.bytes, out.payload.octets, f.octets.begin());
        else
          fill_payload(out.payload.stream, out.payload.offset, std::span(f.octets).first(out.payload.octets));
      }
      f.payload.octets += pad;
      f.payload.bytes = nullptr;
      const auto octets = static_cast<std::int64_t>(f.header.size() + f.payload.octets + 28);
      free_at_[i] = now_ + Bytes{octets} / 100_Gbps;
      log_.push_back(f);
      Frame arriving = f;
      for (unsigned n = fate(arriving); n > 0; --n)
        arrivals_.emplace(std::pair{free_at_[i] + 1_us, order_++}, arriving);
      return free_at_[i];
    }
    return r.until;
  }

  std::array<FlowEndpoint, 2> ends_;
  FlowEnd source_{}, sink_{};
  FlowConnection::Places places_{};
  std::array<Instant, 2> free_at_{};
  std::map<std::pair<Instant, std::uint64_t>, Frame> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<Frame> log_;
};

// What a lab does where an agent has the other end; announced WRITEs are for such a sink, and come whole at any.
TEST(FlowEndpoint, EndsThatAreConnectedLaterAreTheSame) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend, FlowOperation::kRead})
    for (const bool announced : {false, true})
      for (const bool real : {false, true}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(operation) << announced << real);
        FlowConfig flow{
            .id = 7, .operation = operation, .total = 100'000_B, .message = 3000, .outstanding = 2, .qps = 3};
        flow.announced = announced && operation == FlowOperation::kWrite;
        Wire wire(flow, real, PathMtu::k1024, true);
        wire.run();
        EXPECT_EQ(wire.verified(), 34u);
        EXPECT_EQ(wire.received().corrupted, 0u);
        EXPECT_TRUE(wire.done());
        const bool any_immediate = std::ranges::any_of(wire.log(), [](const Frame& f) {
          const auto opcode = std::to_integer<unsigned>(f.header[14 + 20 + 8]);
          return opcode == 0x09 || opcode == 0x0B;  // RC WRITE last, only, with immediate
        });
        EXPECT_EQ(any_immediate, flow.announced);
      }
}

TEST(FlowEndpoint, AllMessagesOfAllOperationsComeWholeAndAreVerified) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend, FlowOperation::kRead})
    for (const bool real : {false, true})
      for (const std::uint32_t qps : {1u, 3u}) {
        Wire w({.id = 7, .operation = operation, .total = 50_KB + 1_B, .message = 5001, .outstanding = 3, .qps = qps},
               real);
        w.run();
        EXPECT_EQ(w.received().payload_octets, 50'001u);
        EXPECT_EQ(w.received().latency.count(), w.received().packets) << "none is left aside";
        EXPECT_EQ(w.verified(), 10u);
        EXPECT_EQ(w.received().corrupted, 0u);
        const MessageCounters& m = w.messages(operation == FlowOperation::kRead ? 1 : 0);
        EXPECT_EQ(m.completed, 10u);
        EXPECT_EQ(m.octets, 50'001u);
        EXPECT_EQ(m.latency.count(), 10u);
        EXPECT_EQ(m.errors, 0u);
        EXPECT_EQ(w.source().sent(0).payload_octets, 50'001u);
      }
}

// 10 messages of 5 packets, over UC.
Wire over_uc(FlowOperation operation, bool real, std::uint32_t qps) {
  return Wire({.id = 7, .operation = operation, .total = 50_KB + 1_B, .message = 5001, .outstanding = 3, .qps = qps},
              real, PathMtu::k1024, false, QpType::kUc);
}

TEST(FlowEndpoint, UnreliableConnectionsCarryMessagesThatNobodyAnswers) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend})
    for (const bool real : {false, true})
      for (const std::uint32_t qps : {1u, 3u}) {
        Wire w = over_uc(operation, real, qps);
        w.run();
        EXPECT_EQ(w.received().payload_octets, 50'001u);
        EXPECT_EQ(w.verified(), 10u);
        EXPECT_EQ(w.received().corrupted, 0u);
        EXPECT_EQ(w.messages(0).completed, 10u) << "when they are sent";
        for (const Frame& f : w.log()) EXPECT_EQ(f.from, 0u) << "nothing is answered";
      }
}

TEST(FlowEndpoint, OfAnUnreliableConnectionAMessageIsLostWithAnyOfItsPackets) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend})
    for (const bool real : {false, true})
      for (unsigned lost = 0; lost < 50; ++lost) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(operation) << real << " packet " << lost);
        Wire w = over_uc(operation, real, 1);
        unsigned n = 0;
        w.fate = [&](Frame&) { return n++ == lost ? 0u : 1u; };
        w.run();
        EXPECT_EQ(w.received().payload_octets, 50'001u - (lost < 45 ? 5001u : 4992u));
        EXPECT_EQ(w.verified(), 9u);
        EXPECT_EQ(w.received().corrupted, 0u);
        EXPECT_EQ(w.received().packets, 49u);
      }
}

TEST(FlowEndpoint, OfAnUnreliableConnectionManyMessagesInARowMayBeLost) {
  Wire w({.id = 7, .total = 1_MB, .message = 2000, .outstanding = 2}, true, PathMtu::k1024, false, QpType::kUc);
  unsigned n = 0;
  w.fate = [&](Frame&) { return n++ % 200 < 101 ? 0u : 1u; };  // from the first on; 50 messages and a half
  w.run();
  EXPECT_EQ(w.verified(), 5 * 49u);
  EXPECT_EQ(w.received().payload_octets, 5 * 49u * 2000u);
  EXPECT_EQ(w.received().corrupted, 0u);
}

TEST(FlowEndpoint, NoMoreThanOutstandingArePostedAndTheNextOneWhenOneIsComplete) {
  Wire w({.id = 1, .total = 6_KB, .message = 1000, .outstanding = 2, .start = Instant{} + 5_us});
  w.run();
  std::vector<Instant> sent;
  std::vector<Instant> answered;
  for (const Frame& f : w.log()) (f.from == 0 ? sent : answered).push_back(f.at);
  ASSERT_EQ(sent.size(), 6u);
  ASSERT_EQ(answered.size(), 6u);
  EXPECT_EQ(sent[0], Instant{} + 5_us);
  EXPECT_LT(sent[1], sent[0] + 1_us) << "two at once";
  // An acknowledgement takes 62 + 24 octets and 1 us; at the instant at which it is there, the next message goes.
  const Duration back = 86_B / 100_Gbps + 1_us;
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(sent[i], answered[i - 2] + back) << i;
}

TEST(FlowEndpoint, HowOftenItIsAskedChangesNothing) {
  const FlowConfig sends{.id = 1,
                         .operation = FlowOperation::kSend,
                         .total = 100_KB,
                         .message = 3001,
                         .outstanding = 3,
                         .receives = 1,
                         .repost_after = 7_us};
  // Completions come while something is being sent.
  const FlowConfig writes{.id = 1, .total = 500_KB, .message = 20'001, .outstanding = 3};
  for (const FlowConfig& flow : {sends, writes}) {
    Wire a(flow);
    Wire b(flow);
    b.idle_questions = 3;
    // Some are lost, so that timers matter.
    unsigned n = 0;
    unsigned m = 0;
    a.fate = [&](Frame&) { return ++n % 113 == 13 ? 0u : 1u; };
    b.fate = [&](Frame&) { return ++m % 113 == 13 ? 0u : 1u; };
    a.run();
    b.run();
    EXPECT_TRUE(a.log() == b.log());
    EXPECT_EQ(a.messages(0).latency.mean(), b.messages(0).latency.mean());
    EXPECT_EQ(a.received().payload_octets, static_cast<std::uint64_t>(flow.total.n));
    EXPECT_EQ(a.messages(0).completed, flow.messages_of(0));
    EXPECT_GT(a.source().counters(0).retransmitted_packets, 0u);
  }
}

TEST(FlowEndpoint, AStopEndsWhatIsPosted) {
  Wire w({.id = 1, .message = 1000, .outstanding = 2, .stop = Instant{} + 50_us});
  w.run();
  EXPECT_EQ(w.messages(0).posted, w.messages(0).completed);
  EXPECT_GT(w.messages(0).posted, 20u);
  for (const Frame& f : w.log())
    if (f.from == 0) {
      EXPECT_LT(f.at, Instant{} + 51_us);
    }
  Wire early({.id = 1, .message = 1000, .outstanding = 2, .start = Instant{} + 10_us});
  early.source().stop_at(Instant{} + 10_us);
  early.run();
  EXPECT_EQ(early.messages(0).posted, 0u);
}

TEST(FlowEndpoint, APacketThatComesTwiceCountsOnce) {
  Wire w({.id = 1, .total = 20_KB, .message = 5000, .outstanding = 2});
  unsigned n = 0;
  w.fate = [&](Frame& f) { return f.from == 0 && ++n == 4 ? 2u : 1u; };
  w.run();
  EXPECT_EQ(w.received().discarded, 1u);
  EXPECT_EQ(w.received().payload_octets, 20'000u);
  EXPECT_EQ(w.verified(), 4u);
}

// Whatever the length of a CNP or ACK: it is no data.
TEST(FlowEndpoint, ControlPacketsAreNoData) {
  for (const QpType type : {QpType::kRc, QpType::kUc})
    for (const std::uint8_t code : {opcode::kCnp, opcode::kRcAcknowledge, opcode::kRcAtomicAcknowledge})
      for (const std::uint32_t more : {0u, 84u}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(type) << " opcode " << int{code} << " and " << more);
        Wire w({.id = 1, .total = 20_KB, .message = 5000, .outstanding = 2}, false, PathMtu::k1024, false, type);
        AddressVector av;
        av.source = wire::IpAddress(0x0A000001);
        av.destination = wire::IpAddress(0x0A000002);
        const Path path(av);
        Packet packet;
        packet.bth = {.opcode = code, .dest_qp = 0x11, .psn = 1};
        packet.payload_octets = more;
        std::vector<std::byte> frame(Path::kMostOctets + packet.octets());
        const std::size_t front = path.write(frame.data(), packet.octets());
        frame.resize(front + packet.octets());
        encode_headers(std::span(frame).subspan(front), packet);
        int n = 0;
        w.fate = [&](Frame& f) {
          if (f.from == 0 && ++n % 3 == 1) {
            const RxFrame in{.at = w.now(),
                             .sent = w.now(),
                             .header = std::span(frame).first(frame.size() - wire::kIcrcOctets),
                             .payload = {},
                             .icrc_pending = true};
            w.sink().receive({&in, 1});
          }
          return 1u;
        };
        w.run();
        EXPECT_EQ(w.verified(), 4u);
        EXPECT_EQ(w.received().packets, 20u) << "5 packets a message";
        EXPECT_EQ(w.received().payload_octets, 20'000u);
        EXPECT_EQ(w.received().corrupted, 0u);
        EXPECT_GT(w.sink().engine().counters().received_packets.read(), 20u);
      }
}

// Over UC a First or Only packet begins a message whatever its PSN: one of a single packet that the network doubles is
// executed twice, and is one message. Of a longer one a second First begins it again.
TEST(FlowEndpoint, AMessageThatAnUnreliableConnectionCarriesTwiceCountsOnce) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend})
    for (const bool real : {false, true})
      for (const std::uint32_t message : {333u, 5000u}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(operation) << real << " " << message);
        const std::uint64_t messages = 60;
        const std::uint64_t packets = (message - 1) / 1024 + 1;
        Wire w({.id = 7,
                .operation = operation,
                .total = Bytes{static_cast<std::int64_t>(messages * message)},
                .message = message,
                .outstanding = 3,
                .receives = 200},
               real, PathMtu::k1024, false, QpType::kUc);
        unsigned n = 0;
        w.fate = [&](Frame&) { return n++ % packets == 0 ? 2u : 1u; };
        w.run();
        EXPECT_EQ(w.verified(), messages);
        EXPECT_EQ(w.received().payload_octets, messages * message);
        EXPECT_EQ(w.received().packets, messages * (packets + 1));
        EXPECT_EQ(w.received().corrupted, 0u);
        EXPECT_EQ(w.received().discarded, packets == 1 ? messages : 0u);
      }
}

TEST(FlowEndpoint, WhatIsNotWhatWasSentIsNoticed) {
  Wire promise({.id = 1, .total = 20_KB, .message = 5000, .outstanding = 2});
  unsigned n = 0;
  promise.fate = [&](Frame& f) {
    if (f.from == 0 && ++n == 2) f.payload.offset += 512;
    return 1u;
  };
  promise.run();
  EXPECT_EQ(promise.received().corrupted, 1u);
  EXPECT_EQ(promise.verified(), 3u);

  Wire real({.id = 1, .total = 20_KB, .message = 5000, .outstanding = 2}, true);
  n = 0;
  real.fate = [&](Frame& f) {
    if (f.from == 0 && ++n == 2) f.octets[17] ^= std::byte{0x40};
    return 1u;
  };
  real.run();
  EXPECT_EQ(real.received().corrupted, 1u);
  EXPECT_EQ(real.verified(), 3u);
}

TEST(FlowEndpoint, ARateIsOfAllQpsTogetherAndCanChange) {
  Wire w({.id = 1, .message = 10'000, .outstanding = 4, .qps = 2, .rate = 10_Gbps, .stop = Instant{} + 400_us});
  w.run(Instant{} + 200_us);
  const auto before = static_cast<double>(w.source().sent(0).packets);
  // 1024 octets of payload take 1106 of 100 Gb/s and gap.
  EXPECT_NEAR(before, 200e-6 * 10e9 / 8 / 1106, 8);
  w.source().set_rate(Instant{} + 200_us, 0, 40_Gbps);
  w.run(Instant{} + 400_us);
  EXPECT_NEAR(static_cast<double>(w.source().sent(0).packets) - before, 4 * before, 0.05 * 4 * before);
}

TEST(FlowEndpoint, SilenceEndsAFlowWithTheStatusOfItsQp) {
  Wire w({.id = 1, .total = 20_KB, .message = 5000, .outstanding = 2});
  w.fate = [](Frame& f) { return f.at < Instant{} + 1_us ? 1u : 0u; };
  w.run();
  EXPECT_EQ(w.messages(0).status, WcStatus::kRetryExcErr);
  EXPECT_EQ(w.messages(0).errors, 2u);
  EXPECT_EQ(w.source().counters(0).local_ack_timeout_err, 8u);
}

// What of the first attempt is still under way, or due, is nobody's.
TEST(FlowEndpoint, OneThatHasFailedIsMadeAnewAndComesWhole) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend, FlowOperation::kRead})
    for (const bool real : {false, true})
      for (const bool waits : {false, true}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(operation) << real << waits);
        FlowConfig flow{
            .id = 7, .operation = operation, .total = 100'000_B, .message = 3000, .outstanding = 2, .qps = 3};
        if (operation == FlowOperation::kSend) flow.repost_after = 20_us;
        Wire wire(flow, real, PathMtu::k1024, true);
        wire.fate = [&](Frame& f) { return f.at < Instant{} + 8_us ? 1u : 0u; };
        // Either all of its QPs have failed, or it is in the middle.
        wire.run(Instant{} + (waits ? 20_ms : 9_us));
        EXPECT_LT(wire.verified(), 34u);
        EXPECT_EQ(wire.asked().errors > 0, waits);
        wire.fate = [](Frame&) { return 1u; };
        wire.again();
        EXPECT_EQ(wire.verified(), 0u);
        EXPECT_EQ(wire.asked().errors, 0u);
        wire.run();
        EXPECT_TRUE(wire.done());
        EXPECT_EQ(wire.verified(), 34u);
        EXPECT_EQ(wire.received().corrupted, 0u);
        EXPECT_EQ(wire.asked().completed, 34u);
      }
}

}  // namespace
}  // namespace railyard::roce
