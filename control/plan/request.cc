#include "control/plan/request.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "control/report/units.h"
#include "control/spec/job_model.h"
#include "control/spec/keys/form.h"
#include "control/spec/load.h"
#include "control/spec/shipped.h"
#include "control/spec/yaml/parse.h"

namespace railyard::plan {
namespace {

using spec::Tree;

constexpr int kMostGpus = 10'000'000;
constexpr int kMostRadix = 1024;

struct GpuMemory {
  std::string_view name;
  std::uint64_t octets;
};
constexpr std::array kMemory{GpuMemory{"v100", 32'000'000'000},   GpuMemory{"a100", 80'000'000'000},
                             GpuMemory{"h100", 80'000'000'000},   GpuMemory{"h200", 141'000'000'000},
                             GpuMemory{"b200", 180'000'000'000},  GpuMemory{"mi250x", 128'000'000'000},
                             GpuMemory{"mi300x", 192'000'000'000}};
static_assert(kMemory.size() == jobs::kGpus.size());

struct ModelSize {
  std::string_view size;
  std::string_view file;
};
constexpr std::array kSizes{ModelSize{"8B", "llama-8b"}, ModelSize{"70B", "llama-70b"},
                            ModelSize{"405B", "llama-405b"}};

spec::Form<Workload> workload_form() {
  std::vector<std::pair<std::string, Workload>> words;
  for (const WorkloadNeeds& w : workloads()) words.emplace_back(w.name, w.workload);
  return spec::choice<Workload>(std::move(words));
}

spec::Form<std::string> gpu_form() {
  std::vector<std::pair<std::string, std::string>> words;
  for (const jobs::Gpu& g : jobs::kGpus) words.emplace_back(g.name, g.name);
  return spec::choice<std::string>(std::move(words));
}

spec::Form<spec::PcieSlot> slot_form() {
  std::vector<std::pair<std::string, spec::PcieSlot>> words;
  for (int generation = 3; generation <= 6; ++generation)
    for (const int lanes : {4, 8, 16})
      words.emplace_back(fmt::format("gen{}x{}", generation, lanes), spec::PcieSlot{generation, lanes});
  return spec::choice<spec::PcieSlot>(std::move(words));
}

spec::Form<std::string> asic_form() {
  return {[](const Tree& said) {
            static_cast<void>(spec::shipped_file(said, spec::asic_profiles(), "ASIC"));
            return said.text;
          },
          [](const std::string& name) { return Tree::string(name); },
          {}};
}

spec::Form<std::string> model_form() {
  return {[](const Tree& said) { return said.as_text("8B, 70B, 405B or the name of a model"); },
          [](const std::string& name) { return Tree::string(name); },
          {}};
}

spec::Form<Length> some_length() {
  return spec::checked<Length>(spec::length(), [](const Length& l) -> std::optional<std::string> {
    if (l.mm > 0) return std::nullopt;
    return "a cable of 0 m; expected a length such as 3m";
  });
}

std::string gpus_text(int n) { return fmt::format("{} {}", report::count_text(static_cast<std::uint64_t>(n)), n == 1 ? "GPU" : "GPUs"); }

// "a multiple of 8 (96 or 104)"; with fewer GPUs than a node has: "8".
std::string whole_nodes_text(int gpus, int per_node) {
  const int below = gpus / per_node * per_node;
  const auto count = [](int n) { return report::count_text(static_cast<std::uint64_t>(n)); };
  if (below == 0) return fmt::format("{}, or --gpus-per-node {}", count(per_node), gpus);
  return fmt::format("a multiple of {} ({} or {})", per_node, count(below), count(below + per_node));
}

// What keys say together.
void check(const Tree& map, const Request& r) {
  const auto fail = [&](const char* key, const std::string& what) { map.at_or_self(key).fail(what); };
  if (r.gpus % r.gpus_per_node != 0)
    fail("gpus", fmt::format("{} in nodes of {}; expected {}", gpus_text(r.gpus), r.gpus_per_node,
                             whole_nodes_text(r.gpus, r.gpus_per_node)));
  if (r.gpus_later && *r.gpus_later < r.gpus)
    fail("gpus-later",
         fmt::format("{} in 18 months, but {} now; expected {} or more", gpus_text(*r.gpus_later),
                     report::count_text(static_cast<std::uint64_t>(r.gpus)), r.gpus));
  if (r.later() % r.gpus_per_node != 0)
    fail("gpus-later",
         fmt::format("{} in nodes of {}; expected {}", gpus_text(r.later()), r.gpus_per_node,
                     whole_nodes_text(r.later(), r.gpus_per_node)));
  if (r.nics_per_node && r.gpus_per_node % *r.nics_per_node != 0 && *r.nics_per_node % r.gpus_per_node != 0)
    fail("nics-per-node", fmt::format("{} {} for {}; expected a divisor or a multiple of {}", *r.nics_per_node,
                                      *r.nics_per_node == 1 ? "NIC" : "NICs", gpus_text(r.gpus_per_node),
                                      r.gpus_per_node));
  if (r.rails_per_leaf && r.design != Design::kRailOptimized)
    fail("rails-per-leaf", "a fat tree has no rails; expected design: rail-optimized");
  if (r.radix && r.capacity) fail("capacity", "found with radix; expected one of the two");
}

}  // namespace

std::string_view name(Design design) noexcept {
  return design == Design::kRailOptimized ? "rail-optimized" : "fat-tree";
}

std::uint64_t gpu_memory(const std::string& gpu) { return std::ranges::find(kMemory, gpu, &GpuMemory::name)->octets; }
const jobs::Gpu& gpu_named(const std::string& gpu) { return *std::ranges::find(jobs::kGpus, gpu, &jobs::Gpu::name); }

jobs::Model model_named(const Tree& said) {
  Tree file = said;
  if (const auto size = std::ranges::find(kSizes, said.text, &ModelSize::size); size != kSizes.end())
    file.text = size->file;
  return spec::read_model(file);
}

const spec::Table<Request>& request_keys() {
  using spec::integer;
  using spec::key;
  using spec::maybe;
  using spec::rate;
  const BitRate gigabit{1'000'000'000};
  static const spec::Table<Request> table{
      "plan",
      "What a fabric is planned for",
      {key("workload", &Request::workload, workload_form(), "pretraining, fine-tuning, inference-rag or mixed"),
       key("gpus", &Request::gpus, integer(1, kMostGpus), "GPUs now").require(),
       key("gpus-later", &Request::gpus_later, maybe(integer(1, kMostGpus)), "GPUs in 18 months (default: as now)"),
       key("model", &Request::model_name, model_form(), "8B, 70B, 405B (Llama 3), a shipped model or a file"),
       key("gpu", &Request::gpu, gpu_form(), "kind of GPU"),
       key("gpus-per-node", &Request::gpus_per_node, integer(1, 1024), "GPUs of a node"),
       key("nics-per-node", &Request::nics_per_node, maybe(integer(1, 64)),
           "NICs of a node (default: by workload, model and GPU)"),
       key("nic-rate", &Request::said_nic_rate, maybe(rate(gigabit)), "rate of a NIC (default: by workload, model and GPU)"),
       key("pcie", &Request::said_pcie, maybe(slot_form()), "slot of a NIC, such as gen5x16 (default: by GPU)"),
       key("design", &Request::design,
           spec::choice<Design>({{"rail-optimized", Design::kRailOptimized}, {"fat-tree", Design::kFatTree}}),
           "rail-optimized: NIC r of each node at a leaf of rail r; fat-tree: all NICs of a node at one leaf"),
       key("asic", &Request::asic, asic_form(), "switch chip by name: its ports, their rate, its buffer"),
       key("radix", &Request::radix, maybe(integer(4, kMostRadix)), "ports of a switch"),
       key("port-rate", &Request::port_rate, maybe(rate(gigabit)), "rate of each port"),
       key("capacity", &Request::capacity, maybe(rate(gigabit, BitRate{1'000'000'000'000'000})),
           "capacity of a switch, instead of the radix"),
       key("oversubscription", &Request::oversubscription, maybe(spec::ratio()), "of leaves, down : up"),
       key("core-oversubscription", &Request::core_oversubscription, spec::ratio(), "of spines, with three tiers"),
       key("spines-at-least", &Request::spines_at_least, integer(1, kMostRadix),
           "fewest spines, where there are as many leaves"),
       key("rails-per-leaf", &Request::rails_per_leaf, maybe(integer(1, 64)), "rails that share a leaf"),
       key("node-cable", &Request::node_cable, maybe(some_length()), "length from a node to its leaf"),
       key("fabric-cable", &Request::fabric_cable, some_length(), "length from a leaf to a spine"),
       key("core-cable", &Request::core_cable, some_length(), "length from a spine to a core"),
       key("lossless-classes", &Request::lossless_classes, integer(0, 7), "classes that PFC protects")},
      check};
  return table;
}

Request read_request(const std::string& file, const std::vector<std::pair<std::string, std::string>>& options) {
  Tree map = Tree::map();
  if (!file.empty()) {
    map = spec::parse_yaml(spec::read_file(file), file);
    spec::finish(map, "");
    map.as_map();
    if (map.kind == Tree::Kind::kNothing) map = Tree::map();
  }
  if (map.place.file.empty()) map.place.file = "railyard plan";
  for (const auto& [name, text] : options) {
    Tree value = Tree::plain(text);
    value.place.file = "--" + name;
    if (Tree* known = map.find(name))
      *known = std::move(value);
    else
      map.entries.push_back({name, std::move(value), {}});
  }
  Request request;
  request_keys().read(map, request);
  const Tree* said = map.find("model");
  Tree usual = Tree::plain(request.model_name);
  request.model = model_named(said != nullptr ? *said : usual);
  request.advice = advise_nics(request, request.workload);
  if (request.rails_per_leaf && *request.rails_per_leaf > request.nics())
    map.at_or_self("rails-per-leaf")
        .fail(fmt::format("{} rails at a leaf, but a node has {} {}; expected {} or fewer", *request.rails_per_leaf,
                          request.nics(), request.nics() == 1 ? "NIC" : "NICs", request.nics()));
  return request;
}

}  // namespace railyard::plan
