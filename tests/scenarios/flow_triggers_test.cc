// Flows of a connection matrix that start when others are done: over every transport, on any number of workers.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/report/verdict.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr const char* kTransports[] = {"generator", "roce", "uet"};

class FlowTriggers : public testing::Test {
 protected:
  FlowTriggers() { std::filesystem::create_directories(folder_); }
  ~FlowTriggers() override { std::filesystem::remove_all(folder_); }

  // Four hosts at one switch, 100 Gb/s.
  Scenario scenario(const std::string& matrix, const std::string& transport, const std::string& more = "",
                    const EngineConfig& config = {}, const std::vector<std::string>& sets = {}) {
    std::ofstream(folder_ / "m.cm") << matrix;
    return Scenario(
        "name: t\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
        "traffic: [ { name: f, pattern: file, file: " +
            (folder_ / "m.cm").string() + ", transport: " + transport + more + " } ]\n",
        sets, config);
  }
  report::Report run(const std::string& matrix, const std::string& transport, const std::string& more = "",
                     const std::vector<std::string>& sets = {}) {
    Scenario s = scenario(matrix, transport, more, {}, sets);
    s.run_to_the_end();
    return s.report();
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-flow-triggers";
};

std::int64_t end_of(const report::FlowReport& f) { return f.start_ns + f.fct_ns.value_or(-1'000'000'000); }

// Serial: each flow of 1 MB when the one before it is done. 245 frames of 4096 octets with headers, 82 us each.
constexpr const char* kSerial =
    "Nodes 4\nConnections 3\nTriggers 2\n"
    "0->1 id 1 start 0 size 1000000 send_done_trigger 1\n"
    "0->2 id 2 trigger 1 size 1000000 send_done_trigger 2\n"
    "0->3 id 3 trigger 2 size 1000000\n"
    "trigger id 1 oneshot\ntrigger id 2 oneshot\n";

TEST_F(FlowTriggers, OneStartsWhenTheOneBeforeItIsDone) {
  for (const std::string transport : kTransports) {
    SCOPED_TRACE(transport);
    const report::Report r = run(kSerial, transport);
    ASSERT_EQ(r.flows.size(), 3u);
    const auto one = static_cast<double>(*r.flows[0].fct_ns);
    EXPECT_NEAR(one, 86'000, 4'000);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(static_cast<double>(*r.flows[i].fct_ns), one, 0.02 * one) << "nobody beside it";
      EXPECT_EQ(r.flows[i].delivered_bytes, 1'000'000u);
    }
    for (std::size_t i = 1; i < 3; ++i) {
      // At one NIC, at once; the generator waits a window, but only for its last frame to go.
      if (transport == "generator")
        EXPECT_NEAR(static_cast<double>(r.flows[i].start_ns), static_cast<double>(end_of(r.flows[i - 1])), 4'000);
      else
        EXPECT_NEAR(static_cast<double>(r.flows[i].start_ns), static_cast<double>(end_of(r.flows[i - 1])), 1);
    }
  }
}

// What is done at a destination starts flows there: a ring, once around.
TEST_F(FlowTriggers, ADestinationThatHasAllOfItStartsTheNext) {
  for (const std::string transport : kTransports)
    for (const char* operation : {"", "write", "send", "read"}) {
      if ((transport == "generator") != (*operation == 0)) continue;
      SCOPED_TRACE(transport + " " + operation);
      const report::Report r = run(
          "Nodes 4\n0->1 id 1 start 1000000 size 400000 recv_done_trigger 1\n1->2 id 2 trigger 1 size 400000 "
          "recv_done_trigger 2\n2->3 id 3 trigger 2 size 400000\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n",
          transport, *operation != 0 ? std::string(", operation: ") + operation : std::string());
      ASSERT_EQ(r.flows.size(), 3u);
      EXPECT_EQ(r.flows[0].start_ns, 1'000);
      for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_TRUE(r.flows[i].fct_ns.has_value());
        // All has come before it is acknowledged, and no sooner than the wire lets it.
        EXPECT_GT(r.flows[i].start_ns, r.flows[i - 1].start_ns + 32'000);
        EXPECT_LT(r.flows[i].start_ns, end_of(r.flows[i - 1]) + 1'500);
      }
    }
}

// Flows 2 and 3 wait for both of 0 and 1, which end at different times at different hosts.
TEST_F(FlowTriggers, ABarrierWaitsForAll) {
  for (const std::string transport : kTransports) {
    SCOPED_TRACE(transport);
    const report::Report r =
        run("Nodes 4\n0->1 id 1 start 0 size 200000 send_done_trigger 5\n2->3 id 2 start 0 size 800000 "
            "send_done_trigger 5\n1->0 id 3 trigger 5 size 100000\n3->2 id 4 trigger 5 size 100000\n"
            "trigger id 5 barrier count 2\n",
            transport);
    ASSERT_EQ(r.flows.size(), 4u);
    EXPECT_EQ(r.flows[2].start_ns, r.flows[3].start_ns);
    EXPECT_GT(r.flows[2].start_ns, end_of(r.flows[0]) + 30'000);
    // One window after the later of the two.
    EXPECT_NEAR(static_cast<double>(r.flows[2].start_ns), static_cast<double>(end_of(r.flows[1])), 4'000);
  }
}

// Two flows at a time: each that is done starts one more, in the file's order.
TEST_F(FlowTriggers, AMultishotStartsOneEachTime) {
  for (const std::string transport : kTransports) {
    SCOPED_TRACE(transport);
    const report::Report r = run(
        "Nodes 4\n0->1 id 1 start 0 size 200000 send_done_trigger 1\n0->2 id 2 start 0 size 400000 send_done_trigger "
        "1\n0->3 id 3 trigger 1 size 200000 send_done_trigger 1\n0->1 id 4 trigger 1 size 200000\n0->2 id 5 trigger 1 "
        "size 200000\ntrigger id 1 multishot\n",
        transport);
    ASSERT_EQ(r.flows.size(), 5u);
    std::vector<std::int64_t> starts, ends;
    for (const report::FlowReport& f : r.flows) starts.push_back(f.start_ns);
    for (const std::size_t i : {0u, 1u, 2u}) ends.push_back(end_of(r.flows[i]));
    std::ranges::sort(ends);
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(static_cast<double>(starts[2 + i]), static_cast<double>(ends[i]), 4'000);
  }
}

// A oneshot starts all of its flows, by the first who fires it; the second changes nothing.
TEST_F(FlowTriggers, AOneshotFiresOnce) {
  const report::Report r =
      run("Nodes 4\n0->1 id 1 start 0 size 200000 send_done_trigger 1\n0->2 id 2 start 0 size 400000 send_done_trigger "
          "1\n1->3 id 3 trigger 1 size 1000\n2->3 id 4 trigger 1 size 1000\ntrigger id 1 oneshot\n",
          "roce");
  EXPECT_EQ(r.flows[2].start_ns, r.flows[3].start_ns);
  EXPECT_LT(r.flows[3].start_ns, end_of(r.flows[1]) - 10'000);
  EXPECT_TRUE(r.flows[2].fct_ns && r.flows[3].fct_ns);
}

TEST_F(FlowTriggers, AFlowThatNeverStartsIsSaid) {
  // The barrier waits for three, and there are two.
  const report::Report r =
      run("Nodes 4\n0->1 id 1 start 0 size 8000 send_done_trigger 3\n2->1 id 2 start 0 size 8000 send_done_trigger 3\n"
          "1->0 id 3 trigger 3 size 8000 send_done_trigger 4\n1->2 id 4 trigger 4 size 8000\n"
          "trigger id 3 barrier count 3\ntrigger id 4 oneshot\n",
          "uet");
  EXPECT_EQ(r.flows[2].waits_for, "trigger 3 (fired 2 of 3 times)");
  EXPECT_EQ(r.flows[3].waits_for, "trigger 4 (fired 0 of 1 times)");
  EXPECT_TRUE(r.flows[0].waits_for.empty());
  EXPECT_EQ(r.flows[2].packets, 0u);
  const auto verdicts = r.verdicts();
  const auto completion = std::ranges::find(verdicts, "completion", &report::Verdict::name);
  ASSERT_NE(completion, verdicts.end());
  EXPECT_EQ(completion->answer, report::Verdict::Answer::kFail);
  EXPECT_NE(completion->text.find("2 never started: f/h2->h1 waits for trigger 3 (fired 2 of 3 times)"),
            std::string::npos)
      << completion->text;
}

// Messages of one connection, each with a start of its own: the later ones do not disturb those before them more than
// one connection can.
TEST_F(FlowTriggers, MessagesOfOneConnectionStartByThemselves) {
  for (const std::string transport : kTransports) {
    SCOPED_TRACE(transport);
    const report::Report r =
        run("Nodes 4\n0->1 id 1 msg start 0 size 400000 send_done_trigger 1\n0->1 id 1 msg start 10000000 size 4096\n"
            "0->1 id 1 msg 3 trigger 1 size 400000\ntrigger id 1 oneshot\n",
            transport);
    ASSERT_EQ(r.flows.size(), 3u);
    for (const report::FlowReport& f : r.flows) EXPECT_TRUE(f.fct_ns.has_value());
    EXPECT_EQ(r.flows[1].start_ns, 10'000);
    EXPECT_NEAR(static_cast<double>(r.flows[2].start_ns), static_cast<double>(end_of(r.flows[0])), 4'000);
    if (transport == "uet") EXPECT_EQ(r.uet_nics.at(0).pdcs_opened, 1u);
  }
}

// A ring all-reduce, a butterfly and a serial all-to-all, as generators of matrices write them.
std::string ring_all_reduce(int n) {
  std::string flows, triggers;
  int id = 0, trigger = 0;
  for (int block = 0; block < n; ++block)
    for (int step = 0; step < 2 * n - 1; ++step) {
      const int from = (block + step) % n;
      flows += std::to_string(from) + "->" + std::to_string((from + 1) % n) + " id " + std::to_string(++id);
      flows += step == 0 ? " start 0" : " trigger " + std::to_string(trigger);
      flows += " size 50000";
      if (step + 1 < 2 * n - 1) {
        flows += " send_done_trigger " + std::to_string(++trigger);
        triggers += "trigger id " + std::to_string(trigger) + " oneshot\n";
      }
      flows += "\n";
    }
  return "Nodes " + std::to_string(n) + "\nConnections " + std::to_string(id) + "\nTriggers " +
         std::to_string(trigger) + "\n" + flows + triggers;
}
std::string butterfly() {
  return "Nodes 4\nConnections 8\nTriggers 4\n"
         "0->1 id 1 start 0 size 100000 recv_done_trigger 1\n1->0 id 2 start 0 size 100000 recv_done_trigger 2\n"
         "2->3 id 3 start 0 size 100000 recv_done_trigger 3\n3->2 id 4 start 0 size 100000 recv_done_trigger 4\n"
         "0->2 id 5 trigger 2 size 100000\n2->0 id 6 trigger 4 size 100000\n"
         "1->3 id 7 trigger 1 size 100000\n3->1 id 8 trigger 3 size 100000\n"
         "trigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\ntrigger id 4 oneshot\n";
}
std::string serial_all_to_all(int n) {
  std::string flows, triggers;
  int id = 0, trigger = 0;
  for (int from = 0; from < n; ++from)
    for (int k = 1; k < n; ++k) {
      flows += std::to_string(from) + "->" + std::to_string((from + k) % n) + " id " + std::to_string(++id);
      flows += k == 1 ? " start 0" : " trigger " + std::to_string(trigger);
      flows += " size 100000";
      if (k + 1 < n) {
        flows += " send_done_trigger " + std::to_string(++trigger);
        triggers += "trigger id " + std::to_string(trigger) + " oneshot\n";
      }
      flows += "\n";
    }
  return "Nodes " + std::to_string(n) + "\n" + flows + triggers;
}

TEST_F(FlowTriggers, WhatGeneratorsWriteRuns) {
  for (const std::string transport : kTransports)
    for (const std::string& matrix : {ring_all_reduce(4), butterfly(), serial_all_to_all(4)}) {
      SCOPED_TRACE(transport + "\n" + matrix);
      const report::Report r = run(matrix, transport);
      EXPECT_GE(r.flows.size(), 8u);
      for (const report::FlowReport& f : r.flows) EXPECT_TRUE(f.fct_ns.has_value()) << f.name;
    }
}

// Whatever the windows, and whoever runs the devices.
TEST_F(FlowTriggers, OneResultOnAnyNumberOfWorkers) {
  for (const std::string transport : kTransports) {
    SCOPED_TRACE(transport);
    const auto digest = [&](std::size_t workers, Duration window) {
      EngineConfig config;
      config.workers = workers;
      config.digest = true;
      config.variation.window = window;
      config.variation.always_parallel = workers > 1;
      if (workers > 1) config.variation.shuffle = Seed{workers};
      Scenario s = scenario(ring_all_reduce(4), transport, "", config);
      s.run_to_the_end();
      return s.digest();
    };
    const std::uint64_t one = digest(1, {});
    EXPECT_EQ(digest(2, {}), one);
    EXPECT_EQ(digest(3, {}), one);
    EXPECT_EQ(digest(1, Duration{1}), one);
  }
}

}  // namespace
}  // namespace railyard::test
