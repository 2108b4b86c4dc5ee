// The keys of jobs.<n>.inference.
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "control/jobs/inference.h"
#include "control/spec/decimal.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

using jobs::Inference;
using jobs::Lengths;
using jobs::Pool;

constexpr int kMostPoolRanks = 65536;
constexpr int kMostRequests = 100'000;
constexpr int kMostTokens = 1 << 17;
constexpr std::int64_t kMillion = 1'000'000;

// "20/s", to a millionth; "inf": all at once, which is a rate of 0 here.
Form<double> request_rate() {
  return {[](const Tree& tree) -> double {
            const std::string& text = tree.as_text("requests per second, such as 20/s, or inf");
            if (text == "inf") return 0;
            std::optional<std::int64_t> millionths;
            if (std::string_view number = text; number.ends_with("/s")) {
              number.remove_suffix(2);
              while (number.ends_with(' ')) number.remove_suffix(1);
              if (const auto decimal = Decimal::parse(number)) millionths = times(*decimal, kMillion);
            }
            if (!millionths || *millionths < 1000 || *millionths > kMillion * kMillion)
              tree.fail(fmt::format("'{}' is not a rate of requests; expected 0.001/s to 1000000/s such as 20/s, or inf: all at once", text));
            return static_cast<double>(*millionths) / static_cast<double>(kMillion);
          },
          [](const double& rate) { return Tree::plain(rate > 0 ? fmt::format("{}/s", rate) : std::string("inf")); },
          Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string("^(inf|[0-9]+(\\.[0-9]+)? */s)$")}})};
}

Form<int> octets_of_a_number() { return choice<int>({{"fp32", 4}, {"bf16", 2}, {"fp8", 1}}); }

}  // namespace

const Table<Pool>& pool_keys() {
  static const Table<Pool> table{
      "pool",
      "Replicas of a model that do one of the two phases of inference",
      {key("tp", &Pool::tp, integer(1, kMostPoolRanks), "tensor parallelism: ranks of a replica, which share out all matrices and heads")
           .show(),
       key("replicas", &Pool::replicas, integer(1, kMostPoolRanks), "copies of the model").show()}};
  return table;
}

const Table<Inference>& inference_keys() {
  static const Table<Inference> table{
      "inference",
      "Requests to a model whose prefill and decode are on GPUs of their own; KV caches go from one to the other over the fabric",
      {key("prefill", &Inference::prefill, map_of(pool_keys()), "replicas that compute the prompts. They are the first ranks").require(),
       key("decode", &Inference::decode, map_of(pool_keys()), "replicas that make the tokens. They are the ranks behind them").require(),
       key("rate", &Inference::rate, request_rate(),
           "requests per second in the mean; they arrive at random (a Poisson process), the first one at `start`. inf: all of them "
           "arrive then")
           .require(),
       key("requests", &Inference::requests, integer(1, kMostRequests), "number of requests").show(),
       key("prompt", &Inference::prompt, integer(1, kMostTokens), "tokens of a prompt, in the mean").show(),
       key("output", &Inference::output, integer(1, kMostTokens), "tokens of an answer, in the mean").show(),
       key("lengths", &Inference::lengths, choice<Lengths>({{"fixed", Lengths::kFixed}, {"exponential", Lengths::kExponential}}),
           "distribution of both: all are as long, or they are drawn, each at least one token"),
       key("batch", &Inference::batch, integer(1, jobs::kMostBatch), "the most requests that a decode replica has in an iteration"),
       key("segments", &Inference::segments, integer(0, 4096),
           "parts in which the layers of a prompt are computed; the KV cache of one is sent while the next is computed. 0: one per layer"),
       key("weights", &Inference::weight_octets, octets_of_a_number(), "precision of parameters"),
       key("kv-cache", &Inference::kv_octets, octets_of_a_number(), "precision of keys and values")}};
  return table;
}

}  // namespace railyard::spec
