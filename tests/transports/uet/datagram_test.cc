// UUD: datagrams, each a message, that nobody answers (uet §5.13).
#include <gtest/gtest.h>

#include "tests/transports/uet/pair.h"

namespace railyard::uet {
namespace {

SendWr datagram(SendWr wr) {
  wr.mode = DeliveryMode::kUud;
  wr.operation = Operation::kDatagram;
  return wr;
}

TEST(Uud, ADatagramIsDeliveredOrForgotten) {
  Pair pair;
  pair.fill(0, 0, 3000);
  pair.receive(1, 7, kTo, 1024);
  for (std::uint64_t i = 0; i < 3; ++i) pair.post(0, datagram(pair.send(0, i, i * 1000, i * 500)));
  pair.run();
  EXPECT_EQ(pair.text(0), "0:success 1:success 2:success");
  EXPECT_EQ(pair.text(1), "7:success");
  EXPECT_EQ(pair.counters(1).drops(Drop::kNoMatch), 2u);
  EXPECT_EQ(pair.log().size(), 3u) << "nobody answers";
  SendWr wr = datagram(pair.send(0, 9, 0, 1025));
  EXPECT_EQ(pair.engine(0).post(pair.now(), pair.end(0).context, wr).error(), PostError::kTooLong);
  pair.expect_clean();
}

// Three datagrams of one packet: what comes is exact, and nobody sends anything again. One that the network doubles is
// two, for which there is a buffer.
TEST(Uud, EveryFaultAtEveryPacketCostsItsDatagramAtMost) {
  struct Case {
    Fate fate;
    std::size_t come;  // of the one that it happens to
  };
  const Case cases[] = {{{.lost = true}, 0},
                        {{.copies = 2}, 2},
                        {{.copies = 2, .copy_late = Duration{3'000'000'000}}, 2},
                        {{.late = Duration{5'000'000}}, 1},
                        {{.trimmed = true}, 0},
                        {{.corrupted = true}, 0},
                        {{.marked = true}, 1}};
  for (std::size_t at = 0; at < 3; ++at)
    for (const Case& c : cases) {
      SCOPED_TRACE(at);
      Pair pair;
      pair.fate = [&](const Seen& s) { return s.index == at ? c.fate : Fate{}; };
      for (std::uint64_t i = 0; i < 4; ++i) pair.receive(1, 10 + i, kTo + i * 1024, 1024);
      for (std::uint64_t i = 0; i < 3; ++i) {
        pair.fill(0, i * 1024, 500 + i, i + 1);
        pair.post(0, datagram(pair.send(0, i, i * 1024, 500 + i)));
      }
      pair.run();
      EXPECT_EQ(pair.text(0), "0:success 1:success 2:success");
      EXPECT_EQ(pair.log().size(), 3u) << "nobody answers";
      std::vector<std::size_t> came(3);
      for (const Completion& done : pair.completions(1)) {
        ASSERT_TRUE(done.ok() && done.octets >= 500 && done.octets < 503);
        const std::size_t i = done.octets - 500;
        ++came[i];
        EXPECT_TRUE(pair.same(0, i * 1024, 1, kTo + (done.wr_id - 10) * 1024, done.octets));
      }
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(came[i], i == at ? c.come : 1u);
      pair.expect_clean();
    }
}

// Whichever of six are lost, the others are exact, and none of them happens twice.
TEST(Uud, EveryCombinationOfLosses) {
  constexpr std::size_t kDatagrams = 6;
  for (unsigned lost = 0; lost < 1u << kDatagrams; ++lost) {
    SCOPED_TRACE(lost);
    Pair pair;
    pair.fate = [&](const Seen& s) { return Fate{.lost = (lost >> s.index & 1) != 0}; };
    for (std::uint64_t i = 0; i < kDatagrams; ++i) {
      pair.receive(1, 10 + i, kTo + i * 1024, 1024);
      pair.fill(0, i * 1024, 500 + i, i + 1);
      pair.post(0, datagram(pair.send(0, i, i * 1024, 500 + i)));
    }
    pair.run();
    EXPECT_EQ(pair.completions(0).size(), kDatagrams);
    unsigned came = 0;
    for (const Completion& done : pair.completions(1)) {
      ASSERT_TRUE(done.ok());
      const std::size_t i = done.octets - 500;
      EXPECT_EQ(came >> i & 1, 0u) << "once";
      came |= 1u << i;
      EXPECT_TRUE(pair.same(0, i * 1024, 1, kTo + (done.wr_id - 10) * 1024, done.octets));
    }
    EXPECT_EQ(came, ~lost & ((1u << kDatagrams) - 1));
    EXPECT_EQ(pair.log().size(), kDatagrams) << "nobody answers";
    pair.expect_clean();
  }
}

}  // namespace
}  // namespace railyard::uet
