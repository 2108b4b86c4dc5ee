// railyard plan: from GPUs and a workload to a fabric, with the arithmetic.
#include "control/plan/plan.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/plan/compare.h"
#include "control/plan/fabric_file.h"
#include "control/plan/reduce.h"
#include "control/spec/spec_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

// One option of the command line that is a key of the request as well.
struct RequestOption {
  const char* key;
  const char* type;
  const char* help;
};

constexpr RequestOption kRequestOptions[] = {
    {"workload", "pretraining|fine-tuning|inference-rag|mixed",
     "What the GPUs do; sets the recommendations (default: pretraining)"},
    {"gpus", "N", "GPUs now"},
    {"gpus-later", "N", "GPUs in 18 months: switches above leaves get ports for them now (default: as now)"},
    {"model", "8B|70B|405B|NAME", "Llama 3 by size, a shipped model, or a file (default: 70B)"},
    {"gpu", "NAME", "v100, a100, h100, h200, b200, mi250x or mi300x (default: h100)"},
    {"gpus-per-node", "N", "GPUs of a node (default: 8)"},
    {"nics-per-node", "N", "NICs of a node (default: by workload, model and GPU)"},
    {"nic-rate", "RATE", "Rate of a NIC (default: by workload, model and GPU; h100: 400Gbps)"},
    {"pcie", "SLOT", "PCI Express slot of a NIC (default: that of a server with this GPU; h100: gen5x16)"},
    {"design", "rail-optimized|fat-tree", "NIC r of each node at a leaf of rail r, or all NICs of a node at one leaf"},
    {"asic", "NAME", "Switch chip: its ports and buffer (default: tomahawk4-64x400)"},
    {"radix", "N", "Ports of a switch"},
    {"port-rate", "RATE", "Rate of a switch port (default: that of the chip, or of the NIC)"},
    {"capacity", "RATE", "Capacity of a switch, instead of --radix: 51.2Tbps"},
    {"oversubscription", "RATIO", "Of leaves, down / up: 1, 1.5, 3 (default: by workload)"},
    {"core-oversubscription", "RATIO", "Of spines, with three tiers (default: 1)"},
    {"spines-at-least", "N", "Fewest spines, where there are as many leaves (default: 4)"},
    {"rails-per-leaf", "N", "Rails that share a leaf (default: as many as need fewest switches)"},
    {"node-cable", "LENGTH", "From a node to its leaf (default: 15m; fat-tree: 3m)"},
    {"fabric-cable", "LENGTH", "From a leaf to a spine (default: 30m)"},
    {"core-cable", "LENGTH", "From a spine to a core (default: 100m)"},
    {"lossless-classes", "N", "Classes that PFC protects (default: 1)"},
};

struct PlanOptions {
  std::string file;
  std::vector<std::pair<std::string, std::string>> said;
  std::string prices;
  std::string fabric;
  int reduce = 1;
  bool compare = false;
  bool json = false;
};

// What the fabric file says that it is from.
std::string command_line(const PlanOptions& o) {
  std::string out = "railyard plan";
  if (!o.file.empty()) out += " " + o.file;
  for (const auto& [key, value] : o.said) out += fmt::format(" --{} {}", key, value);
  if (o.reduce > 1) out += fmt::format(" --reduce {}", o.reduce);
  return out;
}

int plan_and_write(const PlanOptions& o) {
  const std::string taker = taker_of_standard_output({{"--output", o.fabric}}, o.json);
  if (o.reduce < 1) throw std::invalid_argument(fmt::format("--reduce: {}; expected 1 or more", o.reduce));
  if (o.reduce > 1 && o.fabric.empty()) throw std::invalid_argument("--reduce: found without --output; expected both");
  const bool has_gpus = std::ranges::any_of(o.said, [](const auto& option) { return option.first == "gpus"; });
  if (o.file.empty() && !has_gpus)
    throw std::invalid_argument("--gpus: not found; expected a number of GPUs, or a request file");
  const plan::Request request = plan::read_request(o.file, o.said);
  const plan::Plan plan = plan::make_plan(request, o.prices.empty() ? plan::Prices{} : plan::read_prices(o.prices));
  std::optional<std::string> fabric;
  if (!o.fabric.empty()) {
    const plan::Shape shape = plan::reduced(plan.shape, o.reduce);
    fabric = plan::fabric_file(request, plan.chosen, shape, plan.cables, o.reduce, command_line(o));
  }
  std::optional<ResultFile> file;
  if (fabric) file.emplace(o.fabric, "--output");
  std::optional<plan::Comparison> comparison;
  if (o.compare) comparison = plan::compare(plan);
  if (o.json) {
    nlohmann::ordered_json out = plan::json(plan);
    if (comparison) out["comparison"] = plan::json(*comparison);
    std::puts(json_text(out, 2).c_str());
  } else if (taker.empty()) {
    fmt::print("{}", plan::text(plan::sections(plan)));
    if (comparison) fmt::print("\n{}", plan::text(*comparison, plan.prices));
  }
  if (file) file->write(*fabric);
  return kOk;
}

// What is wrong with an option is wrong with the command line, and not with a file.
int run_plan(const PlanOptions& o) {
  try {
    return plan_and_write(o);
  } catch (const spec::SpecError& e) {
    if (e.place().file.starts_with("--")) throw std::invalid_argument(e.what());
    throw;
  }
}

}  // namespace

void add_plan(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<PlanOptions>();
  command->add_option("REQUEST", o->file, "File with any of these options as keys (YAML); options win")
      ->type_name("FILE");
  for (const RequestOption& option : kRequestOptions)
    command
        ->add_option_function<std::string>(
            std::string("--") + option.key,
            [o, key = option.key](const std::string& text) { o->said.emplace_back(key, text); }, option.help)
        ->type_name(option.type);
  command->add_option("--prices", o->prices, "Your prices and watts (YAML); docs/plan.md has the keys")
      ->type_name("FILE");
  command->add_option("-o,--output", o->fabric, "Write the fabric of now to FILE, for check, run and up")
      ->type_name("FILE");
  command->add_option("--reduce", o->reduce, "Write it with 1/N of the nodes, in the same shape")->type_name("N");
  command->add_flag("--compare", o->compare,
                    "Estimate the same job on other designs at the same cost; show failures and prices");
  command->add_flag("--json", o->json, "Print all figures as JSON");
  command->footer(
      "Prints the arithmetic of each figure with its source: NICs, switches, cables, headroom, growth, power, prices.\n"
      "FILE `-` is standard output, instead of the plan. `railyard docs` has the definitions (plan.md).\n"
      "\n"
      "Examples:\n"
      "  railyard plan --gpus 128                                  # 4 leaves, 4 spines, 51.2 Tb/s\n"
      "  railyard plan --gpus 512 --gpus-later 1024 --workload mixed --prices prices.yaml\n"
      "  railyard plan --gpus 1024 --model 405B -o fabric.yaml && railyard check fabric.yaml\n"
      "  railyard plan --gpus 128 -o lab.yaml --reduce 8           # for a live lab\n"
      "  railyard plan --gpus 128 --compare");
  command->callback([o, &exit_code] { exit_code = run_plan(*o); });
}

}  // namespace railyard::tools
