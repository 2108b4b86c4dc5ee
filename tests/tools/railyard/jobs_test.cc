// `railyard estimate`, `scale` and `place`: jobs without packets.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Jobs : public CommandLine {};

TEST_F(Jobs, TwoFabricsAreEstimatedSideBySide) {
  const Outcome o = railyard({"estimate", topology("scenarios/job-64-rails.yaml"), topology("scenarios/job-64-oversubscribed.yaml")});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("train: side by side"));
  EXPECT_THAT(o.out, HasSubstr("Busiest links, one direction"));
  const Outcome json = railyard({"estimate", topology("scenarios/job-64-rails.yaml"), topology("scenarios/job-64-oversubscribed.yaml"), "--json"});
  const auto all = nlohmann::json::parse(json.out);
  EXPECT_LT(all[0]["collectives"][0]["time_ps"], all[1]["collectives"][0]["time_ps"]) << "the oversubscribed one is slower";
  EXPECT_GT(all[0]["collectives"][0]["efficiency"], all[1]["collectives"][0]["efficiency"]);
}

TEST_F(Jobs, WhatARunReportsOfAJobIsInItsReport) {
  const Outcome o = railyard({"run", topology("scenarios/job-3d.yaml")});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("step: tp 2, pp 2, dp 2; 4 microbatches per step;"));
  EXPECT_THAT(o.out, HasSubstr("step: with an ideal network a step takes "));
  EXPECT_THAT(o.out, HasSubstr("step: sent per rank and step, at most: tp "));
  const Outcome json = railyard({"run", topology("scenarios/job-3d.yaml"), "--json"});
  const auto c = nlohmann::json::parse(json.out)["collectives"][0];
  const auto& t = c["schedule"]["training"];
  EXPECT_EQ(t["tokens"], 4 * 4 * 1024 * 2);
  EXPECT_NEAR(t["tokens_per_second"].get<double>(), 32768 / (c["time_ns"]["median"].get<double>() / 1e9), 1);
  EXPECT_NEAR(c["schedule"]["efficiency"].get<double>(),
              c["schedule"]["ideal_ns"].get<double>() / c["time_ns"]["median"].get<double>(), 1e-9);
}

TEST_F(Jobs, AJobThatTheNetworkBoundsIsCalledThatWithoutATimeline) {
  const Outcome slow = railyard({"run", topology("scenarios/job-64-oversubscribed.yaml")});
  ASSERT_EQ(slow.exit_code, kOk) << slow.err;
  EXPECT_THAT(slow.out, HasSubstr("efficiency of train is 47."));
  EXPECT_THAT(slow.out, HasSubstr("network-bound; an ideal network would be 2.1 times as fast; busiest links of the run: "));
  EXPECT_THAT(railyard({"run", topology("scenarios/job-3d.yaml")}).out, testing::Not(HasSubstr("network-bound")));
}

// A quarter of the rate for all of the run: the link is busy, not three quarters idle.
TEST_F(Jobs, UtilisationIsOfTheRateThatFaultsLeave) {
  const auto used = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"run", topology("scenarios/allreduce-rails.yaml"), "--json", "--set"};
    args.insert(args.end(), more.begin(), more.end());
    for (const auto& p : nlohmann::json::parse(railyard(args).out)["ports"])
      if (p["node"] == "leaf-r1" && p["port"] == 1) return p["utilisation"].get<double>();
    return 0.0;
  };
  EXPECT_GT(used({"faults=[{ on: leaf-r1:1 out, rate: 1/4 }]"}), 0.9);
  EXPECT_GT(used({"faults=[]"}), 0.5);
}

TEST_F(Jobs, SlowCollectivesComeWithWhatCheckSaysOfThem) {
  write("plain.yaml",
        "name: plain\ntopology: { preset: rail-optimized, hosts: 4, rails: 4, spines: 2, host-link: { rate: 400Gbps }, fabric-link: { rate: "
        "400Gbps } }\ncollectives: [{ name: sum, ranks: [h*], size: 256KiB }]\n");
  const std::string file = (folder_ / "plain.yaml").string();
  for (const char* command : {"run", "estimate"}) {
    const Outcome o = railyard({command, file});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    EXPECT_THAT(o.out, HasSubstr("Below half of the limit, and `railyard check` says:\n")) << command;
    EXPECT_THAT(o.out, HasSubstr("[ranks-without-scale-up]")) << command;
  }
  EXPECT_THAT(railyard({"run", topology("scenarios/shared-nics.yaml")}).out, testing::Not(HasSubstr("Below half of the limit")));
}

