// railyard int: in-band telemetry of a lab that is up.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"
#include "tools/railyard/until.h"

namespace railyard::tools {

namespace {

using nlohmann::json;

struct IntOptions {
  std::string lab;
  std::string file;
  std::string one_in;
  std::vector<std::string> classes;
  std::vector<std::string> flows;
  std::string lasts;
  bool end = false;
  bool as_json = false;
};

// As run.int says it.
std::string int_wanted(const IntOptions& o) {
  std::string text = "{";
  if (!o.one_in.empty()) text += fmt::format(" one-in: {},", o.one_in);
  if (!o.classes.empty()) text += fmt::format(" classes: [{}],", fmt::join(o.classes, ", "));
  if (!o.flows.empty()) text += fmt::format(" flows: {},", json_text(json(o.flows)));
  return text + " }";
}

void print_int(const IntOptions& o, const json& answer) {
  if (!answer.contains("int")) throw std::runtime_error("this lab has not recorded in-band telemetry");
  if (o.as_json)
    fmt::print("{}\n", json_text(answer["int"], 2));
  else
    fmt::print("{}", answer["text"].get<std::string>());
}

// The sums are good even if the file of records could not be written to its end.
int end_int(const IntOptions& o, const daemon::LabDir& lab) {
  const json done = ask(lab, "DELETE", "/int");
  print_int(o, done);
  if (done.contains("error")) throw std::runtime_error(done["error"].get<std::string>());
  return kOk;
}

int in_band(const IntOptions& o) {
  const std::optional<Duration> lasts = parse_for(o.lasts);
  const std::string file = o.file.empty() ? "" : daemon_path(o.file, "FILE");
  const daemon::LabDir lab = chosen_lab(o.lab);
  if (o.end) return end_int(o, lab);
  if (o.file.empty() && o.lasts.empty() && o.one_in.empty() && o.classes.empty() && o.flows.empty())
    return print_int(o, ask(lab, "GET", "/int")), kOk;
  end_on_signal();
  json request{{"what", int_wanted(o)}};
  if (!file.empty()) request["file"] = file;
  ask(lab, "POST", "/int", request);
  fmt::print(stderr, "railyard: following sampled packets{}{}; Ctrl-C ends it\n", o.file.empty() ? "" : " to ", o.file);
  wait(lab, lasts, [&] { return !ask(lab, "GET", "/int").contains("error"); });
  return end_int(o, lab);
}

}  // namespace

void add_int(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<IntOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("FILE", o->file, "Output file: one JSON line per hop");
  command->add_option("--one-in", o->one_in, "Sample one packet in N (default 1000)")->type_name("N");
  command->add_option("--class", o->classes, "Sample only this class at the sending NIC; repeat for more")
      ->type_name("CLASS");
  command->add_option("--flow", o->flows, "Sample only this flow or traffic of the generator; repeat for more")
      ->type_name("NAME");
  add_for_option(*command, o->lasts);
  command->add_flag("--end", o->end, "End the recording and print its summary");
  command->add_flag("--json", o->as_json, "Print the summary as JSON");
  command->footer(
      "Without a file or an option, print the present recording (run.int of the lab).\n"
      "A FIFO needs a reader. The lab does not wait for it: a reader that is too slow ends the records.\n"
      "Example: railyard int hops.jsonl --one-in 100 --class 3 --for 2s");
  command->callback([o, &exit_code] { exit_code = in_band(*o); });
}

}  // namespace railyard::tools
