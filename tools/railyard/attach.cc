// `railyard attach`, `railyard detach`: hosts that come to a lab that is up, and leave it.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "control/api/message.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct AttachOptions {
  std::string lab;
  std::string host;
  std::string what;
};

// "tap=t1" as the fabric file says it: {"tap": "t1"}.
json attachment(const std::string& what) {
  const std::size_t equals = what.find('=');
  if (equals == what.npos) {
    if (what == "namespace" || what == "vm" || what == "built-in") return what;
    throw CLI::ValidationError("WHAT", fmt::format("'{}'; expected namespace, or KIND=VALUE such as tap=NAME", what));
  }
  const std::string kind = what.substr(0, equals);
  std::string value = what.substr(equals + 1);
  // The daemon runs elsewhere.
  if (kind == "vhost-user" || kind == "vhost-user-client") value = daemon_path(value, kind);
  if (kind != "memif") return {{kind, value}};
  json memif;
  std::size_t comma = value.find(',');
  memif["socket"] = daemon_path(value.substr(0, comma), "memif");
  while (comma != value.npos) {
    const std::size_t next = value.find(',', comma + 1);
    const std::string item = value.substr(comma + 1, next == value.npos ? next : next - comma - 1);
    const std::size_t at = item.find('=');
    if (at == item.npos)
      throw CLI::ValidationError("WHAT", fmt::format("'{}'; expected role=server, role=client or id=NUMBER", item));
    memif[item.substr(0, at)] = item.substr(at + 1);
    comma = next;
  }
  return {{kind, memif}};
}

int attach(const AttachOptions& o, const json& what) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  const json answer = ask(lab, "POST", "/attachments", {{"to", o.host}, {"attach", what}});
  if (!answer["changed"].get<bool>())
    fmt::print("lab {}: {} is {} already\n", lab.name(), o.host, answer["attach"].get<std::string>());
  else
    fmt::print("lab {}: {}: {} at {:.6f} s\n", lab.name(), o.host, answer["attach"].get<std::string>(),
               answer["effective_seconds"].get<double>());
  return kOk;
}

}  // namespace

void add_attach(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<AttachOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST[:NIC]", o->host, "A host without built-in traffic; HOST:NIC if it has several NICs")
      ->type_name("")
      ->required();
  command
      ->add_option("WHAT", o->what,
                   "namespace, tap=NAME, netdev=NAME, vhost-user=PATH, vhost-user-client=PATH, "
                   "memif=PATH[,role=client][,id=N], dpdk=ARGUMENTS: as `attach` in the fabric file")
      ->type_name("")
      ->required();
  command->footer(
      "The host keeps its address. It replaces an earlier attachment.\n"
      "Examples:\n"
      "  railyard attach h3 namespace && railyard exec h3 ping h1\n"
      "  railyard attach h4 tap=ry4\n"
      "  railyard detach h4");
  command->callback([o, &exit_code] { exit_code = attach(*o, attachment(o->what)); });
}

void add_detach(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<AttachOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("HOST[:NIC]", o->host, "The NIC; the built-in host then answers ping")->type_name("")->required();
  command->footer("Example:\n  railyard detach h4");
  command->callback([o, &exit_code] { exit_code = attach(*o, "built-in"); });
}

}  // namespace railyard::tools
