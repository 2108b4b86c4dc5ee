#include "control/jobs/simai.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/jobs/graph_builder.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Wrong = std::unexpected<TraceError>;

constexpr std::array<std::string_view, 5> kPolicies{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER", "DATA", "MODEL", "MICRO"};

enum class Group : std::uint8_t { kTensor, kData, kExpert, kDataOfExperts };

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t from = line.find_first_not_of(kBlank);
    if (from == line.npos) return words;
    const std::size_t to = std::min(line.find_first_of(kBlank, from), line.size());
    words.push_back(line.substr(from, to - from));
    line.remove_prefix(to);
  }
}

Wrong wrong(int line, std::string text) { return Wrong(TraceError{.line = line, .text = std::move(text)}); }

std::optional<std::uint64_t> number_of(std::string_view word, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || bad != std::errc{} || end != word.data() + word.size() || value > most) return std::nullopt;
  return value;
}

// One of the three passes of a layer.
struct Pass {
  std::uint64_t ns = 0;
  std::optional<collectives::Operation> operation;  // nothing: NONE
  Group group = Group::kTensor;
  std::uint64_t octets = 0;
};

struct Layer {
  std::string name;
  int line = 0;
  Pass forward, input, weights;
  std::uint64_t update_ns = 0;
};

struct Settings {
  std::string_view policy;
  std::uint64_t tensor = 1, expert = 1, stages = 1, ranks = 0;
};

class Reader {
 public:
  std::expected<JobGraph, TraceError> read(std::string_view text) {
    std::string_view rest = text;
    const auto next = [&]() -> std::optional<std::vector<std::string_view>> {
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::vector<std::string_view> words = words_of(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++line_;
        if (!words.empty()) return words;
      }
      return std::nullopt;
    };
    const auto header = next();
    if (!header) return wrong(1, "an empty file; expected a workload");
    if (const auto ok = read_settings(*header); !ok) return Wrong(ok.error());
    const auto count = next();
    const auto n = count ? number_of(count->front(), kMostTraceOperations) : std::nullopt;
    if (!n || count->size() != 1)
      return wrong(line_, fmt::format("found '{}'; expected the number of layers", count ? fmt::to_string(fmt::join(*count, " ")) : ""));
    std::vector<Layer> layers;
    while (layers.size() < *n) {
      const auto words = next();
      if (!words) return wrong(line_, fmt::format("{} layers; expected {}, as line 2 says", layers.size(), *n));
      auto layer = layer_of(*words);
      if (!layer) return Wrong(layer.error());
      layers.push_back(std::move(*layer));
    }
    if (next()) return wrong(line_, fmt::format("a line behind the last of {} layers; expected the end", *n));
    if (layers.size() * settings_.ranks > kMostTraceOperations / 7)
      return wrong(1, fmt::format("{} layers of {} ranks; expected at most {} operations", layers.size(), settings_.ranks, kMostTraceOperations));
    return graph_of(layers);
  }

