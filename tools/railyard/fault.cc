// `railyard fault`: what goes wrong in a lab that is up.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api/message.h"
#include "control/base/json_text.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct FaultOptions {
  std::string lab;
  std::vector<std::string> words;
  std::string name;
  bool json = false;
};

// "on: leaf1:1, loss: 1%" as it is, with or without quotes around it; or on=leaf1:1 loss=1% made into that.
std::string fault_text(const std::vector<std::string>& words) {
  if (words[0].find('=') == std::string::npos) return fmt::format("{}", fmt::join(words, " "));
  std::string text;
  for (const std::string& w : words) {
    const std::size_t equals = w.find('=');
    if (equals == 0 || equals == w.npos)
      throw CLI::ValidationError("FAULT", fmt::format("'{}'; expected key=value, such as on=leaf1:1 loss=1% for=10ms "
                                                      "(quote values with blanks: 'on=leaf1:1 out')",
                                                      w));
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", w.substr(0, equals), w.substr(equals + 1));
  }
  return text;
}

int add(const FaultOptions& o) {
  const std::string text = fault_text(o.words);
  const daemon::LabDir lab = chosen_lab(o.lab);
  json answer;
  try {
    answer = ask(lab, "POST", "/faults", {{"fault", text}});
  } catch (const api::ApiError& error) {
    if (error.status() != 400) throw;
    std::fprintf(stderr, "railyard: %s\n", error.what());
    return kInput;
  }
  if (o.json)
    fmt::print("{}\n", json_text(answer, 2));
  else
    fmt::print("lab {}: fault {} added at {:.6f} s\n", lab.name(), answer["fault"].get<std::string>(),
               answer["effective_seconds"].get<double>());
  return kOk;
}

int rm(const FaultOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  const json answer = ask(lab, "DELETE", "/faults/" + o.name);
  if (o.json)
    fmt::print("{}\n", json_text(answer, 2));
  else
    fmt::print("lab {}: fault {} removed at {:.6f} s{}\n", lab.name(), answer["fault"].get<std::string>(),
               answer["effective_seconds"].get<double>(),
               answer["frames"].is_null()
                   ? ""
                   : fmt::format("; it affected {} frames", answer["frames"].get<std::uint64_t>()));
  return kOk;
}

int ls(const FaultOptions& o) {
  const json answer = ask(chosen_lab(o.lab), "GET", "/faults");
  if (o.json) {
    fmt::print("{}\n", json_text(answer, 2));
    return kOk;
  }
  std::size_t name = 5, where = 2;
  for (const json& f : answer["faults"]) {
    name = std::max(name, f["name"].get_ref<const std::string&>().size());
    where = std::max(where, f["on"].get_ref<const std::string&>().size());
  }
  fmt::print("{:<{}}  {:<14}  {:<{}}  {:<8} {:>7} {:>12}\n", "fault", name, "what", "on", where, "state", "times",
             "frames");
  for (const json& f : answer["faults"])
    fmt::print("{:<{}}  {:<14}  {:<{}}  {:<8} {:>7} {:>12}\n", f["name"].get<std::string>(), name,
               f["what"].get<std::string>(), f["on"].get<std::string>(), where,
               f["removed"].get<bool>()  ? "removed"
               : f["active"].get<bool>() ? "active"
                                         : "resting",
               f["occurrences"].get<std::uint64_t>(),
               f["frames"].is_null() ? "-" : fmt::format("{}", f["frames"].get<std::uint64_t>()));
  return kOk;
}

int log(const FaultOptions& o) {
  const json answer = ask(chosen_lab(o.lab), "GET", "/faults/log");
  for (const json& line : answer["lines"]) fmt::print("{}\n", line.get<std::string>());
  return kOk;
}

}  // namespace

void add_fault(CLI::App* command, int& exit_code) {
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  railyard fault add 'on: leaf1:1, loss: 1%, for: 10s'\n"
      "  railyard fault ls\n"
      "  railyard fault log > faults.jsonl");
  auto o = std::make_shared<FaultOptions>();
  const auto sub = [&](const char* name, const char* description) {
    auto* s = command->add_subcommand(name, description);
    add_lab_option(*s, o->lab);
    s->footer("");
    return s;
  };
  auto* adding = sub("add", "Add a fault, as in `faults` of the fabric file");
  adding->add_option("FAULT", o->words, "\"on: leaf1:1, loss: 1%, for: 10ms\", or on=leaf1:1 loss=1% for=10ms")
      ->required()
      ->type_name("");
  adding->add_flag("--json", o->json, "Print JSON");
  adding->footer(
      "Examples:\n"
      "  railyard fault add 'on: leaf1:1, loss: 1%, for: 10s'\n"
      "  railyard fault add on=spine1 crash=true for=2s\n"
      "  railyard fault add 'name: psn, on: h1 out, match: { bth.opcode: 0x0a, nth: 3 }, drop: true'\n"
      "  railyard fault add 'on: leaf1:3, every: 1s, for: 100ms, down: true'\n"
      "  railyard fault add 'on: h2, after: 5s, for: 1s, every: 10s, probability: 50%, stop-receiving: true'\n"
      "  railyard fault add 'on: leaf1:1, when: queue leaf1:1/3 depth > 200KiB, for: 10ms, count: 3, rate: 1/2'\n"
      "  railyard fault add 'on: h1, when: queue leaf1:1/3 paused > 1ms, for: 1s, down: true'\n"
      "`for`, `every` and `after` are simulated time. `railyard fault ls` and `fault log` show its effects.\n"
      "topologies/explicit.yaml has every key.");
  adding->callback([o, &exit_code] { exit_code = add(*o); });
  auto* removing = sub("rm", "Remove a fault");
  removing->add_option("NAME", o->name, "Name from `railyard fault ls`")->required()->type_name("");
  removing->footer("Example:\n  railyard fault rm f1");
  removing->add_flag("--json", o->json, "Print JSON");
  removing->callback([o, &exit_code] { exit_code = rm(*o); });
  auto* listing = sub("ls", "List faults, including removed ones");
  listing->footer("Example:\n  railyard fault ls --json | jq '.faults[] | select(.active)'");
  listing->add_flag("--json", o->json, "Print JSON");
  listing->callback([o, &exit_code] { exit_code = ls(*o); });
  auto* logging = sub("log", "Print fault events, one JSON line each; for `railyard run --replay`");
  logging->footer("Example:\n  railyard fault log > faults.jsonl");
  logging->callback([o, &exit_code] { exit_code = log(*o); });
}

}  // namespace railyard::tools
