// railyard series: a time series of all queues of a lab that is up.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"
#include "tools/railyard/until.h"

namespace railyard::tools {

namespace {

using nlohmann::json;

struct SeriesOptions {
  std::string lab;
  std::string file;
  std::string every = "100us";
  std::string lasts;
};

int series(const SeriesOptions& o) {
  const std::optional<Duration> lasts = parse_for(o.lasts);
  const std::string file = daemon_path(o.file, "FILE");
  const daemon::LabDir lab = chosen_lab(o.lab);
  end_on_signal();
  ask(lab, "POST", "/series", {{"file", file}, {"every", o.every}});
  fmt::print(stderr, "railyard: sampling all queues every {} to {}; Ctrl-C ends it\n", o.every, o.file);
  wait(lab, lasts, [&] { return ask(lab, "GET", "/series")["running"].get<bool>(); });
  const json done = ask(lab, "DELETE", "/series");
  fmt::print(stderr, "railyard: {}: {} lines, {} samples\n", o.file, done["lines"].get<std::uint64_t>(),
             done["looks"].get<std::uint64_t>());
  if (done.contains("error")) throw std::runtime_error(done["error"].get<std::string>());
  return kOk;
}

}  // namespace

void add_series(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<SeriesOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("FILE", o->file, "CSV file")->required();
  command->add_option("--every", o->every, "Sampling interval, simulated time (default 100us)")->type_name("TIME");
  add_for_option(*command, o->lasts);
  command->footer(
      "One line per class of a port that holds frames or has counted any since the last sample. Columns: time_ns, "
      "port,\nclass, depth_bytes, held_cells, and since the last sample tx_bytes, ecn_marked, paused_ns, xoff_sent, "
      "dropped.\n"
      "A FIFO needs a reader. The lab does not wait for it: a reader that is too slow ends the recording.\n"
      "Example: railyard series queues.csv --every 50us --for 2s");
  command->callback([o, &exit_code] { exit_code = series(*o); });
}

}  // namespace railyard::tools
