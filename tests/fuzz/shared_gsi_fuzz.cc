// QP 1 of a NIC that several processes share: any frames from peers and from processes, which join, claim ports and leave.
// Whose a frame is must be somebody who is there, and what is answered must be read by who gets it.
//
// Input: steps, each an octet and what belongs to it. Frames: an octet that says how (bit 0: without ICRC, bit 1: only a
// MAD, which gets honest headers), two octets of length, and the octets.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "tests/fuzz/expect.h"
#include "transports/roce/cm/shared_gsi.h"
#include "transports/roce/ids.h"
#include "transports/roce/path.h"
#include "transports/roce/wire/packet.h"

using namespace railyard;
using namespace railyard::roce;

namespace {

constexpr cm::SharedGsi::Owner kOwners = 4;
const wire::IpAddress kOwn(0x0A000001u), kPeer(0x0A000002u);

struct Input {
  std::span<const std::byte> left;
  std::uint32_t number(unsigned octets) {
    std::uint32_t n = 0;
    for (; octets > 0 && !left.empty(); --octets, left = left.subspan(1)) n = n << 8 | std::to_integer<std::uint32_t>(left[0]);
    return n;
  }
  std::span<const std::byte> take(std::size_t octets) {
    const auto taken = left.first(std::min(octets, left.size()));
    left = left.subspan(taken.size());
    return taken;
  }
};

// A UD packet to QP 1 around it, without ICRC.
std::vector<std::byte> with_headers(std::span<const std::byte> octets, bool from_peer) {
  std::array<std::byte, cm::kMadOctets> mad{};
  std::copy_n(octets.begin(), std::min(octets.size(), mad.size()), mad.begin());
  AddressVector av;
  av.source = from_peer ? kPeer : kOwn;
  av.destination = from_peer ? kOwn : kPeer;
  Packet packet;
  packet.bth.opcode = opcode::kUdSendOnly;
  packet.bth.dest_qp = kGsiQp.value;
  packet.deth = {.q_key = kGsiQKey, .source_qp = kGsiQp.value};
  packet.payload_octets = cm::kMadOctets;
  std::vector<std::byte> frame(Path::kMostOctets + packet.octets());
  const std::size_t front = Path(av).write(frame.data(), packet.octets());
  frame.resize(front + encode(std::span(frame).subspan(front), packet, mad));
  return frame;
}

class Target {
 public:
  void step(Input& input) {
    const cm::SharedGsi::Owner owner = input.number(1) % kOwners;
    const auto space = input.number(1) % 2 == 0 ? cm::PortSpace::kTcp : cm::PortSpace::kUdp;
    switch (input.number(1) % 6) {
      case 0:
        gsi_.join(owner);
        there_.insert(owner);
        break;
      case 1:
        for (const auto& frame : gsi_.leave(owner)) expect_is_read(frame);
        there_.erase(owner);
        break;
      case 2:  // as the daemon does, only who is there may
        if (there_.contains(owner)) claim(owner, space, static_cast<std::uint16_t>(input.number(2)));
        break;
      case 3:
        gsi_.release(owner, space, static_cast<std::uint16_t>(input.number(2)));
        break;
      case 4:
        from_fabric(input);
        break;
      case 5:
        from_process(owner, input);
        break;
    }
  }

 private:
  void claim(cm::SharedGsi::Owner owner, cm::PortSpace space, std::uint16_t wanted) {
    const auto port = gsi_.claim(owner, space, wanted);
    if (!port) return;
    FUZZ_EXPECT(*port != 0 && (wanted == 0 || *port == wanted));
    const auto again = gsi_.claim((owner + 1) % kOwners, space, *port);
    FUZZ_EXPECT(!again);
  }
  static std::vector<std::byte> frame_in(Input& input, bool from_peer, bool& icrc_pending) {
    const std::uint32_t how = input.number(1);
    const auto octets = input.take(input.number(2));
    icrc_pending = (how & 3) != 0;
    return (how & 2) != 0 ? with_headers(octets, from_peer) : std::vector<std::byte>(octets.begin(), octets.end());
  }
  void from_fabric(Input& input) {
    bool icrc_pending = false;
    const auto frame = frame_in(input, true, icrc_pending);
    const auto verdict = gsi_.for_frame(frame, icrc_pending);
    FUZZ_EXPECT(!verdict.owner || (there_.contains(*verdict.owner) && verdict.answer.empty()));
    if (!verdict.answer.empty()) expect_is_read(verdict.answer);
  }
  void from_process(cm::SharedGsi::Owner owner, Input& input) {
    bool icrc_pending = false;
    const auto frame = frame_in(input, false, icrc_pending);
    static_cast<void>(gsi_.may_send(owner, frame, icrc_pending));
  }
  // By a QP 1 where nobody is: it is a datagram of connection management, or it would be ignored.
  static void expect_is_read(std::span<const std::byte> frame) {
    FUZZ_EXPECT(frame.size() > cm::kMadOctets);
    FUZZ_EXPECT(cm::decode(frame.last(cm::kMadOctets)).has_value());
  }

  cm::SharedGsi gsi_;
  std::set<cm::SharedGsi::Owner> there_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Target target;
  Input input{std::as_bytes(std::span(data, size))};
  while (!input.left.empty()) target.step(input);
  return 0;
}
