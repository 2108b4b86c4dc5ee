// `railyard probes`: the rounds of probes of a live lab, and which pairs are slow.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/report/units.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct ProbesOptions {
  std::string lab;
  std::size_t last = 1;
  bool json = false;
};

std::string rate_or_dash(const json& bps) { return bps.is_number() ? report::rate_text(bps.get<double>()) : "-"; }

struct PairRow {
  std::string pair;
  std::string now{}, median{}, change{}, latency{};
  std::uint64_t lost = 0;
  double share = 1;  // of its median
};

std::vector<PairRow> pair_rows(const json& all) {
  std::vector<PairRow> rows;
  if (all["rounds"].empty()) return rows;
  for (const json& p : all["rounds"].back()["pairs"]) {
    PairRow r{.pair = fmt::format("{} -> {}", p["from"].get<std::string>(), p["to"].get<std::string>()),
              .now = rate_or_dash(p["bps"]),
              .latency = p["p50_ns"].is_number() ? report::nanoseconds_text(p["p50_ns"].get<std::uint64_t>()) : "-",
              .lost = p["lost"]};
    for (const json& of : all["pairs"])
      if (of["from"] == p["from"] && of["to"] == p["to"]) {
        r.median = rate_or_dash(of["median_bps"]);
        if (of["median_bps"].is_number()) {
          r.share = (p["bps"].is_number() ? p["bps"].get<double>() : 0) / of["median_bps"].get<double>();
          r.change = fmt::format("{:+.1f} %", 100 * (r.share - 1));
        }
        break;
      }
    rows.push_back(std::move(r));
  }
  std::ranges::stable_sort(rows, {}, &PairRow::share);
  return rows;
}

int probes(const ProbesOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  const json all = ask(lab, "GET", fmt::format("/probes?last={}", o.json ? o.last : 1));
  if (o.json) {
    std::puts(json_text(all, 2).c_str());
    return kOk;
  }
  fmt::print("lab '{}': probes of {} pairs every {:g} s, {} rounds so far, {} kept, {} skipped\n", lab.name(),
             all["pairs"].size(), all["every_seconds"].get<double>(), all["count"].get<std::uint64_t>(),
             all["kept"].get<std::uint64_t>(), all["skipped"].get<std::uint64_t>());
  if (all["rounds"].empty()) {
    fmt::print("no round is complete yet\n");
    return kOk;
  }
  const json& last = all["rounds"].back();
  fmt::print("round {} at {:.3f} s; {} pairs more than {:g} % below the median of their history\n\n",
             last["round"].get<std::uint64_t>(), last["at_seconds"].get<double>(), last["slow"].size(),
             100 * all["below"].get<double>());
  fmt::print("{:<24} {:>12} {:>12} {:>9} {:>12} {:>6}\n", "pair", "rate", "median", "change", "latency p50", "lost");
  constexpr std::size_t kMostRows = 20;
  const std::vector<PairRow> rows = pair_rows(all);
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i)
    fmt::print("{:<24} {:>12} {:>12} {:>9} {:>12} {:>6}\n", rows[i].pair, rows[i].now, rows[i].median, rows[i].change,
               rows[i].latency, rows[i].lost);
  if (rows.size() > kMostRows) fmt::print("and {} more pairs (--json)\n", rows.size() - kMostRows);
  return kOk;
}

}  // namespace

void add_probes(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ProbesOptions>();
  command->add_option("LAB,-l,--lab", o->lab, "Name of the live lab; required if several are running")
      ->type_name("NAME")
      ->envname(kLabVariable);
  command->add_option("--last", o->last, "With --json: how many of the last rounds")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "The lab's file asks for probes: `probe: { every: 10m }`. The slowest pairs against their history come first.\n"
      "Example: railyard probes --json --last 100");
  command->callback([o, &exit_code] { exit_code = probes(*o); });
}

}  // namespace railyard::tools
