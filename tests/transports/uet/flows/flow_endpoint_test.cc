// Flows of messages between two endpoints and a bare wire: what is posted when, and what is made of what comes.
//
//   source (10.0.0.1) ---- 1 us, 100 Gb/s ---- sink (10.0.0.2)
#include "transports/uet/flows/flow_endpoint.h"

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv4.h"
#include "transports/uet/flows/flow_connection.h"

namespace railyard::uet::flows_test {
namespace {

using namespace literals;

struct Frame {
  std::size_t from = 0;
  Instant at{};
  std::vector<std::byte> header;
  PayloadRef payload;
  std::vector<std::byte> octets;  // real payload
  bool trimmed = false;
  std::uint8_t priority = 0;  // the NIC's class
  bool operator==(const Frame& o) const {
    return from == o.from && at == o.at && header == o.header && payload.offset == o.payload.offset;
  }
};

EngineConfig config() {
  EngineConfig c;
  c.payload_mtu = 1024;
  c.rto_init = 100_us;
  c.retries = 8;
  c.idle_close = 50_us;
  return c;
}

// An end, and which of its data classes the flow is of there.
struct End {
  EngineConfig engine = config();
  std::uint8_t data_class = 0;
};

class Wire {
 public:
  explicit Wire(const FlowConfig& flow, bool real = false, const EngineConfig& engine = config())
      : Wire(flow, real, {engine}, {engine}) {}
  Wire(const FlowConfig& flow, bool real, const End& source, const End& sink)
      : ends_{FlowEndpoint(source.engine, {}, RngStream(Seed{1}, "a"), real, 4096),
              FlowEndpoint(sink.engine, {}, RngStream(Seed{1}, "b"), real, 4096)} {
    AddressVector forth;
    forth.source = wire::IpAddress(0x0A000001);
    forth.destination = wire::IpAddress(0x0A000002);
    AddressVector back = forth;
    std::swap(back.source, back.destination);
    places_ = FlowConnection::make(flow, {&ends_[0], forth, source.data_class}, {&ends_[1], back, sink.data_class});
  }

  FlowEndpoint& source() { return ends_[0]; }
  FlowEndpoint& sink() { return ends_[1]; }
  const RxFlowCounters& received() const { return ends_[1].received(places_.at_sink); }
  std::uint64_t verified() const { return ends_[1].verified(places_.at_sink); }
  const MessageCounters& messages(std::size_t end) const { return ends_[end].messages(0); }
  const std::vector<Frame>& log() const { return log_; }
  Instant now() const { return now_; }

  // How often a frame arrives; and what it is then.
  std::function<unsigned(Frame&)> fate = [](Frame&) { return 1u; };
  // How much longer than others it is on its way.
  std::function<Duration(const Frame&)> delay = [](const Frame&) { return Duration{}; };
  // Between two events the endpoints are asked this often for nothing.
  int idle_questions = 0;

  // Until nothing is left to do.
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
        if (f.trimmed) payload = {};
        const RxFrame in{now_, f.at, f.header, payload, !f.trimmed, f.trimmed};
        ends_[1 - f.from].receive({&in, 1});
      }
    }
  }

 private:
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
    for (std::uint8_t p = kPriorities; p-- > 0;) {
      if ((r.classes & bit(Priority{p})) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (ends_[i].send(now_, Priority{p}, {&out, 1}) == 0) continue;
      EXPECT_EQ(out.trailer_octets, 4u);
      Frame f{i, now_, {header.begin(), header.begin() + out.header_octets}, out.payload, {}};
      if (ends_[i].has_real_payload() && out.payload.octets > 0) {
        f.octets.resize(out.payload.octets);
        if (out.payload.bytes != nullptr)
          std::copy_n(out.payload.bytes, out.payload.octets, f.octets.begin());
        else
          fill_payload(out.payload.stream, out.payload.offset, f.octets);
      }
      f.payload.bytes = nullptr;
      f.priority = p;
      const auto octets = static_cast<std::int64_t>(f.header.size() + f.payload.octets + 28);
      free_at_[i] = now_ + Bytes{octets} / 100_Gbps;
      log_.push_back(f);
      Frame arriving = f;
      for (unsigned n = fate(arriving); n > 0; --n)
        arrivals_.emplace(std::pair{free_at_[i] + 1_us + delay(f), order_++}, arriving);
      return free_at_[i];
    }
    return r.until;
  }

  std::array<FlowEndpoint, 2> ends_;
  FlowConnection::Places places_{};
  std::array<Instant, 2> free_at_{};
  std::map<std::pair<Instant, std::uint64_t>, Frame> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<Frame> log_;
};

