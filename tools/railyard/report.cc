// railyard report: what a lab that is up has counted so far, as files.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/front/site_record.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

// The names come from the daemon, perhaps of another machine.
void write_files(const nlohmann::json& files, const std::filesystem::path& dir) {
  for (const char* name : {"report.json", "report.txt", "report.html", "lab.yaml", "applications.json"})
    if (files.contains(name)) write_file(dir / name, files[name].get<std::string>());
}

int report(const std::string& lab, const std::string& dir) {
  const daemon::LabDir chosen = chosen_lab(lab);
  const nlohmann::json files = ask(chosen, "GET", "/report", nullptr, std::chrono::seconds(60));
  make_directory(dir, "");
  // Of a lab over several sites each has a report of its own, in a directory with its name.
  const auto record = front::read_record(chosen);
  if (!record) {
    write_files(files, dir);
    return kOk;
  }
  for (const front::RecordedSite& site : record->sites) {
    if (!files.at("sites").contains(site.name)) {
      fmt::print(stderr, "railyard: site {} is away; it has no report\n", site.name);
      continue;
    }
    const std::filesystem::path there = std::filesystem::path(dir) / site.name;
    make_directory(there.string(), "");
    write_files(files["sites"][site.name], there);
  }
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
      "instant.\nThe lab keeps running. Of a lab over several sites each has a directory of its own.\n"
      "Example: railyard report out && railyard compare out other");
  command->callback([=, &exit_code] { exit_code = report(*lab, *dir); });
}

}  // namespace railyard::tools
