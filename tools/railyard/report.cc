// railyard report: what a lab that is up has counted so far, as files.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

int report(const std::string& lab, const std::string& dir) {
  const nlohmann::json files = ask(chosen_lab(lab), "GET", "/report");
  make_directory(dir, "");
  for (const auto& [name, content] : files.items())
    write_file(std::filesystem::path(dir) / name, content.get<std::string>());
  return kOk;
}

}  // namespace

void add_report(CLI::App* command, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  auto dir = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command
      ->add_option("DIR", *dir, "Output directory: report.html, report.json, report.txt, lab.yaml (the expanded lab)")
      ->required();
  command->footer(
      "Flows, collectives (agents' with their devices' counters), links, packet accounting and lateness at one "
      "instant.\nThe lab keeps running.\n"
      "Example: railyard report out && railyard compare out other");
  command->callback([=, &exit_code] { exit_code = report(*lab, *dir); });
}

}  // namespace railyard::tools
