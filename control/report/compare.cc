#include "control/report/compare.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/base/read_file.h"
#include "control/spec/input_error.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"

namespace railyard::report {

using ReportJson = nlohmann::ordered_json;

namespace {

std::string text_at(const ReportJson& report, const char* pointer) {
  const ReportJson::json_pointer at(pointer);
  if (!report.contains(at)) return "-";
  const ReportJson& value = report.at(at);
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

// What a run is: two runs that differ in one of these are not the same experiment with one thing changed, unless that
// is the thing.
struct Condition {
  const char* what;
  const char* pointer;
  bool incomparable;
};
constexpr Condition kConditions[] = {{"lab", "/run/name", true},
                                     {"spec", "/run/lab_digest", true},
                                     {"seed", "/run/seed", true},
                                     {"clock", "/run/clock", true},
                                     {"scale", "/run/scale", true},
                                     {"payload", "/run/payload", true},
                                     {"version", "/run/version", true},
                                     {"hosts", "/lab/hosts", true},
                                     {"switches", "/lab/switches", true},
                                     {"links", "/lab/links", true},
                                     {"attached NICs", "/lab/attached_nics", true},
                                     {"flows over RoCE", "/lab/roce_flows", true},
                                     {"flows over UET", "/lab/uet_flows", true},
                                     {"generator flows", "/lab/generator_flows", true},
                                     {"latency budget (ns)", "/budgets/scale_out_ns", false},
                                     {"scale-up budget (ns)", "/budgets/scale_up_ns", false},
                                     {"budgeted percentile", "/budgets/percentile", false},
                                     {"workers", "/run/workers", false},
                                     {"file", "/run/spec", false}};

}  // namespace

std::optional<double> Comparison::Row::change() const {
  if (!a || !b) return std::nullopt;
  if (*a == *b) return 0;
  if (*a == 0) return std::nullopt;
  return (*b - *a) / std::abs(*a);
}

std::optional<bool> Comparison::Row::better() const {
  if (!a || !b || kind.better == Better::kNeither) return std::nullopt;
  if (is_alike(*a, *b)) return std::nullopt;
  const bool is_b = (*b > *a) == (kind.better == Better::kHigher);
  if (!(is_b ? b_may_win : a_may_win)) return std::nullopt;
  return is_b;
}

bool Comparison::comparable() const { return std::ranges::none_of(differences, &Difference::incomparable); }

ReportJson read_report(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "report.json" : path;
  const auto text = read_whole_file(file);
  if (!text)
    throw InputError(
        fmt::format("{}: cannot be read: {}; expected a report.json, or a directory written by `railyard run --report`",
                    file.string(), text.error()));
  ReportJson report;
  if (is_nested_too_deeply(*text) || (report = ReportJson::parse(*text, nullptr, false)).is_discarded())
    throw InputError(fmt::format("{}: not valid JSON; expected a complete report.json", file.string()));
  if (!report.is_object() || !report.contains("run") || !report["run"].is_object() || !report.contains("flows"))
    throw InputError(fmt::format(
        "{}: JSON, but not a report; expected a file written by `railyard run --report` or --json", file.string()));
  if (!report.contains("summary") || !report["summary"].is_object())
    throw InputError(fmt::format("{}: no 'summary': written by an old version; run the lab again", file.string()));
  return report;
}

namespace {

// The label of a list's element; empty: it has none.
std::string label_of(const ReportJson& element) {
  if (!element.is_object()) return {};
  for (const char* key : {"name", "nic"})
    if (const auto at = element.find(key); at != element.end() && at->is_string()) return at->get<std::string>();
  if (element.contains("node") && element.contains("port"))
    return fmt::format("{}:{}", element["node"].get<std::string>(), element["port"].dump());
  return {};
}

// "a.b.c" below `value`; names of elements may have dots of their own.
const ReportJson* below(const ReportJson& value, std::string_view path) {
  if (path.empty()) return &value;
  if (value.is_object()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto at = value.find(std::string(path.substr(0, dot)));
    if (at == value.end()) return nullptr;
    return below(*at, dot == path.size() ? std::string_view() : path.substr(dot + 1));
  }
  if (!value.is_array()) return nullptr;
  for (const ReportJson& element : value) {
    const std::string label = label_of(element);
    if (label.empty() || !path.starts_with(label + ".")) continue;
    if (const ReportJson* found = below(element, path.substr(label.size() + 1))) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<double> figure_of(const ReportJson& report, const std::string& name) {
  const ReportJson* value = nullptr;
  if (name.starts_with("/")) {
    try {
      const ReportJson::json_pointer at(name);
      if (report.contains(at)) value = &report.at(at);
    } catch (const ReportJson::exception&) {
      return std::nullopt;
    }
  } else if (const auto summary = report.find("summary"); summary != report.end() && summary->contains(name)) {
    value = &(*summary)[name];
  } else if (name.contains('.')) {
    value = below(report, name);
  }
  if (value == nullptr || !(value->is_number() || value->is_boolean())) return std::nullopt;
  return value->is_boolean() ? (value->get<bool>() ? 1.0 : 0.0) : value->get<double>();
}

Comparison compare(const ReportJson& a, const ReportJson& b, std::string name_a, std::string name_b) {
  Comparison c;
  c.name_a = std::move(name_a);
  c.name_b = std::move(name_b);
  for (const Condition& condition : kConditions) {
    std::string in_a = text_at(a, condition.pointer);
    std::string in_b = text_at(b, condition.pointer);
    if (in_a != in_b)
      c.differences.push_back({condition.what, std::move(in_a), std::move(in_b), condition.incomparable});
  }
  const std::string digest = text_at(a, "/run/lab_digest");
  c.same_lab = !digest.empty() && digest != "-" && digest == text_at(b, "/run/lab_digest");
  std::vector<std::string> names;
  for (const ReportJson* report : {&a, &b})
    for (const auto& [name, value] : (*report)["summary"].items())
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  c.delivery_a.add(a);
  c.delivery_b.add(b);
  const std::vector<bool> less = delivered_less({c.delivery_a, c.delivery_b});
  for (const std::string& name : names) {
    c.rows.push_back({name, figure_of(a, name), figure_of(b, name), kind_of(name), !less[0], !less[1]});
  }
  return c;
}

std::expected<spec::Lab, std::string> lab_of(const std::filesystem::path& path, const ReportJson& report) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path file = (is_folder ? path : path.parent_path()) / "lab.yaml";
  const auto unknown = [&](const std::string& why) {
    return std::unexpected(fmt::format("{}: {}", path.string(), why));
  };
  if (!std::filesystem::exists(file, ignored)) return unknown("no lab.yaml in its directory");
  const std::string digest = text_at(report, "/run/lab_digest");
  if (digest.empty() || digest == "-") return unknown("it does not say which lab it is of");
  try {
    spec::Lab lab = spec::load(file);
    if (spec::lab_digest(lab) == digest) return lab;
    // `run --int` follows packets of a lab that does not ask for it.
    spec::Lab without_int = lab;
    without_int.run.in_band.reset();
    if (spec::lab_digest(without_int) == digest) return lab;
    return unknown("lab.yaml in its directory is of another lab");
  } catch (const std::exception& error) {
    return unknown(fmt::format("lab.yaml in its directory cannot be read: {}", error.what()));
  }
}

void compare_labs(Comparison& comparison, const std::expected<spec::Lab, std::string>& a,
                  const std::expected<spec::Lab, std::string>& b) {
  if (a && b) {
    comparison.settings = spec::differences(*a, *b);
    return;
  }
  if (comparison.same_lab) return;
  for (const auto* lab : {&a, &b})
    if (!*lab) comparison.unknown_labs.push_back(lab->error());
}

std::vector<Comparison::Difference> Comparison::shown_differences() const {
  std::vector<Difference> shown;
  for (const Difference& d : differences)
    if (!settings || d.what != "spec") shown.push_back(d);
  return shown;
}

std::vector<std::string> Comparison::less_lines() const {
  std::vector<std::string> lines;
  const std::vector<bool> less = delivered_less({delivery_a, delivery_b});
  for (const bool b : {false, true})
    if (less[b])
      lines.push_back(fmt::format("{} delivered less ({}; {}: {}): it is never called better.", b ? "b" : "a",
                                  (b ? delivery_b : delivery_a).text(), b ? "a" : "b",
                                  (b ? delivery_a : delivery_b).text()));
  return lines;
}

ReportJson Comparison::json() const {
  ReportJson j = {{"a", name_a}, {"b", name_b}, {"comparable", comparable()}};
  j["differences"] = ReportJson::array();
  for (const Difference& d : differences)
    j["differences"].push_back({{"what", d.what}, {"a", d.a}, {"b", d.b}, {"incomparable", d.incomparable}});
  j["settings"] = nullptr;
  if (!unknown_labs.empty()) j["unknown_labs"] = unknown_labs;
  if (settings) {
    j["settings"] = ReportJson::array();
    for (const spec::Difference& d : *settings) j["settings"].push_back({{"path", d.path}, {"a", d.from}, {"b", d.to}});
  }
  j["figures"] = ReportJson::array();
  const auto number = [](const std::optional<double>& v) { return v ? ReportJson(*v) : ReportJson(nullptr); };
  for (const Row& r : rows) {
    const auto better = r.better();
    j["figures"].push_back({{"name", r.name},
                            {"a", number(r.a)},
                            {"b", number(r.b)},
                            {"change", number(r.change())},
                            {"better", better ? ReportJson(*better ? "b" : "a") : ReportJson(nullptr)}});
  }
  return j;
}

namespace {

// A table; values that are too long for one, as lists of hosts are, stand below their key.
std::string settings_text(const std::vector<spec::Difference>& settings) {
  constexpr std::size_t kLongest = 48;
  const auto is_long = [](const spec::Difference& d) { return d.from.size() > kLongest || d.to.size() > kLongest; };
  std::size_t path = 7, from = 1;
  for (const spec::Difference& d : settings) {
    if (is_long(d)) continue;
    path = std::max(path, d.path.size());
    from = std::max(from, d.from.size());
  }
  std::string out = fmt::format("  {:<{}}  {:<{}}  b\n", "setting", path, "a", from);
  for (const spec::Difference& d : settings)
    out += is_long(d) ? fmt::format("  {}\n    a: {}\n    b: {}\n", d.path, d.from, d.to)
                      : fmt::format("  {:<{}}  {:<{}}  {}\n", d.path, path, d.from, from, d.to);
  return out;
}

}  // namespace

std::string Comparison::text() const {
  std::string out = fmt::format("a: {}\nb: {}\n\n", name_a, name_b);
  if (settings && !settings->empty()) out += "Settings that differ\n" + settings_text(*settings) + "\n";
  if (!unknown_labs.empty()) out += "Settings that differ: unknown\n";
  for (const std::string& why : unknown_labs) out += "  " + why + "\n";
  if (!unknown_labs.empty()) out += "\n";
  if (differences.empty()) {
    out += "Same lab, seed, clock and version.\n";
  } else if (const std::vector<Difference> shown = shown_differences(); !shown.empty()) {
    out += comparable() ? "Comparable; minor differences\n"
                        : "NOT THE SAME EXPERIMENT: these conditions differ\n";
    for (const Difference& d : shown)
      out += fmt::format("  {:<24} {} | {}{}\n", d.what, d.a, d.b, d.incomparable ? "" : "   (minor)");
  }
  out += fmt::format("\n{:<18} {:>14} {:>14} {:>10}   {}\n", "figure", "a", "b", "change", "better");
  for (const Row& r : rows) {
    const auto cell = [&](const std::optional<double>& v) { return v ? figure_text(*v, r.kind.unit) : "-"; };
    const auto change = r.change();
    const auto better = r.better();
    std::string line = fmt::format("{:<18} {:>14} {:>14} {:>10}   {}", r.name, cell(r.a), cell(r.b),
                       change ? (*change == 0 ? "=" : change_text(*change)) : "-",
                       !better   ? ""
                       : *better ? "b"
                                 : "a");
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  for (const std::string& line : less_lines()) out += "\n" + line + "\n";
  return out;
}

}  // namespace railyard::report
