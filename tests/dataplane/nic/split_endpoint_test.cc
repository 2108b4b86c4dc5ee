// Two endpoints at one NIC.
#include "dataplane/nic/split_endpoint.h"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/bth.h"
#include "tests/support/frames.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using test::ip;
using test::mac;

// Has `left` frames of flow 0 in class 3 from `begins` on; writes down for which QPs frames came.
class Half final : public Endpoint {
 public:
  Half(std::uint64_t frames, Instant from) : left(frames), begins(from) {}
  Readiness ready(Instant now) override {
    if (now < begins) return {0, begins};
    return {static_cast<PriorityMask>(left > 0 ? 1 << 3 : 0), Instant::never()};
  }
  std::size_t send(Instant, Priority, std::span<TxFrame> frames) override {
    std::size_t n = 0;
    for (; n < frames.size() && left > 0; ++n, --left) {
      frames[n].flow = n == 0 ? 0 : TxFrame::kNoFlow;
      frames[n].header_octets = 60;
    }
    return n;
  }
  bool receive(std::span<const RxFrame> frames) override {
    ++bursts;
    for (const RxFrame& f : frames) offsets.push_back(f.payload.offset);
    return changes;
  }
  bool has_real_payload() const noexcept override { return real; }

  std::uint64_t left;
  Instant begins;
  std::vector<std::uint64_t> offsets;
  int bursts = 0;
  bool changes = false;
  bool real = false;
};

struct Both {
  explicit Both(std::uint64_t a = 0, std::uint64_t b = 0, Instant begins_a = {}, Instant begins_b = {}) {
    auto x = std::make_unique<Half>(a, begins_a);
    auto y = std::make_unique<Half>(b, begins_b);
    first = x.get();
    second = y.get();
    split = std::make_unique<SplitEndpoint>(std::move(x), std::move(y), 0x110, 5);
  }
  Half* first;
  Half* second;
  std::unique_ptr<SplitEndpoint> split;
};

TEST(SplitEndpoint, IsReadyWhenEitherIs) {
  Both both(1, 1, at(5_us), at(9_us));
  EXPECT_EQ(both.split->ready(at(1_us)).classes, 0);
  EXPECT_EQ(both.split->ready(at(1_us)).until, at(5_us));
  EXPECT_EQ(both.split->ready(at(5_us)).classes, 1 << 3);
  EXPECT_EQ(both.split->ready(at(5_us)).until, at(9_us));
}

TEST(SplitEndpoint, BothSendInEqualPartsWhileBothHaveSomething) {
  Both both(100, 20);
  std::array<TxFrame, 8> frames{};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(both.split->send({}, Priority{3}, frames), 8u);
  EXPECT_EQ(both.first->left, 80u);
  EXPECT_EQ(both.second->left, 0u);
  EXPECT_EQ(both.split->send({}, Priority{3}, frames), 8u) << "what one has not, the other has";
  std::array<TxFrame, 1> one{};
  Both alone(3, 3);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(alone.split->send({}, Priority{3}, one), 1u);
  EXPECT_EQ(alone.split->send({}, Priority{3}, one), 0u);
}

TEST(SplitEndpoint, FlowsOfBothHaveNumbersOfTheirOwn) {
  Both both(0, 2);
  std::array<TxFrame, 8> frames{};
  ASSERT_EQ(both.split->send({}, Priority{3}, frames), 2u);
  EXPECT_EQ(frames[0].flow, 5u);
  EXPECT_EQ(frames[1].flow, TxFrame::kNoFlow);
}

std::vector<std::byte> header(bool v6, std::uint32_t qp) {
  const std::size_t bth = 14 + (v6 ? 40u : 20u) + 8;
  std::vector<std::byte> h(bth + 12);
  h[14] = v6 ? std::byte{0x60} : std::byte{0x45};
  wire::write<wire::Bth::DestQP>(h.data() + bth, qp);
  return h;
}

TEST(SplitEndpoint, FramesGoToWhomTheirQpBelongsInOrder) {
  Both both;
  both.second->changes = true;
  const std::vector<std::byte> a = header(false, 0x10F), b = header(true, 0x110), c = header(true, 2);
  const std::vector<std::byte> general_services = header(false, 1);
  const std::vector<std::byte> none(20);
  std::vector<RxFrame> frames;
  for (const std::vector<std::byte>* h : {&a, &a, &b, &none, &c, &b, &general_services})
    frames.push_back({{}, {}, *h, {.offset = frames.size()}, true});
  EXPECT_TRUE(both.split->receive(frames));
  EXPECT_EQ(both.first->offsets, (std::vector<std::uint64_t>{0, 1, 4}));
  EXPECT_EQ(both.second->offsets, (std::vector<std::uint64_t>{2, 3, 5, 6}));
  EXPECT_EQ(both.first->bursts, 2);
  EXPECT_FALSE(both.split->receive(std::span(frames).first(2)));
}

TEST(SplitEndpoint, PayloadIsRealIfOneWantsItSo) {
  Both both;
  EXPECT_FALSE(both.split->has_real_payload());
  both.second->real = true;
  EXPECT_TRUE(both.split->has_real_payload());
}

}  // namespace
}  // namespace railyard
