// Any datagrams to an engine whose QPs, of every type and with either loss recovery, are at work.
//
// Input: packets, each an octet, two octets of length, and the datagram. The first octet: bits 1:0 the QP that it is
// for (3: as its BTH says), bit 2 CE, bits 7:3 how much time passes before.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/roce/engine.h"

using namespace railyard;
using namespace railyard::roce;

namespace {

constexpr ProtectionDomain kDomain{1};
constexpr std::uint64_t kAddress = 0x7F0000001000;  // that of the corpus
constexpr std::size_t kOctets = 8192;
const wire::IpAddress kOwn(0x0A000001u), kPeer(0x0A000002u);

struct Target {
  // Between two strips that nobody may write to.
  std::vector<std::byte> memory = std::vector<std::byte>(kOctets + 2 * kStrip, std::byte{0xA5});
  static constexpr std::size_t kStrip = 64;
  Engine engine{{.congestion = DcqcnConfig::paper(BitRate{100'000'000'000})}};
  std::uint32_t key = 0;
  std::vector<QpNumber> qps;

  Target() {
    key = engine.memory()
              .add({.address = kAddress,
                    .octets = kOctets,
                    .access = AccessSet(Access::kLocalWrite) | Access::kRemoteWrite | Access::kRemoteRead |
                              Access::kRemoteAtomic,
                    .domain = kDomain,
                    .memory = memory.data() + kStrip})
              .value();
    const CqId cq = engine.create_cq(64);
    AddressVector av;
    av.source = kOwn;
    av.destination = kPeer;
    const AhId ah = engine.create_ah(av);
    for (int kind = 0; kind < 4; ++kind) {
      QpInit init{.type = kind == 2   ? QpType::kUc
                          : kind == 3 ? QpType::kUd
                                      : QpType::kRc,
                  .domain = kDomain,
                  .send_cq = cq,
                  .recv_cq = cq};
      if (kind == 1) init.selective_repeat.emplace();
      const QpNumber qp = engine.create_qp(init).value();
      qps.push_back(qp);
      set_up(qp, init.type, av);
      for (std::uint64_t i = 0; i < 3; ++i)
        FUZZ_EXPECT(engine.post_recv({}, qp, {.wr_id = i, .sges = {{kAddress, 1024, key}}}).has_value());
      SendWr wr{.opcode = SendOpcode::kSend, .sges = {{kAddress, 3000, key}}, .ah = ah, .remote_qp = qp};
      FUZZ_EXPECT(engine.post_send({}, qp, wr).has_value());
      if (init.type != QpType::kRc) continue;
      wr.remote_address = kAddress;
      wr.r_key = key;
      for (const SendOpcode o : {SendOpcode::kRead, SendOpcode::kWriteImm, SendOpcode::kFetchAdd, SendOpcode::kWrite}) {
        wr.opcode = o;
        wr.sges = {{kAddress, o == SendOpcode::kFetchAdd ? 8u : 3000u, key}};
        FUZZ_EXPECT(engine.post_send({}, qp, wr).has_value());
      }
    }
  }

  void set_up(QpNumber qp, QpType type, const AddressVector& av) {
    using enum QpAttribute;
    QpAttributes a{.access_flags = AccessSet(Access::kRemoteWrite) | Access::kRemoteRead | Access::kRemoteAtomic,
                   .q_key = 0x01020304,
                   .av = av,
                   .path_mtu = PathMtu::k256,
                   .timeout = 4,
                   .rq_psn = 0x100,
                   .max_rd_atomic = 2,
                   .sq_psn = 0x100,
                   .max_dest_rd_atomic = 2,
                   .dest_qpn = qp.value};
    const auto to = [&](QpState state, QpAttributeSet given) {
      FUZZ_EXPECT(engine.modify_qp({}, qp, state, given, a).has_value());
    };
    const bool ud = type == QpType::kUd, rc = type == QpType::kRc;
    to(QpState::kInit, ud ? QpAttributeSet{kPKeyIndex, kPort, kQKey} : QpAttributeSet{kAccessFlags, kPKeyIndex, kPort});
    to(QpState::kRtr, ud   ? QpAttributeSet{}
                      : rc ? QpAttributeSet{kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer}
                           : QpAttributeSet{kAv, kPathMtu, kDestQpn, kRqPsn});
    to(QpState::kRts,
       rc ? QpAttributeSet{kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic} : QpAttributeSet{kSqPsn});
  }

  void take(Instant now, std::uint8_t how, std::span<const std::byte> datagram) {
    auto packet = decode(datagram);
    if (!packet) return engine.on_malformed(packet.error());
    const std::size_t which = how & 3;
    if (which != 3) packet->bth.dest_qp = qps[which].value;
    // The keys that the engine gave are hard to guess.
    if (packet->reth.r_key != 0) packet->reth.r_key = key;
    packet->atomic_eth.r_key = key;
    // Its own block: one octet too far is an error of the sanitizer.
    const std::vector<std::byte> payload(
        datagram.begin() + static_cast<std::ptrdiff_t>(packet->header_octets()),
        datagram.begin() + static_cast<std::ptrdiff_t>(packet->header_octets() + packet->payload_octets));
    std::array<std::byte, 20> ip{};
    ip[0] = std::byte{0x45};
    engine.on_packet(now, {.packet = *packet,
                           .payload = {.octets = packet->payload_octets, .bytes = payload.data()},
                           .source = kPeer,
                           .destination = kOwn,
                           .ce = (how & 4) != 0,
                           .ip = ip});
  }

  void send_all(Instant now) {
    engine.begin_burst();
    OutPacket out;
    for (int i = 0; i < 64; ++i) {
      const Readiness r = engine.ready(now);
      if (r.classes == 0) break;
      for (std::uint8_t p = 0; p < kPriorities; ++p)
        if ((r.classes >> p & 1) != 0 && engine.send(now, Priority{p}, out)) {
          std::array<std::byte, 256> octets;
          FUZZ_EXPECT(encode_headers(octets, out.packet) == out.packet.header_octets());
        }
    }
  }

  void expect_in_order() const {
    const Counters& c = engine.counters();
    FUZZ_EXPECT(c.received_packets.read() == c.taken_packets.read() + c.all_drops());
    const auto strip_is_whole = [](std::span<const std::byte> strip) {
      return std::ranges::all_of(strip, [](std::byte b) { return b == std::byte{0xA5}; });
    };
    FUZZ_EXPECT(strip_is_whole(std::span(memory).first(kStrip)) && strip_is_whole(std::span(memory).last(kStrip)));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = std::as_bytes(std::span(data, size));
  Target target;
  Instant now{};
  target.send_all(now);
  while (input.size() >= 3) {
    const auto how = std::to_integer<std::uint8_t>(input[0]);
    const std::size_t octets = std::min<std::size_t>(
        std::to_integer<std::size_t>(input[1]) << 8 | std::to_integer<std::size_t>(input[2]), input.size() - 3);
    now = now + Duration{std::int64_t{how >> 3} * 3'000'000};
    target.take(now, how, input.subspan(3, octets));
    target.send_all(now);
    input = input.subspan(3 + octets);
  }
  target.send_all(now + Duration{1'000'000'000});
  target.expect_in_order();
  return 0;
}
