#include "control/front/site_record.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/spec/suggest.h"

namespace railyard::front {

using nlohmann::json;

namespace {

std::filesystem::path file_of(const daemon::LabDir& lab) { return lab.path() / "sites.json"; }

}  // namespace

const RecordedSite* SiteRecord::find(const std::string& site) const noexcept {
  const auto found = std::ranges::find(sites, site, &RecordedSite::name);
  return found == sites.end() ? nullptr : &*found;
}

const RecordedSite& SiteRecord::site_with(const std::string& node) const {
  const std::string name = node.substr(0, node.find_first_of(":/ "));
  const auto found = site_of.find(name);
  if (found != site_of.end())
    if (const RecordedSite* site = find(found->second)) return *site;
  std::vector<std::string> known;
  for (const auto& [n, site] : site_of) known.push_back(n);
  throw std::invalid_argument(fmt::format("there is no node '{}'{}", name, spec::did_you_mean(name, known)));
}

void write_record(const daemon::LabDir& lab, const SiteRecord& record) {
  json sites = json::array();
  for (const RecordedSite& s : record.sites) sites.push_back({{"name", s.name}, {"target", s.target}, {"lab", s.lab}});
  std::ofstream out(file_of(lab));
  out << json{{"shell", record.shell.prefix}, {"program", record.shell.program}, {"sites", sites}, {"nodes", record.site_of}}.dump();
  out.flush();
  if (!out) throw std::runtime_error(fmt::format("cannot write {}", file_of(lab).string()));
}

std::optional<SiteRecord> read_record(const daemon::LabDir& lab) {
  std::ifstream in(file_of(lab));
  if (!in) return std::nullopt;
  const json said = json::parse(in, nullptr, false);
  if (!said.is_object()) return std::nullopt;
  SiteRecord record;
  record.shell = {said.value("shell", record.shell.prefix), said.value("program", record.shell.program)};
  for (const json& s : said.value("sites", json::array()))
    record.sites.push_back({s.value("name", ""), s.value("target", ""), s.value("lab", "")});
  record.site_of = said.value("nodes", std::map<std::string, std::string>());
  return record;
}

}  // namespace railyard::front
