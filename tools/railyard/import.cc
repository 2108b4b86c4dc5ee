// `railyard import`: a topology or a switch's configuration, written for another program, as a fabric file.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/export/from_containerlab.h"
#include "control/import/from_astra_sim.h"
#include "control/import/from_eos.h"
#include "control/import/from_lldp.h"
#include "control/import/from_nvue.h"
#include "control/import/from_nxos.h"
#include "control/import/from_sonic.h"
#include "control/import/nvue_tree.h"
#include "control/import/running_config.h"
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
  std::string trace;
  std::string output;
  bool qos_only = false;
};

std::string import_lldp(const ImportOptions& o, const std::string& first) {
  std::vector<importing::LldpOutput> outputs;
  for (const std::string& file : o.files)
    outputs.push_back({importing::node_of_file(file), file, outputs.empty() ? first : spec::read_file(file)});
  return importing::from_lldp(outputs);
}

// `given`: whether the option was, with a file of a format that has no use for it.
void refuse(bool given, const char* option, std::string_view format, std::string_view expected) {
  if (given) throw CLI::ValidationError(option, fmt::format("found with a file of {}; expected {}", format, expected));
}

constexpr std::string_view kSonicFile = "config_db.json of SONiC", kSwitchFile = "a configuration of a switch",
                           kContainerlabFile = "a file of containerlab",
                           kAstraSimFile = "a network description of ASTRA-sim";

std::string import_astra_sim(const ImportOptions& o, std::string network) {
  if (o.files.size() > 2)
    throw CLI::ValidationError(
        "FILE",
        fmt::format("found {} files; expected a network and a system description of ASTRA-sim", o.files.size()));
  importing::AstraSimInput input{.network = std::move(network),
                                 .network_file = o.files.front(),
                                 .system = {},
                                 .system_file = {},
                                 .trace = o.trace};
  if (o.files.size() == 2) {
    input.system_file = o.files.back();
    input.system = spec::read_file(o.files.back());
    if (!importing::is_astra_system(*input.system))
      throw CLI::ValidationError("FILE",
                                 fmt::format("{}: found no key such as all-reduce-implementation; expected a system "
                                             "description of ASTRA-sim",
                                             o.files.back()));
  }
  return importing::from_astra_sim(input);
}

// A configuration of Cumulus Linux, EOS or NX-OS; nothing if it is none.
std::optional<std::string> import_switch(const ImportOptions& o, const std::string& text, const std::string& file) {
  const auto none_of_others = [&](std::string_view format) {
    refuse(!o.lookup.empty(), "--lookup", format, kSonicFile);
    refuse(!o.switches.empty(), "--switch", format, kContainerlabFile);
    refuse(!o.trace.empty(), "--trace", format, kAstraSimFile);
  };
  if (importing::is_nvue(text)) {
    none_of_others("Cumulus Linux");
    return importing::from_nvue(text, file, o.qos_only);
  }
  if (importing::is_config_db(text, file)) return std::nullopt;
  const std::optional<importing::ConfigSystem> system = importing::system_of_running_config(text);
  if (!system) return std::nullopt;
  const bool is_eos = *system == importing::ConfigSystem::kEos;
  none_of_others(is_eos ? "EOS" : "NX-OS");
  return is_eos ? importing::from_eos(text, file, o.qos_only) : importing::from_nxos(text, file, o.qos_only);
}

