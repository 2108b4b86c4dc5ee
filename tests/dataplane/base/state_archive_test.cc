#include "dataplane/base/state_archive.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/flow_counters.h"
#include "dataplane/base/histogram.h"

namespace railyard {
namespace {

struct Some {
  std::string name;
  std::optional<std::string> note;
  std::map<int, std::vector<std::uint64_t>> by_number;
  std::array<Counter, 3> counters;
  std::vector<std::string> words;
  double share = 0;

  void exchange(StateArchive& archive) { archive(name, note, by_number, counters, words, share); }
};

TEST(StateArchive, ReadsWhatWasWritten) {
  Some a{"leaf1", "up", {{3, {1, 2}}, {7, {}}}, {}, {"x", "", "yz"}, 0.25};
  a.counters[1].add(42);
  StateArchive out;
  out(a);
  const std::vector<std::byte> octets = out.take();

  Some b{"old", {}, {{9, {9}}}, {}, {"gone"}, 1};
  StateArchive in{std::span(octets)};
  in(b);
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(b.name, "leaf1");
  EXPECT_EQ(b.note, "up");
  EXPECT_EQ(b.by_number, a.by_number);
  EXPECT_EQ(b.counters[1].read(), 42u);
  EXPECT_EQ(b.words, a.words);
  EXPECT_EQ(b.share, 0.25);
}

TEST(StateArchive, WhatIsNotThereIsForgottenWhereItIsRead) {
  Some none;
  StateArchive out;
  out(none);
  const std::vector<std::byte> octets = out.take();
  Some b;
  b.note = "old";
  StateArchive in{std::span(octets)};
  in(b);
  EXPECT_FALSE(b.note.has_value());
}

TEST(StateArchive, OctetsThatEndEarlyAreRefusedAtEachPlace) {
  Some a{"leaf1", "up", {{3, {1, 2}}}, {}, {"x", "yz"}, 0.25};
  StateArchive out;
  out(a);
  const std::vector<std::byte> octets = out.take();
  for (std::size_t n = 0; n < octets.size(); ++n) {
    Some b;
    StateArchive in{std::span(octets).first(n)};
    EXPECT_THROW(in(b), std::runtime_error) << n << " of " << octets.size();
  }
}

// A length that cannot be is refused before memory is taken for it.
TEST(StateArchive, ALengthBeyondTheRestIsRefused) {
  std::uint64_t huge = std::uint64_t{1} << 60;
  StateArchive out;
  out(huge);
  const std::vector<std::byte> octets = out.take();
  std::vector<std::uint64_t> values;
  StateArchive in{std::span(octets)};
  EXPECT_THROW(in(values), std::runtime_error);
}

TEST(StateArchive, HistogramsKeepEachBucket) {
  RxFlowCounters a;
  a.packets = 3;
  for (const std::uint64_t v : {5u, 70'000u, 1'234'567u, 1'234'567u}) a.latency.record(v);
  StateArchive out;
  out(a);
  const std::vector<std::byte> octets = out.take();
  RxFlowCounters b;
  b.latency.record(1);
  StateArchive in{std::span(octets)};
  in(b);
  EXPECT_EQ(b.packets, 3u);
  EXPECT_EQ(b.latency.count(), 4u);
  EXPECT_EQ(b.latency.min(), 5u);
  EXPECT_EQ(b.latency.max(), 1'234'567u);
  EXPECT_EQ(b.latency.mean(), a.latency.mean());
  for (const double q : {0.25, 0.5, 0.75, 1.0}) EXPECT_EQ(b.latency.percentile(q), a.latency.percentile(q));
}

}  // namespace
}  // namespace railyard