// What they show stands in them as expectations. The time of fnn-2x2 is that of its steps one after the other, with the exchange of
// the second layer beside the backward pass of the first.
TEST_F(Jobs, DemonstrationsMeetTheirExpectations) {
  for (const char* name : {"fnn-2x2", "bubbles", "pipeline-schedules", "long-context"}) {
    const Outcome o = railyard({"run", topology(std::string("scenarios/") + name + ".yaml")});
    EXPECT_EQ(o.exit_code, kOk) << name << ": " << o.err;
    EXPECT_THAT(o.out, testing::ContainsRegex("Expectations: ([0-9]+) of ")) << name;
  }
  EXPECT_EQ(railyard({"run", topology("scenarios/bubbles.yaml"), "--set", "topology.fabric-link.rate=400Gbps"}).exit_code, kMissed)
      << "placement does not matter there";
}

TEST_F(Jobs, EstimatesSayWhatAJobHas) {
  const std::string out = railyard({"estimate", topology("scenarios/job-64-oversubscribed.yaml")}).out;
  EXPECT_THAT(out, HasSubstr("utilisation\n"));
  EXPECT_THAT(out, testing::ContainsRegex("h1:1 and [0-9]+ alike"));
  EXPECT_THAT(out, testing::ContainsRegex("(leaf|spine)[12]:[0-9]+ ")) << "one of the fabric's links";
  EXPECT_THAT(out, testing::ContainsRegex("train +job .* 64 +- +18")) << "a job has no size";
}

TEST_F(Jobs, RequestsOfInferenceAreReported) {
  const std::vector<std::string> few{"--set", "jobs.chat.inference.requests=4", "--set", "jobs.chat.inference.prompt=64"};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), few.begin(), few.end());
    return railyard(args);
  };
  const std::string file = topology("scenarios/inference-disaggregated.yaml");
  const Outcome o = with({"run", file, "--expect", "ttft_p99 < 1s", "--expect", "kv_transfer_p99 < 1s"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("chat: prefill 2 x tp 4, decode 2 x tp 4; 4 of 4 requests complete in "));
  EXPECT_THAT(o.out, HasSubstr("time to first token"));
  const Outcome json = with({"run", file, "--json"});
  const auto inference = nlohmann::json::parse(json.out)["collectives"][0]["schedule"]["inference"];
  EXPECT_EQ(inference["completed"], 4);
  EXPECT_GT(inference["ttft_ns"]["p99"], inference["kv_exposed_ns"]["p99"]);
  const Outcome csv = with({"run", file, "--requests", "-", "-q"});
  ASSERT_EQ(csv.exit_code, kOk) << csv.err;
  EXPECT_THAT(csv.out, HasSubstr("job,request,prompt,output,prefill,decode,arrival_ns,queue_ns"));
  EXPECT_THAT(csv.out, HasSubstr("\nchat,3,64,64,"));
  const Outcome estimate = with({"estimate", file, "--json"});
  EXPECT_EQ(nlohmann::json::parse(estimate.out)[0]["collectives"][0]["inference"]["completed"], 4);
  EXPECT_THAT(railyard({"scale", file}).err, HasSubstr("its jobs are of inference; expected one of training"));
  EXPECT_THAT(railyard({"place", file}).err, HasSubstr("its jobs are of inference; expected one of training"));
}

