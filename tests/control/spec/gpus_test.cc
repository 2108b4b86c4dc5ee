// Hosts whose ranks are GPUs: which NIC each has, in which order they are ranks, and what is wrong.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"
#include "tests/support/temporary_file.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;

// Two hosts with four NICs each; `profile` are more keys of theirs.
std::string with(const std::string& profile, const std::string& collective = "") {
  return "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 1 }\n"
         "hosts: { default: { scale-up: { rate: 3600Gbps }, " +
         profile + " } }\ncollectives:\n  - { name: c, size: 1MiB" + collective + " }\n";
}

std::vector<std::string> ranks_of(const std::string& profile, const std::string& collective = "") {
  const Lab l = parse(with(profile, collective), "x.yaml");
  EXPECT_TRUE(parse(to_yaml(l), "shown") == l);
  std::vector<std::string> names;
  for (const RankAt& rank : ranks_at(l, l.collectives[0])) names.push_back(format(l, rank) + "@" + format(rank.nic));
  return names;
}

TEST(Gpus, ShareTheNicsOfTheirHostEvenly) {
  EXPECT_THAT(ranks_of("gpus: 8", ", ranks: h1"),
              ElementsAre("h1/gpu1@h1:1", "h1/gpu2@h1:1", "h1/gpu3@h1:2", "h1/gpu4@h1:2", "h1/gpu5@h1:3", "h1/gpu6@h1:3",
                          "h1/gpu7@h1:4", "h1/gpu8@h1:4"));
  EXPECT_THAT(ranks_of("gpus: 4", ", ranks: h2"),
              ElementsAre("h2/gpu1@h2:1", "h2/gpu2@h2:2", "h2/gpu3@h2:3", "h2/gpu4@h2:4"));
  EXPECT_THAT(ranks_of("gpus: 2"), ElementsAre("h1/gpu1@h1:1", "h1/gpu2@h1:3", "h2/gpu1@h2:1", "h2/gpu2@h2:3"));
  EXPECT_THAT(ranks_of("gpus: 4, gpu-nics: [1, 1, 4, 4]", ", ranks: h1"),
              ElementsAre("h1/gpu1@h1:1", "h1/gpu2@h1:1", "h1/gpu3@h1:4", "h1/gpu4@h1:4"));
  // Without GPUs each NIC is a rank.
  EXPECT_THAT(ranks_of("clock-error: 0", ", ranks: h1"), ElementsAre("h1:1@h1:1", "h1:2@h1:2", "h1:3@h1:3", "h1:4@h1:4"));
}

TEST(Gpus, OfANicAreThoseBehindIt) {
  EXPECT_THAT(ranks_of("gpus: 8", ", ranks: [\"h*:2\"]"),
              ElementsAre("h1/gpu3@h1:2", "h1/gpu4@h1:2", "h2/gpu3@h2:2", "h2/gpu4@h2:2"));
}

TEST(Gpus, ARingHasAChannelForEachOfThem) {
  const Lab l = parse(with("gpus: 8"), "x.yaml");
  EXPECT_EQ(l.collectives[0].channels, 8);
}

TEST(Gpus, APlacementNamesThem) {
  const test::TemporaryFile file("p.csv");
  file.put("rank,host,gpu\n0,h2,8\n1,h1,1\n2,h1,2\n");
  EXPECT_THAT(ranks_of("gpus: 8", ", placement: " + file.name()),
              ElementsAre("h2/gpu8@h2:4", "h1/gpu1@h1:1", "h1/gpu2@h1:1"));
  const auto wrong = [&](const std::string& text, const std::string& profile = "gpus: 8") {
    file.put(text);
    const std::string error = error_of(with(profile, ", placement: " + file.name()));
    EXPECT_EQ(error.find(file.name() + ":"), 0u) << error;
    return error.substr(std::min(error.size(), file.name().size() + 1));
  };
  EXPECT_EQ(wrong("rank,host,gpu\n0,h1,1\n1,h1,1\n"), "3:1: h1, GPU 1 already has rank 0; expected each GPU once");
  EXPECT_EQ(wrong("rank,host,gpu\n0,h1,9\n"), "2:1: gpu '9': h1 has 8; expected 1..8");
  EXPECT_EQ(wrong("rank,host,rail\n0,h1,1\n"),
            "2:1: h1 has GPUs (hosts.default.gpus); expected a column gpu instead of rail");
  EXPECT_EQ(wrong("rank,host,gpu\n0,h1,1\n", "clock-error: 0"),
            "2:1: gpu '1': the profile of h1 has no gpus; expected a column rail");
  EXPECT_EQ(wrong("rank,host,rail,gpu\n0,h1,1,1\n"),
            "1:1: found the columns rail and gpu; expected one of the two: a GPU has its NIC");
}

TEST(GpuErrors, AreSaidWithTheirPlace) {
  EXPECT_NE(error_of(with("gpu-nics: [1]")).find("gpu-nics: found without gpus"), std::string::npos);
  EXPECT_NE(error_of(with("gpus: 4, gpu-nics: [1, 2]")).find("found 2 NICs; expected 4: one for each GPU"),
            std::string::npos);
  EXPECT_NE(error_of(with("gpus: 2, gpu-nics: [1, 5]")).find("gpu-nics.1: NIC 5 of GPU 2: h1 has 4 NICs"),
            std::string::npos);
  EXPECT_NE(error_of(with("gpus: 0")).find("gpus"), std::string::npos);
  EXPECT_NE(error_of(with("gpus: 8", ", ranks: [h1, \"h1:2\"]")).find("'h1:2': h1/gpu3 is already rank 2; expected each GPU once"),
            std::string::npos);
  EXPECT_NE(error_of("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2 }\n"
                     "hosts: { default: { gpus: 2 } }\n")
                .find("gpus: found without scale-up"),
            std::string::npos);
}

}  // namespace
}  // namespace railyard::spec
