// railyard: the command line.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/lab/session.h"
#include "control/spec/input_error.h"
#include "control/spec/suggest.h"
#include "control/spec/warning.h"
#include "tools/railyard/commands.h"
#include "tools/railyardd/daemon_main.h"

namespace {

int unknown_command(const CLI::App& app, const char* word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string hint = railyard::spec::did_you_mean(word, names);
  std::fprintf(stderr, "railyard: there is no command '%s'%s Run with --help for more information.\n", word,
               hint.empty() ? "." : hint.c_str());
  return railyard::tools::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace railyard::tools;
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "railyardd") return daemon_main(argc, argv);
  CLI::App app{
      "Railyard emulates the Ethernet fabric of an AI cluster: lossless leaf-spine networks with queues, ECN and "
      "PFC, in exact virtual time or live.",
      "railyard"};
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  railyard check topologies/incast-8to1.yaml      is this lab sound? windows, headroom, memory\n"
      "  railyard run topologies/incast-8to1.yaml        run it and say what happened\n"
      "  railyard run LAB.yaml --set run.duration=5ms --seed 7 --json\n"
      "  railyard up LAB.yaml                            a lab that stays, live; status, exec, link, down\n"
      "\n"
      "Exit codes of every command:\n" +
      exit_code_lines() + "\n`railyard COMMAND --help` explains a command.");
  railyard::spec::on_warning([](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  int exit_code = kOk;
  add_check(app, exit_code);
  add_show(app, exit_code);
  add_graph(app, exit_code);
  add_hosts(app, exit_code);
  add_run(app, exit_code);
  add_compare(app, exit_code);
  add_compare_transports(app, exit_code);
  add_sweep(app, exit_code);
  add_swarm(app, exit_code);
  add_up(app, exit_code);
  add_down(app, exit_code);
  add_ls(app, exit_code);
  add_status(app, exit_code);
  add_exec(app, exit_code);
  add_agent(app, exit_code);
  add_again(app, exit_code);
  add_cp(app, exit_code);
  add_restart(app, exit_code);
  add_link(app, exit_code);
  add_fault(app, exit_code);
  add_attach(app, exit_code);
  add_set(app, exit_code);
  add_pause(app, exit_code);
  add_logs(app, exit_code);
  add_capture(app, exit_code);
  add_replay(app, exit_code);
  add_report(app, exit_code);
  add_series(app, exit_code);
  add_int(app, exit_code);
  add_decode(app, exit_code);
  add_port(app, exit_code);
  add_schema(app, exit_code);
  add_version(app, exit_code);
  for (CLI::App* command : app.get_subcommands({}))
    command->footer(command->get_footer() + (command->get_footer().empty() ? "" : "\n\n") + "Exit codes: " +
                    exit_code_summary() + " (`railyard --help` explains them)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty() || argc < 2 || argv[1][0] == '-') return app.exit(error) == 0 ? kOk : kUsage;
    return unknown_command(app, argv[1]);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const railyard::InputError& error) {
    std::fprintf(stderr, "railyard: %s\n", error.what());
    return kInput;
  } catch (const railyard::lab::CaptureError& error) {
    std::fprintf(stderr, "railyard: --capture: %s\n", error.what());
    return kUsage;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "railyard: %s\n", error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    std::fputs(
        "railyard: out of memory: this lab is too large for this machine; fewer nodes or flows would fit, and "
        "`railyard check` says what the packets may take\n",
        stderr);
    return kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "railyard: %s\n", error.what());
    return kFailed;
  }
  return exit_code;
}