TEST_F(Jobs, ScaleFromOneCopyToAll) {
  const Outcome o = railyard({"scale", topology("scenarios/job-3d.yaml"), "--json"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const auto rows = nlohmann::json::parse(o.out);
  ASSERT_EQ(rows.size(), 2u) << "4 and 8 GPUs";
  EXPECT_EQ(rows[1]["gpus"], 8);
  EXPECT_EQ(rows[0]["scaling_efficiency"], 1);
  EXPECT_LE(rows[1]["scaling_efficiency"], 1);
  const auto strong = nlohmann::json::parse(railyard({"scale", topology("scenarios/job-3d.yaml"), "--strong", "--json"}).out);
  EXPECT_EQ(strong[0]["microbatches"], 8);
  EXPECT_EQ(strong[1]["microbatches"], 4);
}

TEST_F(Jobs, ScaleTakesRangesAndWritesCsv) {
  const std::string file = topology("scenarios/job-3d.yaml");
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const Outcome o = railyard({"scale", file, "--gpus", "4..8", "--csv", "-"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_EQ(lines(o.out), 3) << o.out;
  EXPECT_THAT(o.out, testing::StartsWith("gpus,copies,microbatches,step_ps,tokens_per_second,scaling_efficiency,mfu,efficiency\n4,1,4,"));
  EXPECT_EQ(railyard({"scale", file, "--over", "gpus=4,8", "--csv", "-"}).out, o.out);
  EXPECT_THAT(railyard({"scale", file, "--gpus", "8..4"}).err, HasSubstr("4 is below 8"));
  EXPECT_THAT(railyard({"scale", file, "--gpus", "x"}).err, HasSubstr("'x'; expected numbers and ranges"));
  EXPECT_THAT(railyard({"scale", file, "--over", "dp=2"}).err, HasSubstr("expected gpus="));
}

TEST_F(Jobs, PlacementFindsTensorParallelismInsideHosts) {
  const Outcome o = railyard({"place", topology("scenarios/job-3d.yaml"), "--set", "jobs.step.parallelism.order=[dp, pp, cp, tp]",
                              "--ranks", "ranks.csv"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("6 placements, estimated without queues\n"));
  EXPECT_THAT(o.out, HasSubstr("Use it: --set 'jobs.step.parallelism.order=["));
  const std::string ranks = read("ranks.csv");
  EXPECT_THAT(ranks, HasSubstr("# Together with jobs.step.parallelism.order: ["));
  EXPECT_THAT(ranks, HasSubstr("rank,host,gpu\n0,h1,1\n"));
  // What it wrote can be read again.
  EXPECT_EQ(railyard({"check", topology("scenarios/job-3d.yaml"), "--set", "jobs.step.placement=" + (folder_ / "ranks.csv").string()}).exit_code, kOk);
}

// The schedule of a job, run as a trace: as many messages of the same bytes, and all of them right.
TEST_F(Jobs, RunAgainAsATrace) {
  const std::string fabric =
      "name: again\n"
      "topology: { preset: rail-optimized, hosts: 2, rails: 4, spines: 2 }\n"
      "hosts: { default: { gpus: 4, scale-up: { rate: 3600Gbps } } }\n";
  write("job.yaml", fabric + "jobs: [{ name: step, model: gpt2-124m, segments: 2, parallelism: { tp: 2, pp: 2, dp: 2 }, microbatches: 2, gpu: a100 }]\n");
  write("trace.yaml", fabric + "collectives: [{ name: step, trace: step.goal }]\n");
  const std::string file = "job.yaml";
  const Outcome converted = railyard({"convert", file, "step.goal"});
  ASSERT_EQ(converted.exit_code, kOk) << converted.err;
  EXPECT_THAT(converted.out, HasSubstr("step.goal: 8 ranks, "));
  const auto of = [&](const std::string& lab) { return nlohmann::json::parse(railyard({"run", lab, "--json"}).out)["collectives"][0]; };
  const auto before = of(file), after = of("trace.yaml");
  EXPECT_EQ(after["verified"], true);
  EXPECT_EQ(after["fabric_bytes"], before["fabric_bytes"]);
  EXPECT_EQ(after["scale_up"]["bytes"], before["scale_up"]["bytes"]);
  const Outcome csv = railyard({"convert", file, "-", "--to", "csv", "--job", "step"});
  ASSERT_EQ(csv.exit_code, kOk) << csv.err;
  EXPECT_THAT(csv.out, HasSubstr(",all-reduce,tp,"));
  EXPECT_THAT(error(kUsage, {"convert", file, "-", "--to", "csv", "--job", "nobody"}), HasSubstr("there is no job 'nobody'; expected one of step"));
  EXPECT_THAT(error(kUsage, {"convert", "step.goal", "-", "--to", "csv", "--job", "step"}), HasSubstr("applies to fabric files (.yaml)"));
}

TEST_F(Jobs, PlacementOnStandardOutputSaysWhatElseIsNeeded) {
  const Outcome o = railyard({"place", topology("scenarios/job-3d.yaml"), "--set", "jobs.step.parallelism.order=[dp, pp, cp, tp]",
                              "--hosts", "-", "--format", "slurm"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\nh1\nh1\n")) << "a line per task";
  EXPECT_THAT(o.out, testing::Not(HasSubstr("slots=")));
  EXPECT_THAT(o.err, HasSubstr("Use it: --set 'jobs.step.parallelism.order=["));
}

TEST_F(Jobs, PlacementSaysWhatRacksCost) {
  const auto json = nlohmann::json::parse(railyard({"place", topology("scenarios/job-64-oversubscribed.yaml"), "--json"}).out);
  EXPECT_GT(json["racks"]["difference"], 0.3);
  EXPECT_EQ(json["racks"]["finding"], true);
  EXPECT_EQ(json["tried"].size(), 2u);
  const Outcome o = railyard({"place", topology("scenarios/job-64-oversubscribed.yaml")});
  EXPECT_THAT(o.out, HasSubstr("Racks (order dp): same rack "));
  EXPECT_THAT(o.out, HasSubstr("Finding: racks change the time by more than 30 %"));
}

// Two racks of two hosts, 8:1 oversubscribed; hosts are in turn in one and the other.
TEST_F(Jobs, CollectivesAndTracesArePlacedToo) {
  const auto lab = [&](const std::string& work) {
    write("place.yaml",
                 "name: racks\n"
                 "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2, host-link: { rate: 400Gbps }, fabric-link: { rate: 100Gbps } }\n"
                 "hosts: { default: { gpus: 2, scale-up: { rate: 3600Gbps } } }\n"
                 "collectives: [{ name: work, ranks: [h1, h3, h2, h4], " + work + " }]\n");
    return std::string("place.yaml");
  };
  // A ring that crosses the spine twice instead of at each of its hosts.
  const std::string sum = lab("collective: all-reduce, algorithm: ring, size: 16MiB");
  const Outcome o = railyard({"place", sum, "--ranks", "ranks.csv"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("work of racks: 2 placements"));
  EXPECT_THAT(o.out, HasSubstr("Racks: same rack "));
  EXPECT_THAT(o.out, HasSubstr("Use it: --set collectives.work.ranks= --set collectives.work.placement=ranks.csv"));
  const auto time = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> arguments{"estimate", sum, "--json"};
    arguments.insert(arguments.end(), sets.begin(), sets.end());
    return nlohmann::json::parse(railyard(arguments).out)[0]["collectives"][0]["time_ps"].get<double>();
  };
  EXPECT_LT(time({"--set", "collectives.work.ranks=", "--set", "collectives.work.placement=ranks.csv"}), 0.6 * time({}));
  // Each rank of the first host exchanges with one of the second, of the third with one of the fourth.
  std::string goal = "num_ranks 8\n";
  for (int r = 0; r < 8; ++r) {
    const int peer = r ^ 2;
    goal += "rank " + std::to_string(r) + " {\nl1: send 4000000b to " + std::to_string(peer) + " tag 0\nl2: recv 4000000b from " +
            std::to_string(peer) + " tag 0\n}\n";
  }
  write("pairs.goal", goal);
  const std::string trace = lab("trace: pairs.goal");
  const Outcome t = railyard({"place", trace, "--json"});
  ASSERT_EQ(t.exit_code, kOk) << t.err;
  const auto json = nlohmann::json::parse(t.out);
  EXPECT_EQ(json["tried"][0]["hosts"], "leaf by leaf") << "neighbours are in one rack";
  EXPECT_EQ(json["now"]["hosts"], "as said");
  EXPECT_GT(json["racks"]["difference"], 1);
}

TEST_F(Jobs, ScalingIsDrawn) {
  const Outcome o = railyard({"scale", topology("scenarios/job-3d.yaml"), "--over", "gpus=4..8", "--plot", "scaling.svg"});
  ASSERT_EQ(o.exit_code, kOk) << o.err;
  const std::string svg = read("scaling.svg");
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  for (const char* panel : {"scaling_efficiency", "mfu", "efficiency", "tokens_per_second", "railyard scale "}) EXPECT_THAT(svg, HasSubstr(panel));
  EXPECT_THAT(error(kUsage, {"scale", topology("scenarios/job-3d.yaml"), "--gpus", "8", "--plot", "one.svg"}),
              HasSubstr("expected two numbers of GPUs or more"));
}

TEST_F(Jobs, SayWhatIsWrong) {
  EXPECT_THAT(railyard({"estimate", topology("incast-8to1.yaml")}).err, HasSubstr("there is nothing to estimate"));
  EXPECT_THAT(railyard({"estimate", topology("scenarios/job-3d.yaml"), "--chunk", "x"}).err, HasSubstr("--chunk: "));
  EXPECT_THAT(railyard({"scale", topology("scenarios/shared-nics.yaml")}).err, HasSubstr("there is no job"));
  EXPECT_THAT(railyard({"scale", topology("scenarios/job-3d.yaml"), "--gpus", "6"}).err, HasSubstr("6 is not a multiple of the 4 GPUs"));
  EXPECT_THAT(railyard({"scale", topology("scenarios/job-3d.yaml"), "--gpus", "16"}).err, HasSubstr("16, but the lab has 8"));
  EXPECT_THAT(railyard({"place", topology("scenarios/job-3d.yaml"), "--job", "x"}).err, HasSubstr("there is no job or collective 'x'; expected one of step"));
  EXPECT_THAT(railyard({"place", topology("incast-8to1.yaml")}).err, HasSubstr("there is nothing to place"));
}

}  // namespace
}  // namespace railyard::tools
