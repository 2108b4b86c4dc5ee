// Jobs whose time goes into their own shape: ring, placement, pipeline.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "control/doctor/rule.h"
#include "control/doctor/values.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

// N of "tp N, pp M"
int parallel(const std::string& text, const std::string& kind) {
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word == kind) {
      int n = 1;
      words >> n;
      return n;
    }
  return 1;
}

std::size_t ranks_of(const Json& collective) { return items(collective, "ranks").size(); }

std::vector<Diagnosis> find_ring_latency(const Case& c) {
  constexpr std::size_t kMany = 24;
  constexpr double kLow = 0.3, kLowOfSmall = 0.4, kSmall = 16e3;  // octets of a step
  std::vector<Diagnosis> out;
  for (const Json& j : c.collectives()) {
    const double share = number(j, "share_of_limit");
    if (!text(j, "algorithm").starts_with("ring") || ranks_of(j) < kMany || share <= 0) continue;
    if (share >= (number(j, "bytes") < kSmall * static_cast<double>(ranks_of(j)) ? kLowOfSmall : kLow)) continue;
    if (count(j, "ecn_marked") > 0 || count(j, "retransmitted_packets") > 0) continue;
    const double n = static_cast<double>(ranks_of(j));
    const double steps = (text(j, "collective") == "all-reduce" ? 2 : 1) * (n - 1);
    const double time = number(below(j, "time_ns"), "median");
    out.push_back({text(j, "name"),
                   0.8,
                   {fmt::format("a ring of {:.0f} ranks takes {:.0f} steps, {:.1f} us each, for {:.0f} KB per step", n,
                                steps, time / steps / 1e3, number(j, "bytes") / n / 1e3),
                    fmt::format("busbw is {:.0f} % of the framing limit; no marks, no retransmissions", share * 100)}});
  }
  return out;
}

// Messages of tensor parallelism hold computing up, so a part of what a rank sends is enough to slow it down.
std::vector<Diagnosis> find_tensor_across_hosts(const Case& c) {
  constexpr double kInefficient = 0.75;
  constexpr double kWorthIt = 0.25;
  std::vector<Diagnosis> out;
  for (const Json& j : c.collectives()) {
    const Json& training = below(below(j, "schedule"), "training");
    const Json& sent = below(training, "sent_bytes");
    const double across = number(sent, "tp_across_hosts");
    const double efficiency = number(below(j, "schedule"), "efficiency");
    if (across <= 0 || efficiency <= 0 || efficiency >= kInefficient) continue;
    double all = 0;
    for (const char* kind : {"tp", "cp", "ep", "pp", "dp"}) all += number(sent, kind);
    if (across < kWorthIt * all) continue;
    out.push_back({text(j, "name"),
                   0.85,
                   {fmt::format("tensor-parallel groups ({}) span hosts; a rank sends {:.0f} MB a step in them, {:.0f} % of all that it "
                                "sends",
                                text(training, "parallelism"), across / 1e6, std::min(1.0, across / all) * 100),
                    fmt::format("efficiency {:.0f} %: ranks wait for messages", efficiency * 100)}});
  }
  return out;
}

std::vector<Diagnosis> find_pipeline_bubbles(const Case& c) {
  constexpr double kLarge = 0.3;
  std::vector<Diagnosis> out;
  for (const Json& j : c.collectives()) {
    const Json& training = below(below(j, "schedule"), "training");
    const int stages = parallel(text(training, "parallelism"), "pp");
    const double microbatches = number(training, "microbatches");
    if (stages < 2 || microbatches < 1) continue;
    const double bubble = (stages - 1) / (microbatches + stages - 1);
    const double idle = number(below(j, "job"), "idle");
    if (bubble < kLarge || idle < 0.7 * bubble) continue;
    out.push_back({text(j, "name"),
                   0.75,
                   {fmt::format("{} stages and {:.0f} microbatches: {:.0f} % of a step is bubbles (1F1B)", stages,
                                microbatches, bubble * 100),
                    fmt::format("ranks are idle for {:.0f} % of the time", idle * 100)}});
  }
  return out;
}

}  // namespace

const Rule rules::kRingLatency{"ring-latency", "A ring has more steps than data: its time grows with the number of ranks.",
                               "A tree, halving-doubling or hierarchical algorithm for this size; larger buckets.",
                               "Steps take longer than two network latencies and the time of their data.",
                               find_ring_latency, {Input::kJobs}};
const Rule rules::kTensorAcrossHosts{"tensor-across-hosts",
                                     "Tensor parallelism crosses hosts, and computing waits for the fabric.",
                                     "Tensor parallelism inside hosts, data or pipeline parallelism between them.",
                                     "The hosts share a scale-up network.", find_tensor_across_hosts, {Input::kJobs}};
const Rule rules::kPipelineBubbles{"pipeline-bubbles", "Pipeline stages wait for each other: too few microbatches.",
                                   "More microbatches, interleaved stages, or fewer stages.",
                                   "Ranks wait for messages: then the network is slow.", find_pipeline_bubbles,
                                   {Input::kJobs}};

}  // namespace railyard::doctor