 private:
  std::expected<void, TraceError> read_settings(const std::vector<std::string_view>& words) {
    const auto known = std::ranges::find(kPolicies, words.front());
    if (known == kPolicies.end())
      return wrong(line_, fmt::format("found '{}'; expected {}", words.front(), fmt::join(kPolicies, " or ")));
    settings_.policy = *known;
    std::map<std::string_view, std::uint64_t> values;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      std::string_view key = words[i];
      if (key.ends_with(':')) key.remove_suffix(1);
      const auto value = i + 1 < words.size() ? number_of(words[i + 1], kMostTraceOctets) : std::nullopt;
      // pp_comm is a mean, and so may have a fraction.
      if (!value && key != "pp_comm") return wrong(line_, fmt::format("{}: found '{}'; expected a number", key, i + 1 < words.size() ? words[i + 1] : ""));
      values[key] = value.value_or(0);
    }
    for (const char* key : {"checkpoints", "checkpoint_initiates"})
      if (values[key] != 0) return wrong(line_, fmt::format("{}: {}; expected 0: recomputing is not supported", key, values[key]));
    for (const char* key : {"model_parallel_NPU_group", "ep", "pp"})
      if (values.contains(key) && values[key] == 0) return wrong(line_, fmt::format("{}: 0; expected 1 or more", key));
    const auto setting = [&](const char* key) { return values.contains(key) ? values[key] : 1; };
    settings_.tensor = setting("model_parallel_NPU_group");
    settings_.expert = setting("ep");
    settings_.stages = setting("pp");
    settings_.ranks = values.contains("all_gpus") ? values["all_gpus"] : 0;
    if (settings_.ranks < 2 || settings_.ranks > kMostTraceRanks)
      return wrong(line_, fmt::format("all_gpus: {}; expected the number of ranks, 2 to {}",
                                      values.contains("all_gpus") ? std::to_string(settings_.ranks) : "missing", kMostTraceRanks));
    if (settings_.policy == "DATA" || settings_.policy == "MICRO") settings_.tensor = settings_.expert = settings_.stages = 1;
    if (settings_.policy == "MODEL") {
      settings_.tensor = settings_.ranks;
      settings_.expert = settings_.stages = 1;
    }
    if (settings_.tensor > settings_.ranks || settings_.stages > settings_.ranks || settings_.expert > settings_.ranks ||
        settings_.ranks % (settings_.tensor * settings_.stages) != 0)
      return wrong(line_, fmt::format("all_gpus: {} is not a multiple of model_parallel_NPU_group {} x pp {}", settings_.ranks,
                                      settings_.tensor, settings_.stages));
    if (data() % settings_.expert != 0)
      return wrong(line_, fmt::format("ep: {} does not divide the {} data-parallel ranks", settings_.expert, data()));
    return {};
  }

  // Ranks of a data-parallel group.
  std::uint64_t data() const noexcept { return settings_.ranks / (settings_.tensor * settings_.stages); }

  std::expected<Pass, TraceError> pass_of(std::string_view time, std::string_view operation, std::string_view octets, Group plain) const {
    Pass pass;
    const auto ns = number_of(time, kMostTraceNanoseconds);
    if (!ns) return wrong(line_, fmt::format("found '{}'; expected a time in ns up to {}", time, kMostTraceNanoseconds));
    const auto size = number_of(octets, kMostTraceOctets);
    if (!size) return wrong(line_, fmt::format("found '{}'; expected bytes up to {}", octets, kMostTraceOctets));
    pass.ns = *ns;
    pass.octets = *size;
    pass.group = plain;
    std::string_view name = operation;
    if (name.ends_with("_DP_EP")) {
      pass.group = Group::kDataOfExperts;
      name.remove_suffix(6);
    } else if (name.ends_with("_EP")) {
      pass.group = Group::kExpert;
      name.remove_suffix(3);
    }
    using enum collectives::Operation;
    static constexpr std::pair<std::string_view, collectives::Operation> kNames[] = {
        {"ALLREDUCE", kAllReduce}, {"ALLGATHER", kAllGather}, {"REDUCESCATTER", kReduceScatter}, {"ALLTOALL", kAllToAll}};
    const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, collectives::Operation>::first);
    if (operation != "NONE" && found == std::end(kNames))
      return wrong(line_, fmt::format("found '{}'; expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, also with _EP or _DP_EP", operation));
    if (operation != "NONE" && *size > 0) pass.operation = found->second;
    return pass;
  }

  std::expected<Layer, TraceError> layer_of(const std::vector<std::string_view>& words) const {
    constexpr std::size_t kWords = 12;
    if (words.size() != kWords) return wrong(line_, fmt::format("{} words; expected {} for a layer", words.size(), kWords));
    Layer layer;
    layer.name = words[0];
    layer.line = line_;
    const std::pair<Pass*, Group> passes[] = {{&layer.forward, Group::kTensor}, {&layer.input, Group::kTensor}, {&layer.weights, Group::kData}};
    for (std::size_t i = 0; i < std::size(passes); ++i) {
      const auto pass = pass_of(words[2 + 3 * i], words[3 + 3 * i], words[4 + 3 * i], passes[i].second);
      if (!pass) return Wrong(pass.error());
      *passes[i].first = *pass;
    }
    const auto update = number_of(words[11], kMostTraceNanoseconds);
    if (!update) return wrong(line_, fmt::format("found '{}'; expected a time in ns up to {}", words[11], kMostTraceNanoseconds));
    layer.update_ns = *update;
    return layer;
  }

  // Ranks are numbered tensor-parallel first, then experts, data, stages, as Megatron does.
  std::vector<std::vector<std::uint32_t>> groups_of(Group group) const {
    std::uint64_t size = settings_.tensor, stride = 1;
    if (group == Group::kData) {
      size = data();
      stride = settings_.tensor;
    } else if (group == Group::kExpert) {
      size = settings_.expert;
      stride = settings_.tensor;
    } else if (group == Group::kDataOfExperts) {
      size = data() / settings_.expert;
      stride = settings_.tensor * settings_.expert;
    }
    std::vector<std::vector<std::uint32_t>> all;
    if (size < 2) return all;
    for (std::uint64_t first = 0; first < settings_.ranks; ++first) {
      if (first / stride % size != 0) continue;
      std::vector<std::uint32_t>& ranks = all.emplace_back();
      for (std::uint64_t i = 0; i < size; ++i) ranks.push_back(static_cast<std::uint32_t>(first + i * stride));
    }
    return all;
  }

  JobGraph graph_of(const std::vector<Layer>& layers) {
    GraphBuilder build(settings_.ranks);
    build_ = &build;
    before_.assign(settings_.ranks, kNone);
    if (settings_.policy != "MICRO")
      for (const Layer& layer : layers) {
        compute(layer, layer.forward.ns, "forward");
        communicate(layer, layer.forward, "forward", true);
      }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool micro = settings_.policy == "MICRO";
      const Layer& layer = layers[micro ? i : layers.size() - 1 - i];
      if (!micro) {
        compute(layer, layer.input.ns, "input gradient");
        communicate(layer, layer.input, "input gradient", true);
      }
      compute(layer, layer.weights.ns, "weight gradient");
      communicate(layer, layer.weights, "weight gradient", micro);
    }
    return build.take();
  }

  void compute(const Layer& layer, std::uint64_t ns, std::string_view what) {
    if (ns == 0) return;
    const std::uint32_t label = build_->label(fmt::format("{} {}", layer.name, what));
    for (std::uint32_t r = 0; r < settings_.ranks; ++r) before_[r] = build_->add(r, after(r, {.time = time(ns), .label = label, .line = layer.line}));
  }

  void communicate(const Layer& layer, const Pass& pass, std::string_view what, bool waits) {
    if (!pass.operation) return;
    const std::uint32_t label = build_->label(fmt::format("{} {}", layer.name, what));
    const bool updates = !waits && layer.update_ns > 0;
    for (const std::vector<std::uint32_t>& ranks : groups_of(pass.group)) {
      const std::uint32_t collective = build_->collective(
          {.operation = *pass.operation, .communicator = build_->communicator(ranks), .octets = pass.octets, .line = layer.line});
      for (const std::uint32_t r : ranks) {
        const std::uint32_t own = build_->add(r, after(r, {.kind = Kind::kCollective, .collective = collective, .label = label, .line = layer.line}));
        if (waits) before_[r] = own;
        if (updates) {
          Operation update{.stream = 1, .time = time(layer.update_ns), .label = build_->label(layer.name + " update"), .line = layer.line};
          update.after.push_back(own);
          build_->add(r, std::move(update));
        }
      }
    }
  }

  Operation after(std::uint32_t r, Operation o) const {
    if (before_[r] != kNone) o.after.push_back(before_[r]);
    return o;
  }
  static Duration time(std::uint64_t ns) { return Duration{static_cast<std::int64_t>(ns * 1000)}; }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  int line_ = 0;
  Settings settings_;
  GraphBuilder* build_ = nullptr;
  std::vector<std::uint32_t> before_;  // by rank: what the next operation waits for
};

}  // namespace

bool is_simai(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::vector<std::string_view> words = words_of(text.substr(0, end));
  if (words.empty()) return false;
  return std::ranges::find(kPolicies, words[0]) != kPolicies.end() || words[0].starts_with("HYBRID_") || words[0] == "DISTRIBUTED_INFERENCE";
}

std::expected<JobGraph, TraceError> read_simai(std::string_view text) { return Reader().read(text); }

}  // namespace railyard::jobs