// The format follows from the content of the first file.
std::string import_files(const ImportOptions& o) {
  const std::string& file = o.files.front();
  const std::string text = spec::read_file(file);
  const auto none_of_sonic = [&](std::string_view format) {
    refuse(!o.lookup.empty(), "--lookup", format, kSonicFile);
    refuse(o.qos_only, "--qos-only", format, kSwitchFile);
  };
  if (importing::is_lldp(text)) {
    none_of_sonic("LLDP");
    refuse(!o.switches.empty(), "--switch", "LLDP", kContainerlabFile);
    refuse(!o.trace.empty(), "--trace", "LLDP", kAstraSimFile);
    return import_lldp(o, text);
  }
  if (importing::is_astra_network(text)) {
    none_of_sonic("ASTRA-sim");
    refuse(!o.switches.empty(), "--switch", "ASTRA-sim", kContainerlabFile);
    return import_astra_sim(o, text);
  }
  if (o.files.size() > 1)
    throw CLI::ValidationError(
        "FILE", fmt::format("found {} files; expected one, several of LLDP, or two of ASTRA-sim (the network "
                            "first)",
                            o.files.size()));
  if (const std::optional<std::string> of_switch = import_switch(o, text, file)) return *of_switch;
  if (importing::is_config_db(text, file)) {
    refuse(!o.switches.empty(), "--switch", "SONiC", kContainerlabFile);
    refuse(!o.trace.empty(), "--trace", "SONiC", kAstraSimFile);
    std::optional<importing::PgProfileLookup> lookup;
    if (!o.lookup.empty()) lookup.emplace(spec::read_file(o.lookup), o.lookup);
    return importing::from_sonic(text, file, lookup.value_or(importing::PgProfileLookup()), o.qos_only);
  }
  if (!text.contains("topology"))
    throw spec::SpecError({}, fmt::format("{}: found none of the formats that import reads; expected config_db.json of "
                                          "SONiC, the output of `nv config show` (Cumulus Linux), a running-config of "
                                          "EOS or NX-OS, or a file of LLDP, containerlab or ASTRA-sim",
                                          file));
  none_of_sonic("containerlab");
  refuse(!o.trace.empty(), "--trace", "containerlab", kAstraSimFile);
  return exporting::from_containerlab(text, file, o.switches);
}

}  // namespace

void add_import(CLI::App* command, int&) {
  auto o = std::make_shared<ImportOptions>();
  command
      ->add_option("FILE", o->files,
                   "config_db.json of SONiC, `nv config show` of Cumulus Linux, running-config of Arista EOS or Cisco "
                   "NX-OS, a topology file of containerlab, lldpcli's neighbours of each switch, or the network and "
                   "system description of ASTRA-sim")
      ->required();
  command->add_option("-o,--output", o->output, "Write the fabric file to FILE")->type_name("FILE");
  command->add_option("--lookup", o->lookup, "SONiC: pg_profile_lookup.ini, for lossless groups that have no profile")
      ->type_name("FILE");
  command
      ->add_option("--trace", o->trace, "ASTRA-sim: the workload that the fabric file names (default: an all-reduce)")
      ->type_name("FILE");
  command->add_flag("--qos-only", o->qos_only, "switches: print only `qos`, to paste into a fabric file");
  command
      ->add_option("--switch", o->switches,
                   "containerlab: a switch, although its kind is linux; repeat for more, e.g. --switch 'spine*'")
      ->type_name("NODE")
      ->allow_extra_args(false);
  command->footer(
      "The format follows from the content. Of a switch (SONiC, Cumulus Linux, EOS, NX-OS) it prints one switch with "
      "its QoS\n"
      "profile, a host at each link, and an incast in the lossless class. Of containerlab and LLDP it prints nodes and "
      "links,\n"
      "of ASTRA-sim hosts with their scale-up network, a fabric and a collective. Comments list what is left out.\n"
      "`railyard docs` has the details (import.md).\n"
      "Examples:\n"
      "  railyard import config_db.json -o lab.yaml && railyard run lab.yaml\n"
      "  railyard import config_db.json --lookup pg_profile_lookup.ini --qos-only\n"
      "  railyard import nv-config.yaml -o lab.yaml\n"
      "  railyard import running-config.cfg --qos-only\n"
      "  railyard import lab.clab.yml --switch 'frr*' > lab.yaml\n"
      "  railyard import leaf1.json leaf2.json spine1.json > lab.yaml\n"
      "  railyard import network.yml system.json --trace workload.0.et -o lab.yaml && railyard estimate lab.yaml");
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
