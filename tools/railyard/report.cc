// railyard report: what a lab that is up has counted so far, as files.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

int report(const std::string& lab, const std::string& dir) {
  const nlohmann::json files = ask(chosen_lab(lab), "GET", "/report");
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw std::runtime_error(fmt::format("cannot create {}: {}", dir, error.message()));
  for (const auto& [name, content] : files.items()) {
    const std::filesystem::path path = std::filesystem::path(dir) / name;
    std::ofstream file(path, std::ios::binary);
    file << content.get<std::string>();
    if (!file.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path.string()));
  }
  return kOk;
}

}  // namespace

void add_report(CLI::App* command, int& exit_code) {
  auto lab = std::make_shared<std::string>();
  auto dir = std::make_shared<std::string>();
  add_lab_option(*command, *lab);
  command->add_option("DIR", *dir, "Gets report.html, report.json, report.txt and lab.yaml (the expanded lab)")
      ->required();
  command->footer(
      "Flows, collectives, those of agents with their devices' counters, links, books, and how late the lab is: at "
      "one\n"
      "instant; the lab goes on.\n"
      "Example: railyard report out && railyard compare out other");
  command->callback([=, &exit_code] { exit_code = report(*lab, *dir); });
}

}  // namespace railyard::tools
