// `railyard collperf`: the table of nccl-tests over a fabric file.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Collperf : public CommandLine {
 protected:
  Outcome run(std::vector<std::string> more) {
    more.insert(more.begin(), {"collperf", topology("scenarios/shared-nics.yaml")});
    return railyard(more);
  }
};

TEST_F(Collperf, PrintsALineForEachSize) {
  const Outcome o = run({"-b", "64K", "-e", "1M", "-f", "4", "-n", "2", "-w", "0"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("# all-reduce (all_reduce_perf): shared-nics, ring over RoCEv2, 32 ranks"));
  EXPECT_THAT(o.out, HasSubstr("\n       65536         16384    uint32     sum      -1 "));
  EXPECT_THAT(o.out, HasSubstr("\n      262144         65536    uint32     sum      -1 "));
  EXPECT_THAT(o.out, HasSubstr("\n     1048576        262144    uint32     sum      -1 "));
  EXPECT_THAT(o.out, HasSubstr("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : "));
}

// The mean time of iterations is what the report of the same run says: one iteration, from its start to its end.
TEST_F(Collperf, MeasuresWhatARunReports) {
  const Outcome table = run({"-b", "1M", "-n", "1", "-w", "0", "--json"});
  ASSERT_EQ(table.exit_code, kOk) << table.err;
  const auto row = nlohmann::json::parse(table.out)["rows"][0];
  const Outcome one = railyard({"run", topology("scenarios/shared-nics.yaml"), "--set", "collectives.experts=", "--set",
                                "collectives.sum.size=1MiB", "--json"});
  const auto c = nlohmann::json::parse(one.out)["collectives"][0];
  EXPECT_DOUBLE_EQ(row["time_us"].get<double>(), c["time_ns"]["median"].get<double>() / 1000);
  EXPECT_NEAR(row["busbw_bps"].get<double>(), c["busbw_bps"].get<double>(), 1e-3 * c["busbw_bps"].get<double>());
}

TEST_F(Collperf, TakesAnyOperationOverEitherTransport) {
  for (const char* operation : {"all-to-all", "send-recv", "reduce"}) {
    const Outcome o = run({"--op", operation, "--transport", "uet", "--ranks", "h1,h2:1", "-b", "8K", "-n", "1", "-w", "0", "--json"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
    const auto table = nlohmann::json::parse(o.out);
    EXPECT_EQ(table["collective"], operation);
    EXPECT_EQ(table["transport"], "uet");
    EXPECT_EQ(table["ranks"], 10) << "eight GPUs of h1, and the two at the first NIC of h2";
    EXPECT_GT(table["rows"][0]["time_us"].get<double>(), 0);
    EXPECT_EQ(table["rows"][0]["wrong"], 0);
  }
}

// Small ones over a tree with LL, large ones Simple; without packets.
TEST_F(Collperf, SaysWhatNcclChooses) {
  const Outcome o = run({"--protocol", "auto", "-b", "1K", "-e", "1G", "-f", "1024", "--estimate"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("# all-reduce (all_reduce_perf): shared-nics, what NCCL chooses over RoCEv2, 32 ranks, estimated"));
  EXPECT_THAT(o.out, HasSubstr("  tree, ll\n"));
  EXPECT_THAT(o.out, HasSubstr("  ring, simple\n"));
  const auto rows = nlohmann::json::parse(run({"--protocol", "auto", "-b", "1G", "--estimate", "--json"}).out)["rows"];
  EXPECT_EQ(rows[0]["algorithm"], "ring");
  EXPECT_EQ(rows[0]["protocol"], "simple");
}

TEST_F(Collperf, SaysWhatIsWrong) {
  EXPECT_THAT(run({"-b", "x"}).err, HasSubstr("-b: 'x'; expected a size, e.g. 8, 64K or 1G"));
  EXPECT_THAT(run({"-b", "1M", "-e", "1K"}).err, HasSubstr("-e: 1K is below -b 1M"));
  EXPECT_THAT(run({"-b", "8", "-e", "64", "-f", "1"}).err, HasSubstr("-f: expected a factor of 2 or more"));
  EXPECT_THAT(run({"--op", "all-reduced"}).err, HasSubstr("unknown 'all-reduced'; did you mean 'all-reduce'?"));
  EXPECT_THAT(run({"--op", "barrier"}).err, HasSubstr("a barrier has no sizes"));
  EXPECT_THAT(run({"--op", "all-gather", "-b", "8"}).err, HasSubstr("no element for each rank; expected at least 128 bytes"));
  EXPECT_THAT(run({"--collective", "nobody"}).err, HasSubstr("there is no 'nobody'; expected sum or experts"));
  EXPECT_THAT(run({"--ranks", "h9"}).err, HasSubstr("'h9' matches no built-in host"));
}

}  // namespace
}  // namespace railyard::tools
