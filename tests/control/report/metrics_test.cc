// The registry: every figure that a report has is in it, and docs/metrics.md is what it says.
#include "control/report/metrics/metric.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/report/compare.h"
#include "control/report/metrics/field_path.h"
#include "control/report/report.h"
#include "control/spec/load.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/control/report/sample.h"

namespace railyard::report {
namespace {

using namespace literals;

using AnyJson = nlohmann::ordered_json;

// A lab with something of everything that is quickly had.
AnyJson report_of_a_run() {
  build::BuiltLab lab(
      spec::parse("name: x\n"
                  "topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }\n"
                  "qos: { default: { classes: { 3: { lossless: false, queue-limit: 200KB, ecn: { kmin: 20KB, kmax: "
                  "100KB } } } } }\n"
                  "traffic:\n"
                  "  - { name: g, pattern: incast, from: [h2, h3, h5], to: h1, rate: 60Gbps, stop: 300us }\n"
                  "  - { name: r, from: [h2, h3], to: [h5, h6], transport: roce, bytes: 1MB }\n"
                  "  - { name: u, from: h6, to: h2, transport: uet, bytes: 1MB, operation: read }\n"
                  "collectives: [ { name: c, collective: all-reduce, ranks: [h1, h5, h2, h6], size: 100KB } ]\n"
                  "run: { duration: 1ms }\n",
                  "x.yaml"));
  Engine engine(lab.fabric(), {});
  engine.wake_all();
  run_virtual(engine, Instant{} + 5_ms);
  engine.settle(Instant{} + 5_ms);
  return AnyJson::parse(collect(lab, {}).json());
}

const FieldList* list_of(std::string_view path) {
  const auto lists = report_fields();
  const auto at = std::ranges::find(lists, path, &FieldList::path);
  return at == lists.end() ? nullptr : &*at;
}

bool is_documented(const FieldList& list, const std::string& field) {
  return std::ranges::any_of(list.fields, [&](const Field& f) {
    return f.name == field || f.name == "*" || f.name == field + ".*" || f.name == field + "[].*";
  });
}

// Every object of `value` is a list of fields of its own, or its keys are fields of the list that it is in.
void check_all(const AnyJson& value, const std::string& path) {
  const FieldList* list = list_of(path);
  ASSERT_NE(list, nullptr) << path << " is not in report_fields()";
  for (const auto& [key, child] : value.items()) {
    const std::string below = path + "." + key + (child.is_array() ? "[]" : "");
    if (list_of(below) == nullptr) {
      EXPECT_TRUE(is_documented(*list, key)) << path << "." << key;
      continue;
    }
    if (child.is_object()) check_all(child, below);
    if (child.is_array())
      for (const AnyJson& element : child) check_all(element, below);
  }
}

TEST(Metrics, EveryFieldOfAReportIsInTheRegistry) {
  for (const AnyJson& report : {report_of_a_run(), AnyJson::parse(sample().json())})
    for (const auto& [key, value] : report.items()) {
      if (key == "summary" || key == "trace_digest") continue;
      if (value.is_object()) check_all(value, key);
      if (value.is_array())
        for (const AnyJson& element : value) check_all(element, key + "[]");
    }
}

// Every number that a report has is one that a condition may name.
void check_pointers(const AnyJson& value, const std::string& pointer) {
  if (value.is_number()) EXPECT_EQ(problem_of_pointer(pointer), "");
  const auto escaped = [](const std::string& key) {
    std::string text;
    for (const char c : key) text += c == '/' ? "~1" : c == '~' ? "~0" : std::string(1, c);
    return text;
  };
  if (value.is_object())
    for (const auto& [key, child] : value.items()) check_pointers(child, pointer + "/" + escaped(key));
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) check_pointers(value[i], fmt::format("{}/{}", pointer, i));
}

TEST(Metrics, EveryNumberOfAReportHasAPointer) {
  for (const AnyJson& report : {report_of_a_run(), AnyJson::parse(sample().json())}) check_pointers(report, "");
}

TEST(Metrics, EveryFigureOfASummaryIsInTheRegistryOnce) {
  std::set<std::string_view> names;
  for (const Metric& m : run_metrics()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " is there twice";
    EXPECT_FALSE(m.help.empty() || m.over.empty() || m.source.empty()) << m.name;
    EXPECT_EQ(find_metric(m.name), &m);
  }
  for (const auto& [name, value] : report_of_a_run()["summary"].items()) EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(find_metric("none"), nullptr);
}

// Shares of a report: whatever happens, 0..1.
void check_shares(const AnyJson& value, const std::string& where) {
  if (value.is_number()) {
    EXPECT_GE(value.get<double>(), 0) << where;
    EXPECT_LE(value.get<double>(), 1) << where;
  }
  if (value.is_object())
    for (const auto& [key, child] : value.items())
      if (key != "count") check_shares(child, where + "." + key);
}

TEST(Metrics, SharesAreShares) {
  const AnyJson report = report_of_a_run();
  std::size_t shares = 0;
  for (const FieldList& list : report_fields()) {
    const std::string head(list.path.substr(0, list.path.find("[]")));
    if (list.path != head + "[]" || !report.contains(head)) continue;
    for (const Field& f : list.fields) {
      if (f.unit != "0..1") continue;
      const std::string name(f.name.substr(0, f.name.find(".*")));
      for (const AnyJson& element : report[head])
        if (element.contains(name)) ++shares, check_shares(element[name], head + "." + name);
    }
  }
  EXPECT_GT(shares, 20u);
  for (const Metric& m : run_metrics())
    if (m.unit == Unit::kShare && report["summary"].contains(std::string(m.name)))
      check_shares(report["summary"][std::string(m.name)], std::string(m.name));
}

TEST(Metrics, FiguresAreFoundByTheirDocumentedNames) {
  const AnyJson r = AnyJson::parse(sample().json());
  EXPECT_EQ(figure_of(r, "fct_p99"), 676'000);
  EXPECT_EQ(figure_of(r, "traffic.in.fct_ns.p50"), 676'000);
  EXPECT_EQ(figure_of(r, "flows.in/h2->h1.marked"), 250);
  EXPECT_EQ(figure_of(r, "flows.in/h2->h1.ce_share"), 0.25);
  EXPECT_EQ(figure_of(r, "ports.leaf1:1.utilisation"), 0.987);
  EXPECT_EQ(figure_of(r, "engine.windows"), 500);
  EXPECT_EQ(figure_of(r, "audit.balanced"), 1);
  for (const char* none : {"flows.in/h9->h1.marked", "flows.in/h2->h1.none", "flows.in/h3->h1.fct_ns", "engine.",
                           "engine.none", ".", "nothing.at.all", "run.name"})
    EXPECT_FALSE(figure_of(r, none)) << none;
}

TEST(Metrics, ThePageIsUpToDate) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/docs/metrics.md");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), metrics_page()) << "docs/metrics.md is older than the registry; write it anew by\n"
                                           "  cmake --build BUILD --target metrics-page";
}

}  // namespace
}  // namespace railyard::report
