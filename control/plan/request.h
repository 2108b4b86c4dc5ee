// What somebody plans for: the numbers that a plan begins with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/gpu.h"
#include "control/jobs/model.h"
#include "control/plan/nic_advice.h"
#include "control/plan/workloads.h"
#include "control/spec/keys/table.h"
#include "control/spec/spec.h"
#include "dataplane/base/ratio.h"
#include "dataplane/base/units.h"

namespace railyard::plan {

using spec::Length;

// Where the NICs of a node are: each at a leaf of its rail, or all at one leaf.
enum class Design { kRailOptimized, kFatTree };
std::string_view name(Design design) noexcept;

// Defaults and their sources: docs/plan.md.
struct Request {
  Workload workload = Workload::kPretraining;
  int gpus = 0;                   // now
  std::optional<int> gpus_later;  // in 18 months; nothing: as many as now
  std::string model_name = "70B";
  jobs::Model model;  // of this name
  std::string gpu = "h100";
  int gpus_per_node = 8;
  std::optional<int> nics_per_node;      // nothing: as advised
  std::optional<BitRate> said_nic_rate;  // nothing: as advised
  std::optional<spec::PcieSlot> said_pcie;
  NicAdvice advice{};                    // of read_request()
  Design design = Design::kRailOptimized;
  std::string asic;                  // "tomahawk4-64x400": ports, rate, buffer; empty: the one nearest to the numbers
  std::optional<int> radix;          // ports of a switch
  std::optional<BitRate> port_rate;  // of each of them
  std::optional<BitRate> capacity;   // of a switch, instead of the radix
  std::optional<Ratio> oversubscription;  // of leaves; nothing: the recommendation
  Ratio core_oversubscription{1};         // of spines, with three tiers
  int spines_at_least = 4;                // so that the failure of one costs a part that can be borne
  std::optional<int> rails_per_leaf;      // nothing: as many as need fewest switches
  std::optional<Length> node_cable;  // nothing: 3 m to the top of the rack; 15 m where rails have leaves in other racks
  Length fabric_cable{30'000};       // leaf to spine
  Length core_cable{100'000};        // spine to core
  int lossless_classes = 1;

  int later() const noexcept { return gpus_later.value_or(gpus); }
  int nics() const noexcept { return nics_per_node.value_or(advice.nics); }  // of a node
  BitRate nic_rate() const noexcept { return said_nic_rate.value_or(advice.rate); }
  spec::PcieSlot pcie() const noexcept { return said_pcie.value_or(advice.slot); }
  int nodes() const noexcept { return gpus / gpus_per_node; }
  int nodes_later() const noexcept { return later() / gpus_per_node; }
  Ratio used_oversubscription() const noexcept { return oversubscription.value_or(needs(workload).oversubscription); }
  Length used_node_cable() const noexcept {
    return node_cable.value_or(design == Design::kRailOptimized ? Length{15'000} : Length{3'000});
  }
};

// Its keys: those of a file and of the command line are the same.
const spec::Table<Request>& request_keys();

// From a file (empty: none) and from options, which win: {"gpus", "128"}, which messages call "--gpus". Throws
// spec::SpecError: place, what is wrong, what was expected.
Request read_request(const std::string& file, const std::vector<std::pair<std::string, std::string>>& options);

// The kinds of GPU by name and what they hold, octets. Data sheets: see docs/plan.md.
std::uint64_t gpu_memory(const std::string& gpu);
const jobs::Gpu& gpu_named(const std::string& gpu);

// A shipped model by size ("8B", "70B", "405B") or by name, or a file's. Throws spec::SpecError.
jobs::Model model_named(const spec::Tree& said);

}  // namespace railyard::plan
