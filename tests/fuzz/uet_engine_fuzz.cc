// Any packets to an Ultra Ethernet engine whose PDCs, for RUD and for ROD, and whose RUDI and UUD messages are at work.
//
// Input: packets, each an octet, two octets of length, and the packet from its PDS header on. The first octet: bits 1:0
// whose PDCIDs and PSNs it gets (0: as it says; 1: a PDC that we opened, RUD, or 2: ROD; 3: the last one that the peer
// opened), bit 2 CE, bit 3 trimmed, bits 7:4 how much time passes before.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/uet/engine.h"

using namespace railyard;
using namespace railyard::uet;

namespace {

constexpr ProtectionDomain kDomain{1};
constexpr std::uint64_t kAddress = 0x7F0000001000;
constexpr std::size_t kOctets = 16384;
const wire::IpAddress kOwn(0x0A000001u), kPeer(0x0A000002u);

// What is known of a PDC's numbers: those that a packet to it has.
struct Numbers {
  std::uint16_t ours = 0;
  std::uint16_t theirs = 0x77;
  std::uint32_t psn = 0;  // near what it expects
};

EngineConfig config() {
  EngineConfig c;
  c.payload_mtu = 1024;
  c.most_pdcs = 64;
  c.window = 64;
  c.mp_range = 128;
  c.idle_close = Duration{100'000'000};
  c.target_idle = Duration{1'000'000'000};
  c.close_req_time = Duration{1'000'000'000};
  c.rto_init = Duration{50'000'000};
  c.retries = 3;
  c.setup_retries = 8;
  c.no_match_least = Duration{50'000'000};
  c.no_match_most = Duration{100'000'000};
  return c;
}

struct FuzzedEnd {
  // Between two strips that nobody may write to.
  std::vector<std::byte> memory = std::vector<std::byte>(kOctets + 2 * kStrip, std::byte{0xA5});
  static constexpr std::size_t kStrip = 64;
  Engine engine{config(), RngStream(Seed{1}, "fuzz")};
  MemoryRegions::Key key = 0;
  std::array<Numbers, 4> numbers{};

  FuzzedEnd() {
    key = engine.memory()
              .add({.address = kAddress,
                    .octets = kOctets,
                    .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite | Access::kRemoteRead |
                              Access::kRemoteAtomic,
                    .domain = kDomain,
                    .memory = memory.data() + kStrip})
              .value();
    const CqId cq = engine.create_cq(256);
    const ContextId context = engine.create_context({.domain = kDomain, .cq = cq, .most_receives = 8});
    const PeerId peer = engine.peer({.source_mac = {}, .next_hop_mac = {}, .source = kOwn, .destination = kPeer});
    for (std::uint64_t i = 0; i < 4; ++i)
      FUZZ_EXPECT(engine
                      .post_receive({}, context,
                                    {.wr_id = i,
                                     .local = {kAddress, 2048, key},
                                     .tagged = i % 2 == 1,
                                     .match_bits = i,
                                     .ignore = i == 3 ? ~std::uint64_t{0} : 0})
                      .has_value());
    SendWr wr{.peer = peer, .local = {kAddress, 3000, key}};
    wr.memory_key = key | kIdempotentSafe;
    for (const DeliveryMode mode : {DeliveryMode::kRud, DeliveryMode::kRod}) {
      wr.mode = mode;
      for (const Operation o : {Operation::kWrite, Operation::kSend, Operation::kRead, Operation::kFetchingAtomic}) {
        wr.operation = o;
        wr.local.octets = o == Operation::kFetchingAtomic ? 8 : 3000;
        FUZZ_EXPECT(engine.post({}, context, wr).has_value());
      }
    }
    wr.mode = DeliveryMode::kRudi;
    for (const Operation o : {Operation::kWrite, Operation::kRead}) {
      wr.operation = o;
      wr.local.octets = 3000;
      FUZZ_EXPECT(engine.post({}, context, wr).has_value());
    }
    wr.mode = DeliveryMode::kUud;
    wr.operation = Operation::kDatagram;
    wr.local.octets = 500;
    FUZZ_EXPECT(engine.post({}, context, wr).has_value());
  }

  // The numbers that the PDC wants, and the PSN that the packet says, but for its sign and its low bits, is how far
  // beside it is.
  void make_its(const Numbers& n, Pds& pds) const {
    const auto near = [&](std::uint32_t said) { return n.psn + (said & 15) - 4; };
    std::visit(
        [&](auto& p) {
          using T = std::remove_cvref_t<decltype(p)>;
          if constexpr (!std::is_same_v<T, PdsRudiValues> && !std::is_same_v<T, PdsUudValues>) {
            p.spdcid = n.theirs;
            p.dpdcid = n.ours;
            if constexpr (std::is_same_v<T, PdsAckValues>)
              p.cack_psn = near(p.cack_psn);
            else if constexpr (std::is_same_v<T, PdsNackValues>)
              p.nack_psn = near(p.nack_psn);
            else
              p.psn = near(p.psn);
          }
        },
        pds);
  }

  void take(Instant now, std::uint8_t how, std::span<const std::byte> octets) {
    auto packet = decode(octets);
    if (!packet) return engine.on_malformed(packet.error());
    if ((how & 3) != 0) make_its(numbers[how & 3], packet->pds);
    // The keys that the engine gave are hard to guess.
    if (auto* ses = std::get_if<SesRequestValues>(&packet->ses); ses != nullptr && (ses->match_bits & 0xFF) != 0)
      ses->match_bits = key | (ses->match_bits & kIdempotentSafe);
    // Its own block: one octet too far is an error of the sanitizer.
    const auto begin = octets.begin() + static_cast<std::ptrdiff_t>(packet->header_octets());
    const std::vector<std::byte> payload(begin, begin + static_cast<std::ptrdiff_t>(packet->payload_octets));
    InPacket in{.packet = *packet,
                .payload = {.octets = packet->payload_octets, .bytes = payload.data()},
                .source = kPeer,
                .destination = kOwn,
                .source_mac = {},
                .destination_mac = {},
                .entropy = 7,
                .ce = (how & 4) != 0,
                .trimmed = (how & 8) != 0};
    if (in.trimmed) {
      in.packet.ses = {};
      in.packet.payload_octets = 0;
      in.payload = {};
    }
    static_cast<void>(engine.read_of(in));
    static_cast<void>(engine.on_packet(now, in));
  }

  // What goes out says which numbers the PDCs have.
  void learn(const OutPacket& out) {
    if (const auto* r = std::get_if<PdsRequestValues>(&out.packet.pds)) {
      Numbers& n = numbers[r->is_rod() ? 2 : 1];
      n.ours = r->spdcid;
      n.psn = r->psn;
    } else if (const auto* a = std::get_if<PdsAckValues>(&out.packet.pds)) {
      numbers[3] = {a->spdcid, a->dpdcid, a->cack_psn};
    }
  }

  void send_all(Instant now) {
    OutPacket out;
    for (int i = 0; i < 256; ++i) {
      const Readiness r = engine.ready(now);
      if (r.classes == 0) break;
      for (std::uint8_t p = 0; p < kPriorities; ++p)
        if ((r.classes >> p & 1) != 0 && engine.send(now, Priority{p}, out)) {
          std::array<std::byte, kMostPacketHeaderOctets> octets;
          FUZZ_EXPECT(encode_headers(octets, out.packet) == out.packet.header_octets());
          learn(out);
        }
    }
  }

  // Nobody answers any more: timeouts end it all.
  void run_out(Instant now) {
    for (int i = 0; i < 20'000; ++i) {
      send_all(now);
      const Readiness r = engine.ready(now);
      if (r.until == Instant::never()) break;
      now = std::max(now, r.until);
    }
  }

  void expect_in_order() const {
    const Counters& c = engine.counters();
    FUZZ_EXPECT(c.received_packets.read() == c.taken_packets.read() + c.all_drops());
    FUZZ_EXPECT(c.pdcs_opened.read() == c.pdcs_closed.read() + c.pdcs_failed.read() + engine.pdcs());
    const auto strip_is_whole = [](std::span<const std::byte> strip) {
      return std::ranges::all_of(strip, [](std::byte b) { return b == std::byte{0xA5}; });
    };
    FUZZ_EXPECT(strip_is_whole(std::span(memory).first(kStrip)) && strip_is_whole(std::span(memory).last(kStrip)));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  FuzzedEnd end;
  Instant now{};
  end.send_all(now);
  while (input.size() >= 3) {
    const auto how = std::to_integer<std::uint8_t>(input[0]);
    const std::size_t octets = std::min<std::size_t>(
        std::to_integer<std::size_t>(input[1]) << 8 | std::to_integer<std::size_t>(input[2]), input.size() - 3);
    now = now + Duration{std::int64_t{how >> 4} * 3'000'000};
    end.take(now, how, input.subspan(3, octets));
    end.send_all(now);
    input = input.subspan(3 + octets);
  }
  end.expect_in_order();
  end.run_out(now);
  end.expect_in_order();
  FUZZ_EXPECT(end.engine.pdcs() == 0);
  return 0;
}
