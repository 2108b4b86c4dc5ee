#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "control/build/built_lab.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/load.h"
#include "control/spec/pcie.h"
#include "control/swarm/generated_lab.h"
#include "control/workload/flow_plan.h"
#include "dataplane/base/hash.h"

namespace railyard::swarm {
namespace {

TEST(Generate, ASeedIsOneLab) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(generate(seed).text(), generate(seed).text());
    EXPECT_NE(generate(seed).text(), generate(seed + 1).text());
  }
}

// A seed names one lab whoever compiled it. Another number here is right where what is drawn was changed on purpose.
TEST(Generate, ASeedIsThatLabWithAnyCompiler) {
  std::string labs;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) labs += generate(seed).text();
  EXPECT_EQ(hash_string(labs), 0x21FC75238BBB0AB7u);
}

TEST(Generate, EveryLabCanBeBuilt) {
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    const GeneratedLab lab = generate(seed);
    EXPECT_NO_THROW(build::BuiltLab(spec::parse(lab.text(), "swarm"))) << seed << "\n" << lab.text();
  }
}

TEST(Generate, WhatIsLeftOutIsAllThatIsMissing) {
  std::size_t left_out = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const GeneratedLab lab = generate(seed);
    const spec::Lab all = spec::parse(lab.text(), "swarm");
    for (const GeneratedLab::Item& fault : lab.faults) {
      spec::Lab expected = all;
      std::erase_if(expected.faults, [&](const spec::FaultSpec& f) { return f.name == fault.name; });
      EXPECT_EQ(spec::parse(lab.text({fault.name}), "swarm"), expected) << seed << ' ' << fault.name;
      ++left_out;
    }
  }
  EXPECT_GT(left_out, 20u);
}

// Services, operations and collectives of both transports, and labs without any.
TEST(Generate, MessagesOfEveryKind) {
  std::set<std::string> kinds;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const spec::Lab lab = spec::parse(generate(seed).text(), "swarm");
    bool any = !lab.collectives.empty();
    for (const spec::TrafficSpec& t : lab.traffic) {
      any = any || t.has_messages();
      const bool selective = lab.hosts.at("default").roce.loss_recovery == spec::RoceLossRecovery::kSelectiveRepeat;
      if (t.is_roce())
        kinds.insert(fmt::format("roce {} {}", selective ? "sr" : "gbn", static_cast<int>(t.roce.operation)));
      if (t.is_uet()) kinds.insert(fmt::format("uet {}", static_cast<int>(t.service)));
      if (t.is_uet() && t.tagged) kinds.insert("uet tagged");
      if (t.is_uet() && lab.hosts.at("default").uet.pdcs < 65'535) kinds.insert("uet few PDCs");
    }
    for (const spec::CollectiveSpec& c : lab.collectives) kinds.insert(c.is_uet() ? "ranks uet" : "ranks roce");
    if (!any) kinds.insert("none");
  }
  EXPECT_EQ(kinds.size(), 6u + 6 + 2 + 1) << fmt::format("{}", fmt::join(kinds, ", "));
}

// Uplinks of PCI Express whose NICs are in use, and collectives that switches or scale-up networks do.
TEST(Generate, SharedUplinksAndReduction) {
  int uplinks = 0, in_network = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const spec::Lab lab = spec::parse(generate(seed).text(), "swarm");
    for (const spec::CollectiveSpec& c : lab.collectives) in_network += spec::reducers(lab, c).empty() ? 0 : 1;
    const spec::NodeSpec* shared = nullptr;
    for (const spec::NodeSpec& n : lab.nodes)
      if (!spec::pcie_groups(lab, n).empty()) shared = &n;
    if (shared == nullptr) continue;
    ++uplinks;
    EXPECT_TRUE(std::ranges::any_of(workload::plan_flows(lab), [](const workload::FlowPlan& f) {
      return f.source.port == 2 || f.destination.port == 2;
    })) << seed;
  }
  EXPECT_GT(uplinks, 10);
  EXPECT_GT(in_network, 5);
}

// Faults that say when they end do so before the last part of the run.
TEST(Generate, FaultsEndBeforeTraffic) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const spec::Lab lab = spec::parse(generate(seed).text(), "swarm");
    for (const spec::FaultSpec& f : lab.faults)
      if (f.at && f.lasts && !f.every) {
        EXPECT_LE(*f.at + *f.lasts, *lab.run.duration / 100 * kFaultsEnd) << seed << ' ' << f.name;
      }
  }
}

}  // namespace
}  // namespace railyard::swarm
