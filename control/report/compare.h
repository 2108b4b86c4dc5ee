// Two reports side by side: which figures differ, and what makes them two different things.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/delivery.h"
#include "control/report/summary.h"
#include "control/spec/difference.h"
#include "control/spec/spec.h"

namespace railyard::report {

struct Comparison {
  struct Row {
    std::string name;
    std::optional<double> a, b;  // nothing: that run has no such figure
    FigureKind kind;
    // Whether that run may be called better: it did not deliver less (delivery.h).
    bool a_may_win = true, b_may_win = true;
    // b against a: 0.1 is ten per cent more. Nothing: one is missing, or a is 0 and b is not.
    std::optional<double> change() const;
    // Whether b is better than a by more than a thousandth; nothing: they are alike, neither is, or the better one may
    // not win.
    std::optional<bool> better() const;
  };
  // Something that two runs should have in common to be compared, and have not.
  struct Difference {
    std::string what;  // "seed"
    std::string a, b;
    bool incomparable = true;  // false: worth knowing only
  };
  std::string name_a, name_b;  // what they were read from
  std::vector<Difference> differences;
  // Settings of their labs that differ (spec/difference.h). Nothing: the lab of one is not known.
  std::optional<std::vector<spec::Difference>> settings = {};
  std::vector<std::string> unknown_labs = {};  // why it is not, a line for each run; empty too if the digests are equal
  bool same_lab = false;                       // by the digests of the labs
  std::vector<Row> rows;
  Delivery delivery_a, delivery_b;

  bool comparable() const;
  nlohmann::ordered_json json() const;
  std::string text() const;
  // One page that needs nothing else.
  std::string html() const;

 private:
  // Without the digest of the labs, if the settings are known.
  std::vector<Difference> shown_differences() const;
  // Which run delivered less, a line for each.
  std::vector<std::string> less_lines() const;
};

// The lab of a run: lab.yaml in the directory of its report, if its digest is the report's run.lab_digest. Or why it is
// not known: "a.json: no lab.yaml in its directory", "a.json: lab.yaml in its directory is of another lab".
std::expected<spec::Lab, std::string> lab_of(const std::filesystem::path& path, const nlohmann::ordered_json& report);

// Fills in the settings that differ, or why they are not known.
void compare_labs(Comparison& comparison, const std::expected<spec::Lab, std::string>& a,
                  const std::expected<spec::Lab, std::string>& b);

// `path`: a report.json, or a directory with one. Throws InputError naming the file: it cannot be read, is no JSON, is
// no report.
nlohmann::ordered_json read_report(const std::filesystem::path& path);

Comparison compare(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b, std::string name_a,
                   std::string name_b);

// A figure of a report by its documented name (docs/metrics.md): of its summary ("fct_p99"); LIST.NAME.FIELD of an
// element of a list ("traffic.incast.goodput_bps.p50", "ports.leaf1:1.utilisation", "flows.incast/h2->h1.share");
// OBJECT.FIELD ("engine.windows"); or a JSON pointer ("/engine/windows", RFC 6901). Nothing: it has none, or no number
// there. Figures of flags are 0 and 1.
std::optional<double> figure_of(const nlohmann::ordered_json& report, const std::string& name);

}  // namespace railyard::report
