// A process that shares rings with the fabric, one per class to it and one from it, writes there what it likes, at any
// moment: the fabric's side neither reads nor writes beyond them, and does not go on with what cannot be.
//
// Input: octets of shared memory to overwrite, and what the fabric does in between.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "dataplane/base/class_rings.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace railyard;

constexpr FrameRingGeometry kGeometry{.slots = 8, .slot_octets = 128};

// Of exactly the size of so many rings, so that the sanitizer sees each octet beyond.
struct Memory {
  explicit Memory(std::size_t rings)
      : size(rings * kGeometry.octets()),
        octets(static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))) {
    std::memset(octets, 0, size);
  }
  ~Memory() { ::operator delete (octets, std::align_val_t{64}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::size_t size;
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
  const Memory from_host(kPriorities), to_host(1);
  ClassRingsConsumer consumer(from_host.octets, kGeometry);
  FrameRingProducer producer(to_host.octets, kGeometry);
  Input input{{data, size}};
  while (!input.left.empty()) {
    switch (input.number(1) % 6) {
      case 0: {  // the process writes a word anywhere
        const std::uint32_t at = input.number(2);
        const std::uint32_t word = input.number(4);
        const Memory& memory = input.number(1) % 2 == 0 ? from_host : to_host;
        std::memcpy(memory.octets + at % (memory.size / 4) * 4, &word, sizeof word);
        break;
      }
      case 1: {  // or the numbers that count, by little
        const std::size_t ring = input.number(1) % kPriorities;
        auto& header = *reinterpret_cast<FrameRingHeader*>(from_host.octets + ring * kGeometry.octets());
        header.tail.fetch_add(input.number(1));
        break;
      }
      case 2: {
        auto& header = *reinterpret_cast<FrameRingHeader*>(to_host.octets);
        header.head.fetch_add(input.number(1));
        break;
      }
      case 3:
        for (std::uint8_t c = 0; c < kPriorities; ++c) take_all(consumer.of(Priority{c}));
        break;
      case 4:
        put_all(producer);
        break;
      case 5:
        if (consumer.sleep_until_frame(static_cast<PriorityMask>(input.number(1)))) consumer.wake();
        producer.sleep_until_room();
        break;
    }
  }
  return 0;
}
