// The application's side of a ring: any octets in the memory that it shares with the fabric, and any frames in order in it,
// to the engines behind it. The application takes what is there, and reads nothing beyond.
//
// Input: steps, each an octet and what belongs to it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "dataplane/base/frame_ring.h"
#include "tests/fuzz/expect.h"
#include "transports/roce/roce_endpoint.h"
#include "transports/uet/uet_endpoint.h"

using namespace railyard;

namespace {

constexpr FrameRingGeometry kGeometry{.slots = 8, .slot_octets = 512};

// Of exactly the ring's size, so that the sanitizer sees each octet beyond.
struct Memory {
  Memory() : octets(static_cast<std::byte*>(::operator new (kGeometry.octets(), std::align_val_t{64}))) {
    std::memset(octets, 0, kGeometry.octets());
  }
  ~Memory() { ::operator delete (octets, std::align_val_t{64}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* octets;
};

struct Input {
  std::span<const std::byte> left;
  std::uint32_t number(unsigned octets) {
    std::uint32_t n = 0;
    for (; octets > 0 && !left.empty(); --octets, left = left.subspan(1)) n = n << 8 | std::to_integer<std::uint32_t>(left[0]);
    return n;
  }
};

class Application {
 public:
  // As NicDriver takes them.
  void take_all(FrameRingConsumer& ring, Instant now) {
    unsigned frames = 0;
    while (const auto frame = ring.front()) {
      FUZZ_EXPECT(frame->octets.size() <= kGeometry.room());
      FUZZ_EXPECT(++frames <= 2 * kGeometry.slots);
      const RxFrame in{.at = now,
                       .sent = now,
                       .header = frame->octets,
                       .payload = {},
                       .icrc_pending = (frame->flags & kFrameIcrcPending) != 0,
                       .trimmed = (frame->flags & kFrameTrimmed) != 0};
      roce::InPacket packet;
      roce_.receive_one(in, packet);
      uet_.receive({&in, 1});
      ring.pop();
    }
    ring.release();
    static_cast<void>(roce_.ready(now));
    static_cast<void>(uet_.ready(now));
  }

 private:
  roce::RoceEndpoint roce_{{}, true};
  uet::UetEndpoint uet_{{}, {}, RngStream(Seed{1}, "fuzz"), true};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Memory memory;
  Application application;
  FrameRingConsumer ring(memory.octets, kGeometry);
  FrameRingProducer fabric(memory.octets, kGeometry);
  Input input{std::as_bytes(std::span(data, size))};
  Instant now{};
  while (!input.left.empty()) {
    now = now + Duration{1'000'000};
    switch (input.number(1) % 4) {
      case 0: {  // a word anywhere
        const std::size_t at = input.number(2) % (kGeometry.octets() / 4) * 4;
        const std::uint32_t word = input.number(4);
        std::memcpy(memory.octets + at, &word, sizeof word);
        break;
      }
      case 1: {  // a frame
        const std::uint32_t flags = input.number(1) & kFrameFlags;
        const std::size_t octets =
            std::min({static_cast<std::size_t>(input.number(2)), input.left.size(), std::size_t{kGeometry.room()}});
        std::byte* const room = fabric.next();
        if (room == nullptr) break;
        std::copy_n(input.left.begin(), octets, room);
        input.left = input.left.subspan(octets);
        fabric.commit(static_cast<std::uint32_t>(octets), flags);
        fabric.publish();
        break;
      }
      case 2:
        reinterpret_cast<FrameRingHeader*>(memory.octets)->tail.fetch_add(input.number(1));
        break;
      case 3:
        application.take_all(ring, now);
        break;
    }
  }
  application.take_all(ring, now);
  return 0;
}