// As a switch cuts it, to its headers: what is behind them is gone, and the IP length says so.
void trim(Frame& f) {
  f.trimmed = true;
  std::byte* const ip = f.header.data() + wire::Ethernet::kOctets;
  const auto before = wire::read<wire::Ipv4::TotalLength>(ip);
  const auto after = static_cast<std::uint16_t>(f.header.size() - wire::Ethernet::kOctets);
  wire::write<wire::Ipv4::TotalLength>(ip, after);
  wire::write<wire::Ipv4::HeaderChecksum>(
      ip, wire::updated_checksum(wire::read<wire::Ipv4::HeaderChecksum>(ip), before, after));
}

struct How {
  DeliveryMode mode;
  FlowOperation operation;
  bool tagged = false;
};
constexpr std::array kReliable{
    How{DeliveryMode::kRud, FlowOperation::kWrite},      How{DeliveryMode::kRud, FlowOperation::kSend},
    How{DeliveryMode::kRud, FlowOperation::kRead},       How{DeliveryMode::kRod, FlowOperation::kWrite},
    How{DeliveryMode::kRod, FlowOperation::kSend},       How{DeliveryMode::kRod, FlowOperation::kRead},
    How{DeliveryMode::kRudi, FlowOperation::kWrite},     How{DeliveryMode::kRudi, FlowOperation::kRead},
    How{DeliveryMode::kRud, FlowOperation::kSend, true}, How{DeliveryMode::kRod, FlowOperation::kSend, true}};

FlowConfig flow_of(const How& how, std::uint32_t qps = 1) {
  return {{.id = 7, .operation = how.operation, .total = 50_KB + 1_B, .message = 5001, .outstanding = 3, .qps = qps},
          how.mode,
          how.tagged};
}

void expect_nothing_left(Wire& w) {
  for (FlowEndpoint* e : {&w.source(), &w.sink()}) {
    EXPECT_EQ(e->engine().pdcs(), 0u);
    EXPECT_EQ(e->engine().open_messages(), 0u);
    EXPECT_EQ(e->engine().counters().pdcs_failed.read(), 0u);
  }
}

