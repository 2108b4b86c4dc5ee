#include "dataplane/base/frame_ring.h"

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/frame_ring_pair.h"

namespace railyard {
namespace {

constexpr FrameRingGeometry kSmall{.slots = 4, .slot_octets = 128};

struct Aligned {
  void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
};

// Memory of exactly the size that a ring may touch, so that a sanitizer sees every octet too far.
struct Memory {
  explicit Memory(FrameRingGeometry geometry)
      : octets(static_cast<std::byte*>(::operator new (geometry.octets(), std::align_val_t{64}))) {
    std::memset(octets.get(), 0, geometry.octets());
  }
  FrameRingHeader& header() const noexcept { return *reinterpret_cast<FrameRingHeader*>(octets.get()); }
  FrameDescriptor& descriptor(FrameRingGeometry geometry, std::size_t slot) const noexcept {
    return *reinterpret_cast<FrameDescriptor*>(octets.get() + sizeof(FrameRingHeader) + slot * geometry.slot_octets);
  }
  std::unique_ptr<std::byte, Aligned> octets;
};

bool put(FrameRingProducer& ring, std::uint8_t fill, std::uint32_t octets = 60) {
  std::byte* const room = ring.next();
  if (room == nullptr) return false;
  std::memset(room, fill, octets);
  ring.commit(octets, 0);
  return true;
}

TEST(FrameRing, GeometryIsChecked) {
  EXPECT_TRUE(kSmall.valid());
  for (const FrameRingGeometry bad :
       {FrameRingGeometry{0, 128}, FrameRingGeometry{3, 128}, FrameRingGeometry{4, 100}, FrameRingGeometry{4, 64},
        FrameRingGeometry{1u << 17, 128}, FrameRingGeometry{4, 1u << 17}})
    EXPECT_FALSE(bad.valid());
  const FrameRingPairGeometry pair{kSmall, kSmall};
  EXPECT_EQ(pair.octets(), 4096 + 9 * kSmall.octets());
}

TEST(FrameRing, FramesComeInOrderAndNotBeforeTheyArePublished) {
  const Memory memory(kSmall);
  FrameRingProducer producer(memory.octets.get(), kSmall);
  FrameRingConsumer consumer(memory.octets.get(), kSmall);
  EXPECT_FALSE(consumer.front());
  for (std::uint8_t i = 0; i < 4; ++i) EXPECT_TRUE(put(producer, i));
  EXPECT_FALSE(put(producer, 9)) << "the ring is full";
  EXPECT_FALSE(consumer.front()) << "nothing is published";
  EXPECT_FALSE(producer.publish()) << "nobody sleeps";
  for (std::uint8_t i = 0; i < 4; ++i) {
    const auto frame = consumer.front();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->octets.size(), 60u);
    EXPECT_EQ(frame->octets[59], std::byte{i});
    consumer.pop();
  }
  EXPECT_FALSE(put(producer, 9)) << "nothing is released";
  consumer.release();
  EXPECT_TRUE(put(producer, 9));
}

TEST(FrameRing, WhoSleepsIsWokenOnce) {
  const Memory memory(kSmall);
  FrameRingProducer producer(memory.octets.get(), kSmall);
  FrameRingConsumer consumer(memory.octets.get(), kSmall);
  EXPECT_TRUE(consumer.sleep_until_frame());
  put(producer, 1);
  EXPECT_TRUE(producer.publish());
  EXPECT_FALSE(consumer.sleeps());
  put(producer, 2);
  EXPECT_FALSE(producer.publish());
  EXPECT_FALSE(consumer.sleep_until_frame()) << "there are frames";
  EXPECT_FALSE(producer.sleep_until_room()) << "there is room";
  put(producer, 3);
  put(producer, 4);
  producer.publish();
  EXPECT_TRUE(producer.sleep_until_room());
  ASSERT_TRUE(consumer.front());
  consumer.pop();
  EXPECT_TRUE(consumer.release());
  EXPECT_FALSE(consumer.release());
}

// ---- The other side lies
// ---------------------------------------------------------------------------------------------

TEST(FrameRing, AConsumerBelievesNoImpossibleNumberOfFrames) {
  const Memory memory(kSmall);
  FrameRingConsumer consumer(memory.octets.get(), kSmall);
  memory.header().tail = 5;
  EXPECT_FALSE(consumer.front());
  EXPECT_TRUE(consumer.broken());
  memory.header().tail = 1;
  EXPECT_FALSE(consumer.front()) << "it stays broken";
  EXPECT_FALSE(consumer.sleep_until_frame());
}

TEST(FrameRing, AConsumerBelievesNoImpossibleLengthOrFlag) {
  for (const bool length : {true, false}) {
    const Memory memory(kSmall);
    FrameRingConsumer consumer(memory.octets.get(), kSmall);
    memory.descriptor(kSmall, 0).octets = length ? kSmall.room() + 1 : 60;
    memory.descriptor(kSmall, 0).flags = length ? 0 : 1u << 31;
    memory.header().tail = 1;
    EXPECT_FALSE(consumer.front());
    EXPECT_TRUE(consumer.broken());
  }
}

TEST(FrameRing, AProducerWritesWithinTheRingWhateverItsPeerSays) {
  const Memory memory(kSmall);
  FrameRingProducer producer(memory.octets.get(), kSmall);
  for (std::uint8_t i = 0; i < 4; ++i) put(producer, i, kSmall.room());
  memory.header().head = 100;  // more than was ever sent
  EXPECT_FALSE(put(producer, 9));
  EXPECT_TRUE(producer.broken());
  memory.header().head = 4;
  EXPECT_FALSE(put(producer, 9)) << "it stays broken";
}

TEST(FrameRing, PositionsWrap) {
  const Memory memory(kSmall);
  FrameRingProducer producer(memory.octets.get(), kSmall);
  FrameRingConsumer consumer(memory.octets.get(), kSmall);
  for (unsigned i = 0; i < 1000; ++i) {
    ASSERT_TRUE(put(producer, static_cast<std::uint8_t>(i)));
    producer.publish();
    const auto frame = consumer.front();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->octets[0], std::byte{static_cast<std::uint8_t>(i)});
    consumer.pop();
    consumer.release();
  }
}

TEST(FrameRing, TwoThreadsExchangeAMillionFrames) {
  constexpr FrameRingGeometry kGeometry{.slots = 64, .slot_octets = 128};
  constexpr std::uint32_t kFrames = 1'000'000;
  const Memory memory(kGeometry);
  std::thread sender([&] {
    FrameRingProducer producer(memory.octets.get(), kGeometry);
    for (std::uint32_t i = 0; i < kFrames;) {
      std::byte* const room = producer.next();
      if (room == nullptr) {
        std::this_thread::yield();
        continue;
      }
      std::memcpy(room, &i, sizeof i);
      producer.commit(sizeof i, 0);
      if (++i % 8 == 0 || i == kFrames) producer.publish();
    }
  });
  FrameRingConsumer consumer(memory.octets.get(), kGeometry);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kFrames;) {
    const auto frame = consumer.front();
    if (!frame) {
      consumer.release();
      std::this_thread::yield();
      continue;
    }
    std::uint32_t number = 0;
    std::memcpy(&number, frame->octets.data(), sizeof number);
    wrong += number != i++;
    consumer.pop();
    if (i % 16 == 0) consumer.release();
  }
  sender.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace railyard
