// Two reports side by side: which figures differ, and what makes them two different things.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/summary.h"

namespace railyard::report {

struct Comparison {
  struct Row {
    std::string name;
    std::optional<double> a, b;  // nothing: that run has no such figure
    FigureKind kind;
    // b against a: 0.1 is ten per cent more. Nothing: one is missing, or a is 0 and b is not.
    std::optional<double> change() const;
    // Whether b is better than a by more than a thousandth; nothing: they are alike, or neither is.
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
  std::vector<Row> rows;

  bool comparable() const;
  nlohmann::ordered_json json() const;
  std::string text() const;
};

// `path`: a report.json, or a directory with one. Throws InputError naming the file: it cannot be read, is no JSON, is
// no report.
nlohmann::ordered_json read_report(const std::filesystem::path& path);

Comparison compare(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b, std::string name_a,
                   std::string name_b);

// A figure of a report: a name of its summary ("fct_p99"), or a JSON pointer ("/engine/windows", RFC 6901). Nothing: it
// has none, or no number there.
std::optional<double> figure_of(const nlohmann::ordered_json& report, const std::string& name);

}  // namespace railyard::report
