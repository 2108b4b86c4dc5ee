// railyard series: a time series of all queues of a lab that is up.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {

namespace {

using nlohmann::json;

struct SeriesOptions {
  std::string lab;
  std::string file;
  std::string every = "100us";
  std::string lasts;
};

volatile std::sig_atomic_t series_interrupted = 0;

int series(const SeriesOptions& o) {
  Duration left{};
  if (!o.lasts.empty()) {
    const auto parsed = spec::parse_duration(o.lasts);
    if (!parsed || *parsed <= Duration{})
      throw CLI::ValidationError("--for",
                                 fmt::format("'{}': {}", o.lasts, parsed ? "expected a time above 0" : parsed.error()));
    left = *parsed;
  }
  const daemon::LabDir lab = chosen_lab(o.lab);
  std::signal(SIGINT, [](int) { series_interrupted = 1; });
  std::signal(SIGTERM, [](int) { series_interrupted = 1; });
  const std::string file = std::filesystem::absolute(o.file).string();
  ask(lab, "POST", "/series", {{"file", file}, {"every", o.every}});
  fmt::print(stderr, "railyard: all queues every {} to {}; Ctrl-C ends it\n", o.every, o.file);
  constexpr Duration kStep{50'000'000'000};
  while (series_interrupted == 0 && (o.lasts.empty() || left > Duration{})) {
    const Duration step = o.lasts.empty() ? kStep : std::min(kStep, left);
    ::usleep(static_cast<useconds_t>(step.ps / 1'000'000));
    left -= step;
    if (!lab.running()) throw std::runtime_error(fmt::format("lab '{}' went down meanwhile", lab.name()));
  }
  const json done = ask(lab, "DELETE", "/series");
  fmt::print(stderr, "railyard: {}: {} lines of {} looks\n", o.file, done["lines"].get<std::uint64_t>(),
             done["looks"].get<std::uint64_t>());
  return kOk;
}

}  // namespace

void add_series(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("series", "Write a time series of all queues of a lab that is up to a CSV file");
  auto o = std::make_shared<SeriesOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("FILE", o->file, "CSV file")->required();
  command->add_option("--every", o->every, "How often, in modelled time; 100us if not said")->type_name("TIME");
  command->add_option("--for", o->lasts, "How long; until Ctrl-C if not said")->type_name("TIME");
  command->footer(
      "One line for each class of each port that holds frames, or has counted something since the look before.\n"
      "Columns: time_ns, port, class, depth_bytes, held_cells, and of the time since the look before tx_bytes,\n"
      "ecn_marked, paused_ns, xoff_sent, dropped.\n"
      "Example: railyard series queues.csv --every 50us --for 2s");
  command->callback([o, &exit_code] { exit_code = series(*o); });
}

}  // namespace railyard::tools
