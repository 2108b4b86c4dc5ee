#include "control/acceptance/subject.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/input_error.h"
#include "control/spec/load.h"

namespace railyard::acceptance {
namespace {

using testing::HasSubstr;

constexpr const char* kRails = "name: rails\ntopology: { preset: rail-optimized, hosts: 4, rails: 2, spines: 1 }\n";

spec::Lab lab_of(const std::string& more = {}) { return spec::parse(std::string(kRails) + more, "rails.yaml"); }

TEST(Subject, PairsAreAllOrderedOnesOfTwoHosts) {
  const Subject s = subject_of(lab_of(), {}, {});
  EXPECT_EQ(s.nics.size(), 8u);
  EXPECT_EQ(s.pairs.size(), 8u * 6);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Pair& p : s.pairs) {
    EXPECT_NE(s.nics[p.from].node, s.nics[p.to].node);
    EXPECT_TRUE(seen.emplace(p.from, p.to).second) << "each once";
  }
}

// Rails without spines: NICs reach those of their own rail alone.
TEST(Subject, PairsWithoutAPathAreNone) {
  const spec::Lab apart = spec::parse(
      "name: apart\nnodes: { h1: { kind: host, nics: 2 }, h2: { kind: host, nics: 2 }, s1: { kind: switch }, s2: { "
      "kind: switch } }\n"
      "links: [[h1:1, s1:1], [h1:2, s2:1], [h2:1, s1:2], [h2:2, s2:2]]\n",
      "apart.yaml");
  EXPECT_EQ(subject_of(apart, {}, {}).pairs.size(), 4u);
}

TEST(Subject, OfTooManyPairsSomeAreDrawnByTheSeed) {
  Settings few;
  few.most_pairs = 5;
  const Subject a = subject_of(lab_of(), few, {}), b = subject_of(lab_of(), few, {});
  const Subject c = subject_of(lab_of("run: { seed: 2 }\n"), few, {});
  ASSERT_EQ(a.pairs.size(), 5u);
  EXPECT_EQ(a.all_pairs, 48u);
  bool other = false;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(a.pairs[i].from, b.pairs[i].from);
    EXPECT_EQ(a.pairs[i].to, b.pairs[i].to);
    other |= a.pairs[i].from != c.pairs[i].from || a.pairs[i].to != c.pairs[i].to;
  }
  EXPECT_TRUE(other);
}

TEST(Subject, TheTransportIsThatOfTheWorkUnlessOneIsAskedFor) {
  const std::string uet =
      "traffic: [{ name: t, from: h1, to: h2, transport: uet, bytes: 1MB, dscp: 10, path-mtu: 2048 }]\n";
  EXPECT_FALSE(subject_of(lab_of(), {}, {}).uet);
  const Subject s = subject_of(lab_of(uet), {}, {});
  EXPECT_TRUE(s.uet);
  EXPECT_EQ(s.like.dscp, 10);
  EXPECT_EQ(s.like.roce.path_mtu, 2048);
  EXPECT_FALSE(subject_of(lab_of(uet), {}, "roce").uet);
}

TEST(Subject, HostsOfOtherProgramsAreTakenAsBuiltIn) {
  const Subject s = subject_of(lab_of("hosts: { default: { attach: namespace } }\nrun: { clock: wall }\n"), {}, {});
  EXPECT_EQ(s.lab.run.clock, spec::Clock::kVirtual);
  EXPECT_EQ(s.nics.size(), 8u);
}

TEST(Subject, ALabOfOneHostHasNothingToValidate) {
  const spec::Lab lab = spec::parse(
      "name: one\nnodes: { h1: { kind: host }, s1: { kind: switch } }\nlinks: [[h1:1, s1:1]]\n", "one.yaml");
  EXPECT_THAT([&] { subject_of(lab, {}, {}); }, testing::ThrowsMessage<InputError>(HasSubstr("no two hosts")));
}

// Rails of one switch are in VLANs of their own.
TEST(Subject, PairsOfOtherVlansAreNone) {
  const auto pairs = [](const char* vlans) {
    return subject_of(spec::parse(std::string("name: rails\ntopology: { preset: rail-optimized, hosts: 3, rails: 2, spines: 0, "
                                              "hosts-per-group: 3, rails-per-switch: all") +
                                      vlans + " }\n",
                                  "rails.yaml"),
                      {}, {})
        .pairs.size();
  };
  EXPECT_EQ(pairs(""), 12u) << "each of six NICs to the two of its rail";
  EXPECT_EQ(pairs(", rail-vlans: false"), 24u);
}

}  // namespace
}  // namespace railyard::acceptance
