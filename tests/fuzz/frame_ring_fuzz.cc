// A process that shares a ring with the fabric writes there what it likes, at any moment: the fabric's side neither
// reads nor writes beyond the ring, and does not go on with what cannot be.
//
// Input: octets of shared memory to overwrite, and what the fabric does in between.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "dataplane/base/frame_ring.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace railyard;

constexpr FrameRingGeometry kGeometry{.slots = 8, .slot_octets = 128};

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
  std::span<const std::uint8_t> left;
  std::uint32_t number(unsigned octets) {
    std::uint32_t n = 0;
    for (; octets > 0 && !left.empty(); --octets, left = left.subspan(1)) n = n << 8 | left[0];
    return n;
  }
};

void take_all(FrameRingConsumer& ring) {
  unsigned sum = 0, frames = 0;
  while (const auto frame = ring.front()) {
    FUZZ_EXPECT(frame->octets.size() <= kGeometry.room());
    FUZZ_EXPECT(++frames <= 2 * kGeometry.slots);
    for (const std::byte octet : frame->octets) sum += std::to_integer<unsigned>(octet);
    ring.pop();
  }
  ring.release();
  volatile unsigned used = sum;
  static_cast<void>(used);
}

void put_all(FrameRingProducer& ring) {
  unsigned frames = 0;
  while (std::byte* const room = ring.next()) {
    // A process may say that it has taken what it was not told of yet: its own loss.
    FUZZ_EXPECT(++frames <= 2 * kGeometry.slots);
    std::memset(room, 0x5A, kGeometry.room());
    ring.commit(kGeometry.room(), 0);
  }
  ring.publish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Memory from_host, to_host;
  FrameRingConsumer consumer(from_host.octets, kGeometry);
  FrameRingProducer producer(to_host.octets, kGeometry);
  Input input{{data, size}};
  while (!input.left.empty()) {
    switch (input.number(1) % 6) {
      case 0: {  // the process writes a word anywhere
        const std::size_t at = input.number(2) % (kGeometry.octets() / 4) * 4;
        const std::uint32_t word = input.number(4);
        std::memcpy((input.number(1) % 2 == 0 ? from_host : to_host).octets + at, &word, sizeof word);
        break;
      }
      case 1: {  // or the numbers that count, by little
        auto& header = *reinterpret_cast<FrameRingHeader*>(from_host.octets);
        header.tail.fetch_add(input.number(1));
        break;
      }
      case 2: {
        auto& header = *reinterpret_cast<FrameRingHeader*>(to_host.octets);
        header.head.fetch_add(input.number(1));
        break;
      }
      case 3:
        take_all(consumer);
        break;
      case 4:
        put_all(producer);
        break;
      case 5:
        if (consumer.sleep_until_frame()) consumer.wake();
        producer.sleep_until_room();
        break;
    }
  }
  return 0;
}
