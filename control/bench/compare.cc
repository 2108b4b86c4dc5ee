#include "control/bench/compare.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/base/json_text.h"
#include "control/base/read_file.h"
#include "control/base/text_table.h"
#include "control/spec/input_error.h"

namespace railyard::bench {
namespace {

using CompareJson = nlohmann::ordered_json;

constexpr const char* kResultSchema = "fabric-bench/1";

std::optional<CompareJson> parsed(const std::filesystem::path& file) {
  const auto text = read_whole_file(file);
  if (!text || is_nested_too_deeply(*text)) return std::nullopt;
  CompareJson j = CompareJson::parse(*text, nullptr, false);
  if (j.is_discarded() || !j.is_object()) return std::nullopt;
  return j;
}

std::optional<std::string> schema_of(const CompareJson& j) {
  const auto at = j.find("schema");
  return at != j.end() && at->is_string() ? std::optional(at->get<std::string>()) : std::nullopt;
}

std::string plain(const CompareJson& j) { return j.is_string() ? j.get<std::string>() : json_text(j); }

std::optional<double> value_of(const CompareJson& kpi) {
  const CompareJson& v = kpi.at("value");
  return v.is_number() ? std::optional(v.get<double>()) : std::nullopt;
}

std::string params_of(const CompareJson& c) {
  std::vector<std::string> out;
  for (const auto& [name, value] : c.at("params").items()) out.push_back(fmt::format("{} {}", name, plain(value)));
  return fmt::format("{}", fmt::join(out, ", "));
}

// Each case of a result with the id of its clause.
struct Entry {
  std::string test;
  std::string params;
  const CompareJson* json;

  std::string name() const { return params.empty() ? test : test + " " + params; }
  bool operator==(const Entry& other) const { return test == other.test && params == other.params; }
};

std::vector<Entry> entries(const CompareJson& result) {
  std::vector<Entry> out;
  for (const auto& r : result.at("results"))
    for (const auto& c : r.at("cases")) out.push_back({r.at("test").get<std::string>(), params_of(c), &c});
  return out;
}

ResultComparison::Case compared(const Entry& a, const Entry& b) {
  ResultComparison::Case c{a.test, a.params, {}, {}};
  const CompareJson& of_b = b.json->at("comparability");
  for (const auto& [name, value] : a.json->at("comparability").items())
    if (of_b.at(name) != value)
      c.differences.push_back(fmt::format("{}: {} and {}", name, plain(value), plain(of_b[name])));
  for (const auto& kpi : a.json->at("kpi")) {
    // Values of two observation points are not the same KPI.
    const auto& others = b.json->at("kpi");
    const auto other = std::ranges::find_if(others, [&](const CompareJson& o) {
      return o.at("name") == kpi.at("name") && o.at("obs") == kpi.at("obs") && o.at("unit") == kpi.at("unit");
    });
    ResultComparison::Row row{kpi.at("name"), kpi.at("unit"), kpi.at("obs"), value_of(kpi), {}, {}};
    if (other != others.end()) row.b = value_of(*other);
    if (c.differences.empty() && row.a && row.b && *row.a != 0) row.change = *row.b / *row.a - 1;
    c.rows.push_back(std::move(row));
  }
  return c;
}

std::string value_text(const std::optional<double>& x) { return x ? fmt::format("{:.6g}", *x) : "-"; }

}  // namespace

bool is_result(const std::filesystem::path& file) {
  const auto j = parsed(file);
  return j && schema_of(*j).value_or("").starts_with("fabric-bench/");
}

CompareJson read_result(const std::filesystem::path& file) {
  const auto j = parsed(file);
  if (!j || !schema_of(*j))
    throw InputError(
        fmt::format("{}: not a result of railyard bench; expected a file of `railyard bench -o`", file.string()));
  if (const std::string schema = *schema_of(*j); schema != kResultSchema)
    throw InputError(fmt::format("{}: found schema '{}'; expected {}", file.string(), schema, kResultSchema));
  return *j;
}

ResultComparison compare(const CompareJson& a, const CompareJson& b, std::string name_a, std::string name_b) {
  ResultComparison c;
  try {
    for (const char* key : {"profile", "fabric"})
      if (a.at(key) != b.at(key))
        c.notes.push_back(fmt::format("{}: {} and {}", key, plain(a.at(key)), plain(b.at(key))));
    const std::vector<Entry> of_a = entries(a);
    const std::vector<Entry> of_b = entries(b);
    for (const Entry& e : of_a) {
      const auto other = std::ranges::find(of_b, e);
      if (other == of_b.end())
        c.only_a.push_back(e.name());
      else
        c.cases.push_back(compared(e, *other));
    }
    for (const Entry& e : of_b)
      if (std::ranges::find(of_a, e) == of_a.end()) c.only_b.push_back(e.name());
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{} and {}: one is incomplete: {}", name_a, name_b, error.what()));
  }
  c.name_a = std::move(name_a);
  c.name_b = std::move(name_b);
  return c;
}

std::string ResultComparison::text() const {
  std::string out = fmt::format("A: {}\nB: {}\n", name_a, name_b);
  for (const std::string& n : notes) out += fmt::format("Differs: {}\n", n);
  for (const Case& c : cases) {
    out += fmt::format("\n{}{}{}\n", c.test, c.params.empty() ? "" : " ", c.params);
    for (const std::string& d : c.differences) out += fmt::format("  Not comparable: {}\n", d);
    std::vector<std::vector<std::string>> lines{{"KPI", "A", "B"}};
    if (c.differences.empty()) lines[0].emplace_back("B against A");
    for (const Row& r : c.rows) {
      lines.push_back({fmt::format("{} {} [{}]", r.kpi, r.unit, r.obs), value_text(r.a), value_text(r.b)});
      if (c.differences.empty()) lines.back().push_back(r.change ? fmt::format("{:+.1f} %", *r.change * 100) : "-");
    }
    out += text_table(lines, 1, "  ");
  }
  for (const std::string& n : only_a) out += fmt::format("Only in A: {}\n", n);
  for (const std::string& n : only_b) out += fmt::format("Only in B: {}\n", n);
  return out;
}

CompareJson ResultComparison::json() const {
  const auto or_null = [](const std::optional<double>& x) { return x ? CompareJson(*x) : CompareJson(nullptr); };
  CompareJson all = CompareJson::array();
  for (const Case& c : cases) {
    CompareJson rows = CompareJson::array();
    for (const Row& r : c.rows)
      rows.push_back({{"kpi", r.kpi},
                      {"unit", r.unit},
                      {"obs", r.obs},
                      {"a", or_null(r.a)},
                      {"b", or_null(r.b)},
                      {"change", or_null(r.change)}});
    all.push_back({{"test", c.test},
                   {"params", c.params},
                   {"comparable", c.differences.empty()},
                   {"differences", c.differences},
                   {"kpis", std::move(rows)}});
  }
  return {{"a", name_a},      {"b", name_b},     {"notes", notes}, {"cases", std::move(all)},
          {"only_a", only_a}, {"only_b", only_b}};
}

}  // namespace railyard::bench
