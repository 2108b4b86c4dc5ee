// `railyard front`: the process in front of a lab over several sites (control/front/front.h); `railyard up --site` starts it.
// Hidden.
#include <atomic>
#include <csignal>
#include <exception>
#include <cstdio>
#include <memory>
#include <string>
#include <stdexcept>

#include <fcntl.h>

#include "control/base/short_quote.h"
#include "control/daemon/ready.h"
#include "control/front/front.h"
#include "control/spec/input_error.h"
#include "tools/railyard/arguments.h"
#include "tools/railyard/commands.h"
#include "tools/web/page.h"

namespace railyard::tools {
namespace {

std::atomic<bool> stop_front{false};
void on_stop(int) { stop_front.store(true, std::memory_order_relaxed); }

int run_in_front(const front::FrontConfig& config, int ready_fd) {
  ::fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, config.log_to_stderr ? on_stop : SIG_IGN);
  bool told = false;
  const auto fail = [&](const std::string& what, int code) {
    const std::string why = printable(with_short_quotes(what));
    if (!told)
      daemon::tell_ready(ready_fd, {.lab = {}, .error = why, .exit_code = code});
    else
      std::fprintf(stderr, "railyard: %s\n", why.c_str());
    return code;
  };
  try {
    front::run_front(config, stop_front, [&](const std::string& name) {
      told = true;
      daemon::tell_ready(ready_fd, {.lab = name, .error = {}, .exit_code = kOk});
    });
  } catch (const InputError& error) {
    return fail(error.what(), kInput);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), kUsage);
  } catch (const std::exception& error) {
    return fail(error.what(), kFailed);
  }
  return kOk;
}

}  // namespace

void add_front(CLI::App* command, int& exit_code) {
  auto config = std::make_shared<front::FrontConfig>();
  config->page = web::page();
  auto fd = std::make_shared<int>(-1);
  command->add_option("SPEC", config->spec_file, "Fabric file (YAML)")->required();
  command->add_option("--name", config->name, "Name of the lab");
  command->add_option("--set", config->overrides, "Override a value of the file")->type_name("PATH=VALUE");
  command->add_option("--site", config->sites, "A site")->type_name("SITE")->required();
  command->add_option("--ssh", config->shell.prefix, "Command in front of a site's commands")->type_name("COMMAND");
  command->add_option("--remote-program", config->shell.program, "railyard at the sites")->type_name("FILE");
  command->add_option("--ready-fd", *fd, "Report there once that the lab runs, or why it does not")->required();
  command->add_option("--listen", config->listen, "Serve the page and the API at this address")->type_name("ADDRESS:PORT");
  command->add_option("--tls-cert", config->tls_certificate, "Certificate (PEM)")->type_name("FILE");
  command->add_option("--tls-key", config->tls_key, "Its key (PEM)")->type_name("FILE");
  command->add_option("--log-level", config->log_level, "Lowest level in the log")->type_name("LEVEL");
  command->add_flag("--foreground", config->log_to_stderr, "Log to standard error too");
  command->callback([=, &exit_code] { exit_code = run_in_front(*config, *fd); });
}

}  // namespace railyard::tools
