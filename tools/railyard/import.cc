// `railyard import`: a topology or a switch's configuration, written for another program, as a fabric file.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/export/from_containerlab.h"
#include "control/import/from_lldp.h"
#include "control/import/from_sonic.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/result_file.h"

namespace railyard::tools {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::vector<std::string> switches;
  std::string lookup;
  std::string output;
  bool qos_only = false;
};

std::string import_lldp(const ImportOptions& o, const std::string& first) {
  std::vector<importing::LldpOutput> outputs;
  for (const std::string& file : o.files)
    outputs.push_back({importing::node_of_file(file), file, outputs.empty() ? first : spec::read_file(file)});
  return importing::from_lldp(outputs);
}

void refuse(bool given, const char* option, const char* format) {
  if (given)
    throw CLI::ValidationError(option,
                               fmt::format("found with a file of {}; expected config_db.json of SONiC", format));
}

// The format follows from the content of the first file.
std::string import_files(const ImportOptions& o) {
  const std::string& file = o.files.front();
  const std::string text = spec::read_file(file);
  const bool lldp = importing::is_lldp(text);
  if (!lldp && o.files.size() > 1)
    throw CLI::ValidationError("FILE", fmt::format("found {} files; expected one, or several of LLDP", o.files.size()));
  if (!lldp && importing::is_config_db(text, file)) {
    if (!o.switches.empty())
      throw CLI::ValidationError("--switch", "found with SONiC's config_db.json; expected a file of containerlab");
    std::optional<importing::PgProfileLookup> lookup;
    if (!o.lookup.empty()) lookup.emplace(spec::read_file(o.lookup), o.lookup);
    return importing::from_sonic(text, file, lookup.value_or(importing::PgProfileLookup()), o.qos_only);
  }
  refuse(!o.lookup.empty(), "--lookup", lldp ? "LLDP" : "containerlab");
  refuse(o.qos_only, "--qos-only", lldp ? "LLDP" : "containerlab");
  if (!lldp) return exporting::from_containerlab(text, file, o.switches);
  if (!o.switches.empty())
    throw CLI::ValidationError("--switch", "found with a file of LLDP; expected a file of containerlab");
  return import_lldp(o, text);
}

}  // namespace

void add_import(CLI::App* command, int&) {
  auto o = std::make_shared<ImportOptions>();
  command
      ->add_option("FILE", o->files,
                   "config_db.json of SONiC, a topology file of containerlab, or lldpcli's neighbours of each switch")
      ->required();
  command->add_option("-o,--output", o->output, "Write the fabric file to FILE")->type_name("FILE");
  command->add_option("--lookup", o->lookup, "SONiC: pg_profile_lookup.ini, for lossless groups that have no profile")
      ->type_name("FILE");
  command->add_flag("--qos-only", o->qos_only, "SONiC: print only `qos`, to paste into a fabric file");
  command
      ->add_option("--switch", o->switches,
                   "containerlab: a switch, although its kind is linux; repeat for more, e.g. --switch 'spine*'")
      ->type_name("NODE")
      ->allow_extra_args(false);
  command->footer(
      "The format follows from the content. Of SONiC it prints one switch with its QoS profile, a host at each link, "
      "and an\n"
      "incast in the lossless class. Of containerlab and LLDP it prints nodes and links. Comments list what is left "
      "out.\n"
      "`railyard docs` has the details (import.md).\n"
      "Examples:\n"
      "  railyard import config_db.json -o lab.yaml && railyard run lab.yaml\n"
      "  railyard import config_db.json --lookup pg_profile_lookup.ini --qos-only\n"
      "  railyard import lab.clab.yml --switch 'frr*' > lab.yaml\n"
      "  railyard import leaf1.json leaf2.json spine1.json > lab.yaml");
  command->callback([=] {
    std::optional<ResultFile> file;
    const std::string text = import_files(*o);
    if (o->output.empty()) {
      std::fputs(text.c_str(), stdout);
      return;
    }
    file.emplace(o->output, "--output");
    file->write(text);
  });
}

}  // namespace railyard::tools
