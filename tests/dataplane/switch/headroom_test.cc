#include "dataplane/switch/headroom.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/device/pause_response.h"

namespace railyard {
namespace {

using namespace literals;

// roce-and-lossless.md §10.4: own MTU 9216 and lossless frame 4200 (as octets of the frame, without the 20 of preamble
// and gap), 5 ns/m of cable.
HeadroomTerms terms(BitRate rate, std::int64_t metres) {
  return {.rate = rate,
          .framing = {},
          .propagation = 5_ns * metres,
          .peer_response = standard_pause_response(rate),
          .rx_latency = {},
          .own_frame = 9216,
          .peer_frame = 4200};
}

// The table's values, and one octet for a waiting time that is no whole number of octets.
TEST(Headroom, TheTableOfTheDocument) {
  struct Row {
    BitRate rate;
    std::int64_t metres;
    std::int64_t octets;
  };
  for (const Row& row :
       {Row{100_Gbps, 5, 39'381}, Row{100_Gbps, 40, 43'756}, Row{100_Gbps, 100, 51'256}, Row{100_Gbps, 300, 76'256},
        Row{100_Gbps, 2000, 288'756}, Row{400_Gbps, 5, 73'960}, Row{400_Gbps, 40, 91'460}, Row{400_Gbps, 100, 121'460},
        Row{400_Gbps, 300, 221'460}, Row{400_Gbps, 2000, 1'071'460}, Row{25_Gbps, 300, 28'035},
        Row{200_Gbps, 300, 117'532}, Row{800_Gbps, 300, 371'460}})
    EXPECT_EQ(headroom_octets(terms(row.rate, row.metres)).n, row.octets + 1)
        << row.rate.bps << ' ' << row.metres << " m";
}

// engine.md §5: rx_latency x rate on top. 600 ns at 100 Gb/s are 7,500 octets.
TEST(Headroom, OurOwnLatencyCounts) {
  HeadroomTerms t = terms(100_Gbps, 40);
  t.rx_latency = 600_ns;
  EXPECT_EQ(headroom_octets(t).n, 43'756 + 7'500 + 1);
}

// A pause frame waits behind a frame that the link retries (LLR) once: 320 ns at 100 Gb/s are 4,000 octets.
TEST(Headroom, ARetryOnTheLinkCounts) {
  HeadroomTerms t = terms(100_Gbps, 40);
  t.retry = 320_ns;
  EXPECT_EQ(headroom_octets(t).n, 43'756 + 4'000 + 1);
}

// MACsec takes 32 octets more of each frame on the wire: of ours, of the pause frame and of the peer's.
TEST(Headroom, TheLinksFramingCounts) {
  HeadroomTerms t = terms(100_Gbps, 40);
  t.framing.preamble += 32;
  EXPECT_EQ(headroom_octets(t).n, 43'756 + 3 * 32 + 1);
  // Where frames take less of the wire than themselves, more of them come in the same time.
  t.framing = {-48, 0};
  EXPECT_EQ(headroom_octets(t).n, 43'756 - 3 * 68 + 1);
  HeadroomTerms usual = terms(100_Gbps, 40);
  EXPECT_GT(headroom_cells(t, 256_B), 3 * headroom_cells(usual, 256_B)) << "of 64 octets in 16 and not in 84";
}

// A frame of s octets takes ceil(s / cell) cells and s octets and those around it of wire time. The worst of all
// mixtures is found by looking at all of them: most(w) = the most cells that frames of w octets of wire time in all can
// take.
std::int64_t worst_mixture(const HeadroomTerms& t, std::int64_t cell) {
  const std::int64_t wire = headroom_octets(t).n;
  const std::int64_t around = t.framing.around();
  std::vector<std::int64_t> most(static_cast<std::size_t>(wire) + 1, 0);
  for (std::int64_t w = 1; w <= wire; ++w) {
    std::int64_t best = most[static_cast<std::size_t>(w - 1)];
    for (std::int64_t s = t.least_frame; s <= t.peer_frame && s + around <= w; ++s)
      best = std::max(best, (s + cell - 1) / cell + most[static_cast<std::size_t>(w - s - around)]);
    most[static_cast<std::size_t>(w)] = best;
  }
  return most[static_cast<std::size_t>(wire)];
}

TEST(Headroom, CellsAreEnoughForTheWorstMixtureAndLittleMore) {
  for (const std::int64_t cell : {64, 80, 192, 254, 256, 1000, 4096}) {
    for (const std::uint32_t least : {64u, 256u, 1000u, 1518u}) {
      for (const Framing framing : {Framing{}, Framing{-48, 0}}) {
        const HeadroomTerms t{.rate = 25_Gbps,
                              .framing = framing,
                              .propagation = 50_ns,
                              .peer_response = 400_ns,
                              .rx_latency = 100_ns,
                              .own_frame = 1518,
                              .peer_frame = 1518,
                              .least_frame = least};
        const std::int64_t worst = worst_mixture(t, cell);
        const std::int64_t cells = headroom_cells(t, {cell});
        EXPECT_GE(cells, worst) << "cell " << cell << ", least " << least;
        EXPECT_LE(cells, worst + (1518 + cell - 1) / cell) << "cell " << cell << ", least " << least;
      }
    }
  }
}

// "Cost factor cell / 64 rounded up when cell > 128": with 64-octet frames each takes a whole cell. 43,757 octets of
// wire time hold 520.9 of them (84 octets).
TEST(Headroom, SmallFramesTakeAWholeCellEach) {
  EXPECT_EQ(headroom_cells(terms(100_Gbps, 40), {256}), 521u);
  HeadroomTerms large = terms(100_Gbps, 40);
  large.least_frame = 4200;
  // Frames of 4200 octets: 17 cells for 4220 octets of wire time; 10.4 of them.
  EXPECT_EQ(headroom_cells(large, {256}), 11u * 17);
}

}  // namespace
}  // namespace railyard
