// railyard-guest: one lasting guest by hand. README.md says how.
#include <cstdint>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "control/base/short_quote.h"
#include "control/base/standard_output.h"
#include "control/guest/copy_files.h"
#include "control/guest/guest_error.h"
#include "control/guest/lab_network.h"
#include "control/guest/run_command.h"
#include "control/guest/vm.h"
#include "control/spec/load.h"

namespace railyard::guest {
namespace {

struct Options {
  std::string directory;
  std::string name = "guest";
  std::string lab;
  std::vector<std::string> overrides;
  int nics = 0;
  int memory_mib = 256;
  int limit_s = 120;
  std::vector<std::string> command;
  std::string from;
  std::string to;
};

void up(const Options& options) {
  VmConfig config{
      .network = {.hostname = options.name}, .directory = options.directory, .memory_mib = options.memory_mib};
  // Without a link, but with an RDMA device.
  for (int i = 0; i < options.nics; ++i) {
    const auto n = static_cast<std::uint8_t>(i + 1);
    config.network.nics.push_back({.mac = {{0x02, 0, 0, 0, 0, n}}, .address_v4 = wire::IpAddress{0x0A09'0000u | n}});
  }
  if (!options.lab.empty()) {
    const spec::Lab lab = spec::load(options.lab, options.overrides);
    config.network = network_of(lab, options.name);
    const spec::NodeSpec* host = lab.find(options.name);
    for (std::size_t i = 0; host != nullptr && i < config.network.nics.size(); ++i)
      if (const auto* attach = std::get_if<spec::AttachVhostUser>(&host->nics[i].attach))
        config.network.nics[i].socket = attach->socket;
  }
  Vm vm(std::move(config));
  vm.start();
  vm.wait_ready(std::chrono::seconds(options.limit_s));
  for (const std::string& note : vm.notes()) std::cerr << note << '\n';
  vm.release();
}

int run(int argc, char** argv) {
  CLI::App app("Control one SoftRoCE guest", "railyard-guest");
  app.require_subcommand(1);
  Options options;
  int status = 0;
  const auto add = [&](const char* name, const char* description, auto action) {
    CLI::App* command = app.add_subcommand(name, description);
    command->add_option("DIR", options.directory, "The guest's folder: sockets, console.log")->required();
    command->callback([&options, &status, action] {
      status = action(options, GuestAddress{options.directory, options.name});
    });
    return command;
  };
  CLI::App* start = add("up", "Boot a guest and leave it running", [](const Options& o, const GuestAddress&) {
    up(o);
    return 0;
  });
  start->add_option("--name", options.name, "Host name; with --lab, the host whose NICs it has")->capture_default_str();
  start->add_option("--lab", options.lab, "Fabric file; its host has `attach: { vhost-user: SOCKET }`");
  start->add_option("--set", options.overrides, "As railyard's");
  start->add_option("--nics", options.nics, "Without --lab: number of unlinked NICs, 10.9.0.1, 10.9.0.2, ...")
      ->check(CLI::Range(0, 8).description(""))
      ->type_name("0..8");
  start->add_option("--memory", options.memory_mib, "MiB")->capture_default_str();
  start->add_option("--limit", options.limit_s, "Boot timeout in seconds")->capture_default_str();
  add("down", "Power the guest off", [](const Options& o, const GuestAddress&) {
    return Vm::stop_leftover(o.directory, std::chrono::seconds(10)) ? 0 : 1;
  });
  CLI::App* exec =
      add("exec", "Run a command in it, with these standard streams",
          [](const Options& o, const GuestAddress& g) { return run_at_standard_streams(g, {.arguments = o.command}); });
  exec->add_option("COMMAND", options.command, "The program and its arguments, best after --")->required();
  add("shell", "Open a shell in it",
      [](const Options&, const GuestAddress& g) { return run_at_terminal(g, shell_command()); });
  CLI::App* put = add("put", "Copy a file into it", [](const Options& o, const GuestAddress& g) {
    copy_to_guest(g, o.from, o.to);
    return 0;
  });
  CLI::App* get = add("get", "Copy a file out of it", [](const Options& o, const GuestAddress& g) {
    copy_from_guest(g, o.from, o.to);
    return 0;
  });
  for (CLI::App* copy : {put, get}) {
    copy->add_option("FROM", options.from)->required();
    copy->add_option("TO", options.to)->required();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "railyard-guest: " << printable(with_short_quotes(error.what())) << "; see --help\n";
    return 125;
  } catch (const std::exception& error) {
    std::cerr << "railyard-guest: " << printable(with_short_quotes(error.what())) << '\n';
    return 125;
  }
  return status;
}

}  // namespace
}  // namespace railyard::guest

int main(int argc, char** argv) {
  return railyard::finish_standard_output("railyard-guest", railyard::guest::run(argc, argv), 125);
}
