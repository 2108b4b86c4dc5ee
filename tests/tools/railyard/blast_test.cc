// railyard blast: parts fail one by one; tables, files, messages.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

// Four flows over two spines, with go-back-N: each takes 1.3 ms alone.
constexpr const char* kPairs = R"(
name: pairs
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
defaults: { link: { rate: 100Gbps, cable: 10m } }
traffic:
  - { name: t, pattern: pairs, from: [h1, h2], to: [h3, h4], transport: roce, message: 64KiB, bytes: 16MiB }
routing: { carrier-delay: 100us, processing: 100us, message-delay: 10us, fib-delay: 100us, session-setup: 1ms }
)";

class Blast : public CommandLine {
 protected:
  Blast() { write("pairs.yaml", kPairs); }
  nlohmann::json of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "blast");
    arguments.emplace_back("--json");
    const Outcome o = railyard(arguments);
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    return nlohmann::json::parse(o.out);
  }
  static nlohmann::json part(const nlohmann::json& result, const std::string& name) {
    for (const auto& f : result["failures"])
      if (f["failed"] == name) return f;
    ADD_FAILURE() << "no " << name;
    return {};
  }
};

TEST_F(Blast, ALinkOfTheFabricHealsAndNicsAreSinglePointsOfFailure) {
  const auto r = of({"pairs.yaml", "--for", "unlimited"})[0];
  EXPECT_EQ(r["failures"].size(), 4u + 4 + 4) << "links, NICs, switches";
  // For ever: hosts behind one leaf have no other.
  EXPECT_EQ(r["single_points"], 4 + 2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(r["failures"][i]["single_point"]) << r["failures"][i];
  for (const char* link : {"leaf2:3-spine1:2", "leaf2:4-spine2:2"}) {
    const auto f = part(r, link);
    EXPECT_EQ(f["never_came_back"].size(), 0u) << link;
    EXPECT_EQ(f["repaired_ns"], 410'050) << "carrier, spine, message, leaf, table";
    // Two senders at 100 Gb/s for as long.
    EXPECT_LE(f["lost"].get<double>(), 2 * 100e9 / 8 / 4174 * 410e-6 + 50);
  }
}

TEST_F(Blast, WhatReturnsIsRestored) {
  const auto r = of({"pairs.yaml", "--only", "link:leaf2*"})[0];
  ASSERT_EQ(r["failures"].size(), 2u);
  for (const auto& f : r["failures"]) {
    EXPECT_FALSE(f["single_point"]);
    EXPECT_EQ(f["repaired_ns"], 410'050);
    EXPECT_GT(f["restored_ns"], 1'000'000) << "not before the session is set up";
  }
}

// What comes back in time is a single point of failure all the same, and stands first.
TEST_F(Blast, HostsThatAreDividedForAWhileAreDivided) {
  const auto r = of({"pairs.yaml", "--for", "300us"})[0];
  EXPECT_EQ(r["single_points"], 4 + 2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(r["failures"][i]["divides_hosts"]) << r["failures"][i];
  // Over before routing was at rest: one reaction, which ends after the return.
  const auto f = part(r, "leaf2:3-spine1:2");
  EXPECT_TRUE(f["repaired_ns"].is_null());
  EXPECT_GT(f["restored_ns"], 0);
}

// Senders wait for their timeouts after the path is back; that is no end.
TEST_F(Blast, TrafficWithoutAnEndComesBack) {
  std::string open = kPairs;
  const std::string bytes = "bytes: 16MiB";
  open.replace(open.find(bytes), bytes.size(), "rate: 1Gbps");
  write("open.yaml", open + "run: { duration: 3ms }\nhosts: { default: { roce: { ack-timeout: 8 } } }\n");
  const auto r = of({"open.yaml", "--kinds", "link,switch", "--only", "*spine*"})[0];
  EXPECT_EQ(r["single_points"], 0);
  for (const auto& f : r["failures"]) EXPECT_EQ(f["never_came_back"].size(), 0u) << f;
}

TEST_F(Blast, ASilentPortIsFoundByBfdOnly) {
  const std::vector<std::string> arguments{"pairs.yaml", "--kinds", "port", "--only", "spine1:2 out", "--for", "unlimited"};
  const auto without = of(arguments)[0];
  EXPECT_TRUE(without["failures"][0]["repaired_ns"].is_null());
  std::vector<std::string> with = arguments;
  with.insert(with.end(), {"--set", "routing.bfd={ interval: 1ms, multiplier: 3 }", "--set", "run.duration=100ms"});
  const auto r = of(with)[0];
  EXPECT_GT(r["failures"][0]["repaired_ns"], 2'000'000);
  EXPECT_LT(r["failures"][0]["repaired_ns"], 5'000'000);
}

TEST_F(Blast, IsTheSameForAnyNumberOfJobs) {
  const Outcome one = railyard({"blast", "pairs.yaml", "--kinds", "link,switch", "--jobs", "1", "--csv", "one.csv"});
  const Outcome three = railyard({"blast", "pairs.yaml", "--kinds", "link,switch", "--jobs", "3", "--csv", "three.csv"});
  EXPECT_EQ(one.exit_code, kOk) << one.err;
  EXPECT_EQ(one.out, three.out);
  EXPECT_EQ(read("one.csv"), read("three.csv"));
  EXPECT_THAT(one.out, HasSubstr("never came back"));
}

TEST_F(Blast, DesignsStandSideBySideOnAPage) {
  write("one.yaml", std::string(kPairs) + "# one spine\n");
  const Outcome o = railyard({"blast", "pairs.yaml", "one.yaml", "--kinds", "switch", "--html", "blast.html"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("Side by side"));
  const std::string page = read("blast.html");
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("single point of failure"));
  EXPECT_THAT(page, HasSubstr("Side by side"));
}

// Three hosts behind each leaf, so that four of them cross the spines.
TEST_F(Blast, MaintenanceOfASpineLosesNothing) {
  write("ring.yaml",
        "name: ring\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3 }\n"
        "defaults: { link: { rate: 100Gbps, cable: 10m } }\n"
        "collectives:\n  - { name: ar, collective: all-reduce, algorithm: ring, ranks: \"h*\", size: 64MiB }\n"
        "routing: { processing: 100us, message-delay: 10us, fib-delay: 100us, session-setup: 1ms, carrier-delay: 100us }\n");
  const auto r = of({"ring.yaml", "--kinds", "switch,maintenance", "--only", "switch:spine1", "--only", "maintenance:spine1"})[0];
  ASSERT_EQ(r["failures"].size(), 2u);
  for (const auto& f : r["failures"]) {
    if (f["kind"] == "maintenance") {
      EXPECT_EQ(f["lost"], 0) << f;
      EXPECT_GE(f["stretch"], 1.0);
      EXPECT_LT(f["stretch"], 2.0) << "half of the spines for a third of the time, and a class that is not full";
    } else {
      EXPECT_GT(f["lost"], 0) << f;
    }
  }
}

// All flows are of hosts of either rack: that they end is no cost to others.
TEST_F(Blast, ARackFailsWithItsHosts) {
  const auto r = of({"pairs.yaml", "--kinds", "rack", "--for", "unlimited"})[0];
  ASSERT_EQ(r["failures"].size(), 2u);
  for (const char* rack : {"rack1", "rack2"}) {
    const auto f = part(r, rack);
    EXPECT_EQ(f["kind"], "rack");
    EXPECT_GT(f["lost"].get<std::uint64_t>(), 0u);
    EXPECT_EQ(f["never_came_back"].size(), 0u);
    EXPECT_FALSE(f["single_point"]);
  }
}

TEST_F(Blast, PairsFailTogether) {
  const auto r = of({"pairs.yaml", "--pairs", "--only", "spine*", "--for", "unlimited"})[0];
  ASSERT_EQ(r["failures"].size(), 1u);
  EXPECT_EQ(r["failures"][0]["failed"], "spine1 + spine2");
  EXPECT_TRUE(r["failures"][0]["single_point"]);
}

TEST_F(Blast, BadInputIsOneClearError) {
  EXPECT_THAT(error(kInput, {"blast", "pairs.yaml", "--set", "traffic=[]"}), HasSubstr("there is no traffic"));
  EXPECT_THAT(error(kInput, {"blast", "pairs.yaml", "--only", "leaf9"}), HasSubstr("nothing can fail"));
  EXPECT_THAT(error(kUsage, {"blast", "pairs.yaml", "--kinds", "cable"}), HasSubstr("expected link, nic, switch"));
  EXPECT_THAT(error(kUsage, {"blast", "pairs.yaml", "--pairs", "--most", "10"}), HasSubstr("15 failures"));
  EXPECT_THAT(error(kUsage, {"blast", "pairs.yaml", "--for", "0us"}), HasSubstr("--for"));
  EXPECT_THAT(error(kUsage, {"blast", "pairs.yaml", "--at", "10s"}), HasSubstr("--at"));
  EXPECT_THAT(error(kUsage, {"blast", "pairs.yaml", "--at", "soon"}), HasSubstr("--at"));
  EXPECT_THAT(error(kInput, {"blast", "pairs.yaml", "--set", "run.clock=wall"}), HasSubstr("run.clock"));
}

}  // namespace
}  // namespace railyard::tools