TEST(UetFlows, AllMessagesOfAllServicesComeWholeAndAreVerified) {
  for (const How& how : kReliable)
    for (const bool real : {false, true})
      for (const std::uint32_t qps : {1u, 3u}) {
        SCOPED_TRACE(std::string(name(how.mode)) + (real ? " real " : " ") +
                     std::to_string(static_cast<int>(how.operation)) + " qps " + std::to_string(qps));
        Wire w(flow_of(how, qps), real);
        w.run();
        EXPECT_EQ(w.received().payload_octets, 50'001u);
        EXPECT_EQ(w.verified(), 10u);
        EXPECT_EQ(w.received().corrupted, 0u);
        const MessageCounters& m = w.messages(how.operation == FlowOperation::kRead ? 1 : 0);
        EXPECT_EQ(m.completed, 10u);
        EXPECT_EQ(m.octets, 50'001u);
        EXPECT_EQ(m.latency.count(), 10u);
        EXPECT_EQ(m.errors, 0u);
        EXPECT_EQ(w.source().sent(0).payload_octets, 50'001u);
        EXPECT_EQ(w.source().packets(0).retransmitted, 0u);
        EXPECT_LT(w.now() - Instant{}, 1_ms) << "PDCs that nobody needs are closed, and nothing is waited for";
        expect_nothing_left(w);
      }
}

// The flow is of the second class at its source and of the third at its sink, which count their classes as they like:
// its requests, what is read for it, and all of that again are of that class; what is about them, of the control class.
TEST(UetFlows, DataOfEachClassGoInItWithItsMarksWhateverIsSentAgain) {
  const auto of = [](std::uint8_t priority, std::uint8_t dscp, bool ect) {
    DataClass c{.priority = Priority{priority}, .dscp = dscp, .ect = ect};
    c.multipath = config().multipath;
    return c;
  };
  End source{config(), 1};
  End sink{config(), 2};
  source.engine.other_classes = {of(2, 10, false)};
  sink.engine.other_classes = {of(3, 20, true), of(2, 10, false), of(4, 30, true)};
  std::vector<How> all(kReliable.begin(), kReliable.end());
  all.push_back({DeliveryMode::kUud, FlowOperation::kSend});
  for (const How& how : all)
    for (const bool loses : {false, true}) {
      SCOPED_TRACE(std::string(name(how.mode)) + " " + std::to_string(static_cast<int>(how.operation)) +
                   (loses ? " loses" : ""));
      FlowConfig flow = flow_of(how, 3);
      const bool datagrams = how.mode == DeliveryMode::kUud;
      if (datagrams) flow.message = 1001;
      Wire w(flow, false, source, sink);
      Wire plain(flow);
      for (Wire* wire : {&w, &plain}) {
        unsigned n = 0;
        if (loses && !datagrams) wire->fate = [&](Frame&) { return ++n % 13 == 7 ? 0u : 1u; };
        wire->run();
      }
      EXPECT_EQ(w.received().payload_octets, 50'001u);
      EXPECT_EQ(w.log().size(), plain.log().size());
      for (std::size_t i = 0; i < std::min(w.log().size(), plain.log().size()); ++i) {
        EXPECT_EQ(w.log()[i].at, plain.log()[i].at) << i << ": as of a NIC with one class";
        EXPECT_EQ(w.log()[i].from, plain.log()[i].from) << i;
      }
      std::size_t data = 0;
      std::size_t control = 0;
      for (const Frame& f : w.log()) {
        const std::byte* const ip = f.header.data() + wire::Ethernet::kOctets;
        const int dscp = wire::read<wire::Ipv4::DSCP>(ip);
        const int ecn = wire::read<wire::Ipv4::ECN>(ip);
        if (f.priority == 2) {
          EXPECT_EQ(dscp, 10);
          EXPECT_EQ(ecn, 0) << "of a class that is not ECN-capable";
          ++data;
        } else {
          EXPECT_EQ(f.priority, 6);
          EXPECT_EQ(dscp, 46);
          EXPECT_EQ(f.payload.octets, 0u) << "no data in the class of acknowledgements";
          ++control;
        }
      }
      EXPECT_GE(data, 50u);
      EXPECT_EQ(control == 0, datagrams || (how.mode == DeliveryMode::kRudi && how.operation == FlowOperation::kRead));
      if (loses && !datagrams) {
        EXPECT_GT(w.source().engine().counters().retransmitted_packets.read() +
                      w.sink().engine().counters().retransmitted_packets.read(),
                  0u);
      } else {
        expect_nothing_left(w);
      }
    }
}

TEST(UetFlows, WhatIsLostDoubledOrCutIsMadeUpForAndCounted) {
  for (const How& how : kReliable)
    for (const bool real : {false, true}) {
      SCOPED_TRACE(std::string(name(how.mode)) + (real ? " real " : " ") +
                   std::to_string(static_cast<int>(how.operation)));
      FlowConfig flow = flow_of(how);
      flow.total = 500_KB;
      Wire w(flow, real);
      unsigned n = 0;
      unsigned data = 0;
      unsigned trimmed = 0;
      w.fate = [&](Frame& f) {
        ++n;
        if (n % 61 == 13) return 0u;
        if (n % 61 == 29) return 2u;
        if (f.payload.octets > 500 && ++data % 31 == 17) {
          trim(f);
          ++trimmed;
        }
        return 1u;
      };
      w.run();
      EXPECT_EQ(w.verified(), 100u);
      EXPECT_EQ(w.received().payload_octets, 500'000u);
      EXPECT_EQ(w.received().corrupted, 0u);
      EXPECT_EQ(w.received().trimmed, trimmed);
      // A RUDI READ goes again as a request, which brings other data.
      if (how.mode != DeliveryMode::kRudi || how.operation != FlowOperation::kRead) {
        EXPECT_GT(w.source().packets(0).retransmitted, 0u);
      }
      EXPECT_GT(trimmed, 0u);
      expect_nothing_left(w);
    }
}

// Every gap is closed by something that comes, and then the sender is told: nothing waits for a timer.
TEST(UetFlows, PacketsThatOvertakeEachOtherNeedNoTimeout) {
  for (const FlowOperation operation : {FlowOperation::kWrite, FlowOperation::kSend, FlowOperation::kRead})
    for (unsigned seed = 0; seed < 50; ++seed) {
      FlowConfig flow = flow_of({DeliveryMode::kRud, operation});
      flow.total = 300_KB;
      flow.message = 60'000;
      flow.outstanding = 1;
      EngineConfig c = config();
      c.window = 24;  // often shut: then the last packet asks for an ACK
      c.infer_loss = false;
      Wire w(flow, false, c);
      RngStream chance(Seed{seed}, "delay");
      w.delay = [&](const Frame& f) {
        return f.payload.octets > 0 ? Duration{static_cast<std::int64_t>(chance.below(4'000'000))} : Duration{};
      };
      w.run();
      EXPECT_EQ(w.verified(), 5u);
      for (FlowEndpoint* e : {&w.source(), &w.sink()}) {
        EXPECT_EQ(e->engine().counters().retransmission_timeouts.read(), 0u) << seed;
      }
    }
}

TEST(UetFlows, DatagramsThatAreLostAreNotVerified) {
  FlowConfig flow = flow_of({DeliveryMode::kUud, FlowOperation::kSend});
  flow.message = 1000;
  flow.receives = 16;
  Wire w(flow);
  unsigned n = 0;
  w.fate = [&](Frame&) { return ++n % 10 == 3 ? 0u : 1u; };
  w.run();
  EXPECT_EQ(w.messages(0).completed, 51u) << "sent";
  EXPECT_EQ(w.verified(), 46u);
  EXPECT_EQ(w.log().size(), 51u) << "nobody answers";
}

// Nobody promises that a datagram comes once; its octets count once.
TEST(UetFlows, DatagramsThatComeTwiceCountOnce) {
  FlowConfig flow = flow_of({DeliveryMode::kUud, FlowOperation::kSend});
  flow.message = 1000;
  flow.receives = 200;
  Wire w(flow);
  w.fate = [](Frame&) { return 2u; };
  w.run();
  const std::uint64_t sent = w.messages(0).completed;
  EXPECT_EQ(sent, 51u);
  EXPECT_EQ(w.verified(), sent);
  EXPECT_EQ(w.received().packets, 2 * sent);
  EXPECT_EQ(w.received().discarded, sent);
  EXPECT_EQ(w.received().payload_octets, w.messages(0).octets);
  EXPECT_EQ(w.received().corrupted, 0u);
}

TEST(UetFlows, HowOftenItIsAskedChangesNothing) {
  for (const How& how : kReliable) {
    FlowConfig flow = flow_of(how);
    flow.total = 100_KB;
    flow.receives = 1;
    flow.repost_after = 7_us;
    if (how.operation != FlowOperation::kSend) flow.rate = 10_Gbps;
    Wire a(flow);
    Wire b(flow);
    b.idle_questions = 3;
    unsigned n = 0;
    unsigned m = 0;
    a.fate = [&](Frame&) { return ++n % 53 == 13 ? 0u : 1u; };
    b.fate = [&](Frame&) { return ++m % 53 == 13 ? 0u : 1u; };
    a.run();
    b.run();
    EXPECT_TRUE(a.log() == b.log()) << name(how.mode) << static_cast<int>(how.operation);
    EXPECT_EQ(a.verified(), 20u);
  }
}

TEST(UetFlows, ARateIsKeptAndCanChange) {
  for (const How& how :
       {How{DeliveryMode::kRud, FlowOperation::kWrite}, How{DeliveryMode::kRod, FlowOperation::kRead}}) {
    FlowConfig flow = flow_of(how);
    flow.total = 1_MB;
    flow.message = 100'000;
    flow.rate = 10_Gbps;
    Wire w(flow);
    w.run(Instant{} + 400_us);
    const double before = static_cast<double>(w.received().payload_octets) * 8 / 400e-6;
    const double share = 1024.0 / (1024 + (how.operation == FlowOperation::kRead ? 102 : 126));
    EXPECT_NEAR(before, 10e9 * share, 0.04e10);
    FlowEndpoint& asker = how.operation == FlowOperation::kRead ? w.sink() : w.source();
    asker.set_rate(Instant{} + 400_us, 0, 40_Gbps);
    w.run();
    EXPECT_EQ(w.verified(), 10u);
    const double rest = 1e6 - before * 400e-6 / 8;
    const double after = rest * 8 / seconds(w.received().last - Instant{} - 400_us);
    EXPECT_NEAR(after, 40e9 * share, 0.1 * 40e9);
  }
}

TEST(UetFlows, WhatIsNotWhatWasSentIsNoticed) {
  for (const How& how : kReliable)
    for (const bool real : {false, true}) {
      Wire w(flow_of(how), real);
      unsigned n = 0;
      w.fate = [&](Frame& f) {
        if (f.payload.octets < 1000 || ++n != 8) return 1u;
        // Another place of the stream, and not what is at this one.
        f.payload.offset += 512;
        if (real) f.octets[0] ^= std::byte{1};
        return 1u;
      };
      w.run();
      EXPECT_GT(w.received().corrupted, 0u) << name(how.mode) << static_cast<int>(how.operation) << real;
      EXPECT_LT(w.verified(), 10u);
    }
}

// Part of a READ has come, the rest is lost, and its source gives up at once. All of it comes on another PDC, and what
// came on the first is not counted with it.
TEST(UetFlows, AReadThatItsSourceGaveUpComesWholeOnAnotherPdc) {
  for (const bool real : {false, true})
    for (const unsigned lost : {1u, 3u, 5u, 20u}) {
      SCOPED_TRACE(std::string(real ? "real " : "") + std::to_string(lost));
      EngineConfig c = config();
      c.retries = 0;
      c.infer_loss = false;
      Wire w(flow_of({DeliveryMode::kRud, FlowOperation::kRead}), real, c);
      unsigned n = 0;
      w.fate = [&](Frame& f) { return f.from == 0 && f.payload.octets > 500 && ++n == lost ? 0u : 1u; };
      w.run();
      EXPECT_EQ(w.source().engine().counters().pdcs_failed.read(), 1u);
      EXPECT_EQ(w.sink().engine().counters().pdcs_failed.read(), 1u);
      EXPECT_EQ(w.messages(1).completed, 10u);
      EXPECT_EQ(w.messages(1).errors, 0u);
      EXPECT_EQ(w.verified(), 10u);
      EXPECT_EQ(w.received().corrupted, 0u);
      EXPECT_EQ(w.source().engine().pdcs() + w.sink().engine().pdcs(), 0u);
      EXPECT_LT(w.now() - Instant{}, 1_ms) << "it is asked whether the source is still there";
    }
}

TEST(UetFlows, SilenceEndsAFlowWithAStatus) {
  EngineConfig c = config();
  c.retries = 2;
  Wire w(flow_of({DeliveryMode::kRud, FlowOperation::kWrite}), false, c);
  w.fate = [](Frame&) { return 0u; };
  w.run();
  EXPECT_EQ(w.messages(0).completed, 0u);
  EXPECT_EQ(w.messages(0).errors, 3u);
  EXPECT_EQ(w.messages(0).status, Status::kRetryExceeded);
}

}  // namespace
}  // namespace railyard::uet::flows_test
