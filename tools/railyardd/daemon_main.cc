#include "tools/railyardd/daemon_main.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "control/base/exit_code.h"
#include "control/base/short_quote.h"
#include "control/daemon/daemon.h"
#include "control/daemon/ready.h"
#include "control/lab/version.h"
#include "control/spec/input_error.h"
#include "tools/railyard/arguments.h"
#include "tools/railyardd/session_nice.h"
#include "tools/web/page.h"

namespace {

std::atomic<bool> stop{false};

void on_signal(int) { stop.store(true, std::memory_order_relaxed); }

struct Options {
  railyard::daemon::DaemonConfig config;
  int ready_fd = -1;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("SPEC", o.config.spec_file, "Fabric file (YAML)")->required();
  app.add_option("--name", o.config.name, "Name of the lab (default: the file's `name`)");
  app.add_option("--site", o.config.site, "Run the part of the lab that this site has")->type_name("SITE");
  app.add_option("--set", o.config.overrides, "Override a value of the file")->type_name("PATH=VALUE");
  app.add_option("--ready-fd", o.ready_fd, "Report there once that the lab runs, or why it does not");
  app.add_option("--log-level", o.config.log_level, "Lowest level to log: trace, debug, info, warning, error, off")
      ->capture_default_str();
  app.add_option("--metrics", o.config.metrics, "Answer GET /metrics at this loopback address")->type_name("ADDRESS:PORT");
  app.add_option("--listen", o.config.listen, "Serve the page and the API at this loopback address")->type_name("ADDRESS:PORT");
  app.add_option("--tls-cert", o.config.tls_certificate, "Certificate (PEM) for other addresses")->type_name("FILE");
  app.add_option("--tls-key", o.config.tls_key, "Its key (PEM)")->type_name("FILE");
  app.add_flag("--foreground", o.config.log_to_stderr, "Log to standard error too");
}

}  // namespace

namespace railyard::tools {

int daemon_main(int argc, char** argv) {
  CLI::App app{"Runs one live lab. `railyard up` starts it; `railyard down`, SIGTERM or SIGINT stop it.", "railyardd"};
  const auto options = std::make_unique<Options>();
  add_options(app, *options);
  options->config.page = web::page();
  app.set_version_flag("--version", "railyardd " + lab::version(), "Print the version and exit");
  take_one_value_each(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "%s\n", problem_with(app, error).c_str());
    return kUsage;
  }

  const daemon::DaemonConfig& config = options->config;
  const int ready_fd = options->ready_fd;
  // Programs that the daemon starts may outlive this: whoever waits would wait for them.
  if (ready_fd >= 0) ::fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
  share_nice_with_session();
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, config.log_to_stderr ? on_signal : SIG_IGN);
  bool told = false;
  const auto fail = [&](const std::string& what, int code) {
    const std::string why = printable(with_short_quotes(what));
    if (ready_fd >= 0 && !told)
      daemon::tell_ready(ready_fd, {.lab = {}, .error = why, .exit_code = code});
    else
      std::fprintf(stderr, "railyardd: %s\n", why.c_str());
    return code;
  };
  try {
    daemon::run_daemon(config, stop, [&](const std::string& name) {
      told = true;
      if (ready_fd >= 0) daemon::tell_ready(ready_fd, {.lab = name, .error = {}, .exit_code = kOk});
    });
  } catch (const InputError& error) {
    return fail(error.what(), kInput);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), kUsage);
  } catch (const std::bad_alloc&) {
    return fail("out of memory: this lab is too large for this machine", kFailed);
  } catch (const std::exception& error) {
    return fail(error.what(), kFailed);
  }
  return kOk;
}

}  // namespace railyard::tools
