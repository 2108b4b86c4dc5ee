// Flows between two endpoints with a security domain and a bare wire: real and elided payload, both IP families, with and
// without UDP; and what is dropped, and why.
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/udp.h"
#include "transports/uet/flows/flow_connection.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::uet {
namespace {

using namespace literals;

constexpr std::uint64_t kMessages = 12;

struct Frame {
  std::vector<std::byte> header{};
  PayloadRef payload{};
  std::vector<std::byte> octets{};  // real payload
  bool trimmed = false;
  bool corrupted = false;
};

struct Setting {
  bool real = false;
  bool v4 = true;
  bool udp = true;
  std::array<std::optional<SecurityConfig>, 2> security{};
  std::function<unsigned(std::size_t from, std::uint64_t number, Frame&)> fate = [](std::size_t, std::uint64_t, Frame&) {
    return 1u;
  };
};

SecurityConfig domain(std::uint32_t ssi = 1) {
  SecurityConfig c{.sdi = 0x1234, .ssi = ssi};
  c.key.fill(std::byte{0x5A});
  return c;
}

// A WRITE flow from end 0 to end 1, run for `limit`.
class Exchange {
 public:
  explicit Exchange(Setting setting, Duration limit = 50_ms) : setting_(std::move(setting)) {
    EngineConfig config;
    config.payload_mtu = 1024;
    config.rto_init = 100_us;
    config.idle_close = 50_us;
    EncapsulationConfig encapsulation;
    encapsulation.udp = setting_.udp;
    for (std::size_t i = 0; i < 2; ++i) {
      ends_.emplace_back(config, encapsulation, RngStream(Seed{1}, i == 0 ? "a" : "b"), setting_.real, 4096);
      if (setting_.security[i]) ends_[i].secure(*setting_.security[i]);
    }
    AddressVector forth;
    forth.source = setting_.v4 ? wire::IpAddress(0x0A000001) : *wire::IpAddress::parse("fd00::1");
    forth.destination = setting_.v4 ? wire::IpAddress(0x0A000002) : *wire::IpAddress::parse("fd00::2");
    AddressVector back = forth;
    std::swap(back.source, back.destination);
    FlowConfig flow;
    flow.message = 3000;
    flow.outstanding = 4;
    flow.total = Bytes{3000 * static_cast<std::int64_t>(kMessages)};
    places_ = FlowConnection::make(flow, {&ends_[0], forth, 0}, {&ends_[1], back, 0});
    run(Instant{} + limit);
  }

  std::uint64_t verified() const { return ends_[1].verified(places_.at_sink); }
  const Counters& counters(std::size_t end) const { return ends_[end].engine().counters(); }
  const std::vector<Frame>& sent() const { return sent_; }

 private:
  void run(Instant until) {
    for (;;) {
      Instant next = Instant::never();
      for (std::size_t i = 0; i < 2; ++i) next = std::min(next, step(i));
      if (!arrivals_.empty()) next = std::min(next, arrivals_.begin()->first.first);
      if (next > until) return;
      now_ = std::max(now_, next);
      while (!arrivals_.empty() && arrivals_.begin()->first.first <= now_) {
        const auto [to, f] = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        PayloadRef payload = f.payload;
        if (!f.octets.empty()) payload.bytes = f.octets.data();
        RxFrame in{now_, now_, f.header, payload, false, f.trimmed};
        in.icrc_pending = !setting_.security[1 - to].has_value();
        in.corrupted = f.corrupted;
        ends_[to].receive({&in, 1});
      }
    }
  }

