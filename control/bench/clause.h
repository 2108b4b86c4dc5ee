// A clause of the benchmark draft as data: which fabric, which work, which values, which KPIs.
//
//   schema: fabric-bench-clause/1
//   id: T9.1
//   lab: { ... }                       a fabric file, or the name of one in topologies/comparisons/
//   sweep: [{ name: path, key: ..., draft: [...], ci: [...], lab: [...] }]
//   kpis: [{ name: busbw, unit: Gb/s, function: busbw, observed: c, primary: true }]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/bench/kpi.h"
#include "control/spec/fault_spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::bench {

inline constexpr const char* kDraft = "draft-calabria-bmwg-ai-fabric-training-bench";
inline constexpr const char* kDraftRevision = "04";
inline constexpr const char* kTerminologyRevision = "05";
inline constexpr const char* kClauseSchema = "fabric-bench-clause/1";

// How much of what the draft asks for is run.
enum class Profile : std::uint8_t { kCi, kLab };
const char* word(Profile profile) noexcept;   // "ci", "lab"
const char* label(Profile profile) noexcept;  // "smoke, not a draft result"

enum class Status : std::uint8_t {
  kImplemented,
  kDeviation,      // it runs, and lacks something that the draft asks for, other than size
  kNotApplicable,  // an emulator cannot have it
};
const char* word(Status status) noexcept;  // "implemented", "deviation", "not applicable"

// A value of a parameter: "DLB => { policy: adaptive, per: flowlet }" has a name, others are their own.
struct SweepValue {
  std::string name;
  std::string value;  // as --set has it

  bool operator==(const SweepValue&) const = default;
};

// A parameter of the clause. Several keys of the fabric file may take the same value; with the key `settings` a value is a map
// of keys and what each of them takes. With an iteration, the values are phases of it (phase.h), and the key takes their instants.
struct Sweep {
  std::string name;                // "message": in tables and results
  std::string key;                 // "traffic.pairs.message+traffic.pairs.bytes"
  std::vector<std::string> draft;  // the names of the values that the draft lists; empty: it lists none
  std::vector<SweepValue> ci;
  std::vector<SweepValue> lab;
  std::optional<std::size_t> iteration;

  const std::vector<SweepValue>& values(Profile profile) const noexcept { return profile == Profile::kCi ? ci : lab; }
  // What --set has for a value; nothing of phases, whose instants are not known yet. Throws spec::SpecError: no map.
  std::vector<std::string> sets(const SweepValue& value) const;
};

// What one profile makes of a clause.
struct Reduction {
  std::string seeds = "1-3";  // of the repetitions
  std::vector<std::string> sets;
  std::vector<std::string> deviations;
};

// A binary search in each run, as `railyard sweep --search` makes it.
struct SearchFor {
  std::string key;    // "traffic.pairs.rate=1Gbps..100Gbps"
  std::string until;  // empty: nothing lost, and accepted = offered
  spec::Ratio resolution{1, 100};
};

struct Clause {
  std::string id;        // "T5.1"
  std::string category;  // "C1"
  std::string title;
  std::string section;  // of the draft: "5.1"
  Status status = Status::kImplemented;
  std::string reason;  // of each status but kImplemented
  spec::Place place;   // of the document

  // Of clauses that run:
  std::string lab;                   // YAML of a fabric file
  std::string lab_name;              // what messages call it
  spec::Place lab_place;             // where the definition says it
  std::vector<std::string> columns;  // side by side, as `railyard compare-transports` has them; empty: the lab as it is
  std::vector<Sweep> sweep;
  std::optional<SearchFor> search;
  std::vector<Kpi> kpis;
  std::vector<std::string> disclosures;  // what a report of this clause must say besides what all say
  std::vector<std::string> deviations;   // of both profiles
  Reduction ci, lab_profile;

  bool runs() const noexcept { return status == Status::kImplemented || status == Status::kDeviation; }
  const Reduction& reduction(Profile profile) const noexcept { return profile == Profile::kCi ? ci : lab_profile; }
};

// Reads a definition. Throws spec::SpecError with place and expectation: another schema, a required key that is
// missing, a key or word that is unknown, a KPI that no report has.
Clause read_clause(const std::string& text, const std::string& file);

// All that Railyard ships (control/bench/tests), in the order of the draft.
const std::vector<Clause>& clauses();

// Those of these ids, in the order of the draft; empty: all. Throws std::invalid_argument for an id that is unknown.
std::vector<const Clause*> clauses(const std::vector<std::string>& ids);

// In what the values of a profile differ from the draft's: "message: 2 of 8 values: 4KB, 1MB".
std::vector<std::string> deviations_of(const Clause& clause, Profile profile);

}  // namespace railyard::bench
