// One machine on which everything is as it should be, and what each thing that is not leads to.
#include "control/machine/check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/base/units.h"
#include "tests/control/machine/made_up.h"

namespace railyard::machine {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckTest : public ::testing::Test {
 protected:
  // Eight processors in four cores: 0 and 4, 1 and 5, ... Two cores are isolated.
  CheckTest() {
    const std::string cpus = "/sys/devices/system/cpu/";
    m.set("/proc/sys/kernel/hostname", "lab1");
    m.set("/proc/sys/kernel/osrelease", "6.12.9-amd64");
    m.set(cpus + "online", "0-7");
    m.set(cpus + "isolated", "2-3,6-7");
    m.set(cpus + "nohz_full", "2-3,6-7");
    for (int p = 0; p < 8; ++p) {
      const std::string cpu = cpus + "cpu" + std::to_string(p) + "/";
      m.set(cpu + "cpufreq/scaling_governor", "performance");
      m.set(cpu + "topology/thread_siblings_list", std::to_string(p % 4) + "," + std::to_string(p % 4 + 4));
      m.set(cpu + "node0/x", "");
      m.set(cpu + "cpuidle/state0/latency", "1");
      m.set(cpu + "cpuidle/state0/name", "C1");
      m.set(cpu + "cpuidle/state1/latency", "133");
      m.set(cpu + "cpuidle/state1/name", "C6");
      m.set(cpu + "cpuidle/state1/disable", "1");
    }
    m.set("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
    m.set("/proc/meminfo", "MemTotal: 1 kB\nHugePages_Total:     512\nHugePages_Free:      500");
    m.set("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    m.set("/sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never");
    m.set("/proc/self/status", "Name:\trailyard\nCapEff:\t000001ffffffffff");
    m.set("/proc/irq/30/effective_affinity_list", "0-1");
    m.set("/dev/net/tun", "");
    m.set("/sys/kernel/iommu_groups/0/x", "");
    m.set("/sys/bus/pci/drivers/vfio-pci/x", "");
    m.link("/sys/class/net/eth0/device/driver", "../../mlx5_core");
  }

  std::vector<Check> checks() const { return check_machine(m.files(), wanted, measured); }
  std::vector<std::string> advised() const {
    std::vector<std::string> ids;
    for (const Check& c : checks())
      if (!c.ok) ids.push_back(c.id);
    return ids;
  }
  std::string remedy(const std::string& id) const {
    for (const Check& c : checks())
      if (c.id == id) return c.remedy;
    return "no check " + id;
  }
  std::string found(const std::string& id) const {
    for (const Check& c : checks())
      if (c.id == id) return c.found;
    return "no check " + id;
  }

  MadeUp m;
  std::optional<Wanted> wanted = Wanted{.name = "x", .workers = 2, .cores = {2, 3}, .hugepages = true, .interfaces = true, .pci = true};
  std::optional<Measured> measured = Measured{{.measured = 1_s}, 0};
};

TEST_F(CheckTest, AMachineThatIsPreparedIsOk) {
  EXPECT_THAT(advised(), IsEmpty());
  EXPECT_THAT(text(m.files(), checks()), HasSubstr("lab1 for live labs: 18 of 18 checks ok"));
  EXPECT_EQ(found("nics"), "eth0 (mlx5_core)");
}

TEST_F(CheckTest, WithoutIsolatedCoresItSaysHowToBoot) {
  m.set("/sys/devices/system/cpu/isolated", "");
  m.set("/sys/devices/system/cpu/nohz_full", "(null)");
  wanted->cores = {3, 7};
  EXPECT_THAT(remedy("isolated-cores"), HasSubstr("isolcpus=managed_irq,domain,3,7 nohz_full=3,7 rcu_nocbs=3,7"));
  EXPECT_NE(remedy("nohz-full"), "");
  wanted.reset();
  EXPECT_THAT(remedy("isolated-cores"), HasSubstr("isolcpus=managed_irq,domain,7 ")) << "the last one, for one worker";
}

TEST_F(CheckTest, CoresOfALabThatAreNotIsolatedAreNamed) {
  wanted->cores = {1, 2};
  EXPECT_THAT(advised(), ElementsAre("isolated-cores", "nohz-full", "run.cores", "interrupts"));
  EXPECT_EQ(found("isolated-cores"), "2-3,6-7; not 1");
}

TEST_F(CheckTest, ConflictsOfRunCoresAreNamed) {
  wanted->cores = {2, 6};
  EXPECT_THAT(remedy("run.cores"), HasSubstr("2 and 6 are threads of one core"));
  wanted->cores = {2, 12};
  EXPECT_THAT(remedy("run.cores"), HasSubstr("12 is not online; choose from 0-7"));
  wanted->cores = {0, 2};
  EXPECT_THAT(remedy("run.cores"), HasSubstr("shares its core with 4"));
  wanted->cores = {};
  EXPECT_THAT(remedy("run.cores"), HasSubstr("one for each of 2 workers"));
  wanted->cores = {2, 3};
  m.remove("/sys/devices/system/cpu/cpu3/node0");
  m.set("/sys/devices/system/cpu/cpu3/node1/x", "");
  EXPECT_THAT(remedy("run.cores"), HasSubstr("NUMA"));
}

TEST_F(CheckTest, TooFewProcessorsAreNamed) {
  m.set("/sys/devices/system/cpu/online", "0-1");
  EXPECT_THAT(remedy("processors"), HasSubstr("at least 3"));
}

TEST_F(CheckTest, ThatASleepingProcessorIsSlowToWakeIsNamed) {
  m.set("/sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0");
  EXPECT_THAT(advised(), ElementsAre("idle-states"));
  EXPECT_EQ(found("idle-states"), "C6 takes 133 us to wake");
}

TEST_F(CheckTest, EachOtherFindingHasItsRemedy) {
  m.set("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
  EXPECT_THAT(remedy("cpu-frequency"), HasSubstr("cpupower frequency-set -g performance"));
  m.set("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
  EXPECT_THAT(remedy("clock-source"), HasSubstr("echo tsc"));
  m.set("/proc/meminfo", "HugePages_Total: 0\nHugePages_Free: 0");
  EXPECT_THAT(remedy("huge-pages"), HasSubstr("nr_hugepages"));
  m.set("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  EXPECT_THAT(remedy("transparent-huge-pages"), HasSubstr("echo madvise"));
  m.set("/proc/self/status", "CapEff:\t0000000000000000");
  EXPECT_THAT(remedy("namespaces"), HasSubstr("Run as root"));
  m.remove("/dev/net/tun");
  EXPECT_THAT(remedy("tun"), HasSubstr("modprobe tun"));
  m.remove("/sys/kernel/iommu_groups/0");
  EXPECT_THAT(remedy("vfio"), HasSubstr("intel_iommu=on"));
  m.set("/proc/irq/30/effective_affinity_list", "2");
  EXPECT_THAT(remedy("interrupts"), HasSubstr("echo 0-1,4-7"));
  m.set("/proc/sys/kernel/osrelease", "4.9.0-13");
  EXPECT_THAT(remedy("kernel"), HasSubstr("4.20"));
  EXPECT_EQ(advised().size(), 9u);
}

TEST_F(CheckTest, WhatALabDoesNotNeedIsNoAdvice) {
  m.set("/proc/meminfo", "HugePages_Total: 0\nHugePages_Free: 0");
  m.set("/proc/self/status", "CapEff:\t0000000000000000");
  m.remove("/sys/bus/pci/drivers/vfio-pci");
  wanted->hugepages = wanted->interfaces = wanted->pci = false;
  EXPECT_THAT(advised(), IsEmpty());
}

TEST_F(CheckTest, IrqbalanceMattersWhereNothingIsIsolated) {
  m.set("/proc/812/comm", "irqbalance");
  EXPECT_EQ(remedy("irqbalance"), "");
  m.set("/sys/devices/system/cpu/isolated", "");
  EXPECT_THAT(remedy("irqbalance"), HasSubstr("IRQBALANCE_BANNED_CPULIST=2-3"));
}

TEST_F(CheckTest, AnOldKernelSaysWhatItLacks) {
  m.set("/proc/sys/kernel/osrelease", "6.1.0-28-amd64");
  EXPECT_THAT(found("kernel"), HasSubstr("6.1.0-28-amd64; lacks: segmentation of UDP at TAPs (6.2), AF_XDP above"));
}

TEST_F(CheckTest, GapsAndStealAreMeasured) {
  measured->gaps.count = 30;
  measured->gaps.p99 = measured->gaps.max = 3_ms;
  measured->gaps.in_long_gaps = 0.09;
  measured->steal = 0.05;
  EXPECT_THAT(advised(), ElementsAre("steal", "scheduling-gaps"));
  EXPECT_EQ(found("scheduling-gaps"),
            "30 above 50 us in 1.0 s, p99 3000 us, max 3000 us; 9.00 % of the time in gaps above 100 us");
  measured->gaps.in_long_gaps = 0.009;
  measured->steal = 0.009;
  EXPECT_THAT(advised(), IsEmpty());
}

TEST_F(CheckTest, TicksAreThoseOfAllProcessors) {
  m.set("/proc/stat", "cpu  10 20 30 40 5 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5");
  const Ticks t = read_ticks(m.files());
  EXPECT_EQ(t.all, 10 + 20 + 30 + 40 + 5 + 6 + 7 + 8);
  EXPECT_EQ(t.stolen, 8);
  EXPECT_EQ(read_ticks(Files("/nowhere")).all, 0);
}

TEST_F(CheckTest, JsonHasTheSame) {
  measured->gaps.in_long_gaps = 0.5;
  const auto j = json(checks(), measured);
  EXPECT_EQ(j["schema"], "railyard-host/1");
  const auto gaps = std::ranges::find_if(j["checks"], [](const auto& c) { return c["check"] == "scheduling-gaps"; });
  ASSERT_NE(gaps, j["checks"].end());
  EXPECT_EQ((*gaps)["ok"], false);
  EXPECT_TRUE(gaps->contains("remedy"));
  EXPECT_EQ(j["gaps"]["in_long_gaps"], 0.5);
}

// A machine that says nothing of itself: a container without /sys.
TEST(CheckOfNothing, IsNotAMachineThatIsBad) {
  const Files nothing("/nowhere");
  const auto checks = check_machine(nothing, {}, {});
  EXPECT_GT(checks.size(), 10u);
  EXPECT_NE(text(nothing, checks), "");
}

}  // namespace
}  // namespace railyard::machine