  Instant step(std::size_t i) {
    if (now_ < free_at_[i]) return free_at_[i];
    const Readiness r = ends_[i].ready(now_);
    for (std::uint8_t p = kPriorities; p-- > 0;) {
      if ((r.classes & bit(Priority{p})) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (ends_[i].send(now_, Priority{p}, {&out, 1}) == 0) continue;
      EXPECT_EQ(out.trailer_octets, setting_.security[i] ? 0 : 4);
      Frame f{{header.begin(), header.begin() + out.header_octets}, out.payload};
      if (setting_.real && out.payload.octets > 0) {
        f.octets.resize(out.payload.octets);
        if (out.payload.bytes != nullptr)
          std::copy_n(out.payload.bytes, out.payload.octets, f.octets.begin());
        else
          fill_payload(out.payload.stream, out.payload.offset, f.octets);
      }
      f.payload.bytes = nullptr;
      sent_.push_back(f);
      free_at_[i] = now_ + Bytes{static_cast<std::int64_t>(f.header.size() + f.payload.octets + 28)} / 100_Gbps;
      for (unsigned n = setting_.fate(i, number_[i]++, f); n > 0; --n)
        arrivals_.emplace(std::pair{free_at_[i] + 1_us, order_++}, std::pair{1 - i, f});
      return free_at_[i];
    }
    return r.until;
  }

  Setting setting_;
  std::deque<FlowEndpoint> ends_;
  FlowConnection::Places places_{};
  std::array<Instant, 2> free_at_{};
  std::array<std::uint64_t, 2> number_{};
  std::map<std::pair<Instant, std::uint64_t>, std::pair<std::size_t, Frame>> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<Frame> sent_;
};

void expect_complete(const Exchange& e) {
  EXPECT_EQ(e.verified(), kMessages);
  for (const std::size_t end : {0u, 1u}) {
    const Counters& c = e.counters(end);
    EXPECT_EQ(c.secured_packets_sent.read(), c.sent_packets.read());
    EXPECT_EQ(c.received_packets.read(), c.taken_packets.read() + c.all_drops());
    EXPECT_EQ(c.received_packets.read(), c.secured_packets_received.read() + c.drops(Drop::kSecurity));
  }
}

TEST(UetEndpointSecurity, FlowsCompleteInEveryEncapsulation) {
  for (const bool real : {false, true})
    for (const bool v4 : {true, false})
      for (const bool udp : {true, false}) {
        const Exchange e({.real = real, .v4 = v4, .udp = udp, .security = {domain(1), domain(2)}});
        expect_complete(e);
        EXPECT_EQ(e.counters(1).drops(Drop::kSecurity), 0u);
        const std::size_t inner = wire::Ethernet::kOctets + (v4 ? 20 : 40) + (udp ? 8 : 4);
        for (const Frame& f : e.sent()) {
          const auto tss = decode_tss(std::span(f.header).subspan(inner));
          ASSERT_TRUE(tss.has_value());
          EXPECT_EQ(tss->sdi, 0x1234u);
          EXPECT_EQ(tss->ssi.has_value(), !v4);
          if (v4) {
            EXPECT_EQ(wire::read<wire::Ipv4::TotalLength>(f.header.data() + 14), f.header.size() + f.payload.octets - 14);
          }
        }
      }
}

TEST(UetEndpointSecurity, LossesAndRotationsLoseNothing) {
  for (const SecurityMode mode : {SecurityMode::kDirect, SecurityMode::kCluster})
    for (const bool real : {false, true}) {
      SecurityConfig c = domain();
      c.mode = mode;
      c.next_key = c.key;
      (*c.next_key)[0] = std::byte{1};
      c.rotate_after = 7;
      const Exchange e({.real = real, .security = {c, c}, .fate = [](std::size_t, std::uint64_t n, Frame&) {
                          return n % 5 == 3 ? 0u : 1u;
                        }});
      expect_complete(e);
      EXPECT_GT(e.counters(0).retransmitted_packets.read(), 0u);
    }
}

TEST(UetEndpointSecurity, ReplaysAreDropped) {
  for (const bool real : {false, true}) {
    const Exchange e({.real = real, .security = {domain(), domain()}, .fate = [](std::size_t from, std::uint64_t, Frame&) {
                        return from == 0 ? 3u : 1u;
                      }});
    expect_complete(e);
    EXPECT_EQ(e.counters(1).drops(SecurityDrop::kReplayed), 2 * e.counters(0).sent_packets.read());
    EXPECT_EQ(e.counters(1).drops(Drop::kDuplicate), 0u);
  }
}

TEST(UetEndpointSecurity, AWrongKeyDeliversNothing) {
  SecurityConfig other = domain();
  other.key[31] ^= std::byte{1};
  for (const bool real : {false, true}) {
    const Exchange e({.real = real, .security = {domain(), other}}, 5_ms);
    EXPECT_EQ(e.verified(), 0u);
    const Counters& c = e.counters(1);
    EXPECT_GT(c.drops(SecurityDrop::kAuthenticationFailed), 0u);
    EXPECT_EQ(c.drops(SecurityDrop::kAuthenticationFailed), c.received_packets.read());
    EXPECT_EQ(c.pdcs_opened.read(), 0u);
  }
}

TEST(UetEndpointSecurity, OnlySecuredPacketsAreTaken) {
  const Exchange e({.security = {std::nullopt, domain()}}, 5_ms);
  EXPECT_EQ(e.verified(), 0u);
  EXPECT_GT(e.counters(1).drops(SecurityDrop::kNotSecured), 0u);
  // And without a domain a secured packet is malformed.
  const Exchange f({.security = {domain(), std::nullopt}}, 5_ms);
  EXPECT_EQ(f.verified(), 0u);
  EXPECT_GT(f.counters(1).malformed[static_cast<std::size_t>(Malformed::kSecured)].read(), 0u);
}

TEST(UetEndpointSecurity, ChangedOctetsAreRetransmitted) {
  for (const bool real : {false, true}) {
    const Exchange e({.real = real, .security = {domain(), domain()}, .fate = [](std::size_t from, std::uint64_t n, Frame& f) {
                        if (from != 0 || n % 4 != 1) return 1u;
                        if (!f.octets.empty())
                          f.octets[5] ^= std::byte{1};
                        else if (n % 8 == 1 || f.payload.octets == 0)
                          f.header.back() ^= std::byte{1};
                        else
                          f.corrupted = true;
                        return 1u;
                      }});
    expect_complete(e);
    EXPECT_GT(e.counters(1).drops(SecurityDrop::kAuthenticationFailed), 2u);
  }
}

// A switch cuts packets; nothing answers them, and the sender finds the loss.
TEST(UetEndpointSecurity, TrimmedPacketsAreCountedAndRetransmitted) {
  const Exchange e({.security = {domain(), domain()}, .fate = [](std::size_t from, std::uint64_t n, Frame& f) {
                      if (from != 0 || n % 6 != 2 || f.payload.octets == 0) return 1u;
                      f.header.resize(64);
                      f.payload = {};
                      f.trimmed = true;
                      wire::write<wire::Ipv4::TotalLength>(f.header.data() + 14, 50);
                      wire::write<wire::Ipv4::HeaderChecksum>(f.header.data() + 14, 0);
                      std::uint32_t sum = 0;
                      for (std::size_t i = 14; i < 34; i += 2) sum += wire::read<wire::Field<0, 16>>(f.header.data() + i);
                      sum = (sum & 0xFFFF) + (sum >> 16);
                      sum = (sum & 0xFFFF) + (sum >> 16);
                      wire::write<wire::Ipv4::HeaderChecksum>(f.header.data() + 14, static_cast<std::uint16_t>(~sum));
                      return 1u;
                    }});
  expect_complete(e);
  EXPECT_GT(e.counters(1).drops(SecurityDrop::kTrimmed), 0u);
  EXPECT_EQ(e.counters(1).sent(NackCode::kTrimmed), 0u);
}

}  // namespace
}  // namespace railyard::uet
