// railyard: the command line.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "control/base/short_quote.h"
#include "control/lab/session.h"
#include "control/spec/input_error.h"
#include "control/spec/warning.h"
#include "tools/railyard/arguments.h"
#include "tools/railyard/commands.h"
#include "tools/railyardd/daemon_main.h"

namespace {

using namespace railyard;
using namespace railyard::tools;

int fail(int exit_code, const std::string& what) {
  std::fprintf(stderr, "railyard: %s\n", printable(what).c_str());
  return exit_code;
}

int run(int argc, char** argv) {
  spec::on_warning([](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  int exit_code = kOk;
  const std::unique_ptr<CLI::App> app = make_app(exit_code);
  try {
    std::vector<std::string> arguments = arranged({argv + std::min(argc, 1), argv + argc});
    std::ranges::reverse(arguments);  // as the library wants them
    app->parse(std::move(arguments));
  } catch (const CLI::Success& asked) {  // --help, --version
    return app->exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s\n", problem_with(*app, error).c_str());
    return kUsage;
  } catch (const InputError& error) {
    return fail(kInput, error.what());
  } catch (const lab::CaptureError& error) {
    return fail(kUsage, std::string("--capture: ") + error.what());
  } catch (const std::invalid_argument& error) {
    return fail(kUsage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed,
                "out of memory: this lab is too large for this machine; fewer nodes or flows would fit, and "
                "`railyard check` says what the packets may take");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kFailed;  // said below
    return fail(kFailed, error.what());
  }
  return exit_code;
}

// Whatever a command printed has arrived, or it failed: a full disk must not look like success.
int finish_output(int exit_code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return exit_code;
  // An earlier write failed, and its reason is gone: the next one has the same.
  if (flushed) static_cast<void>(::write(STDOUT_FILENO, "\n", 1) < 0);
  const int why = errno;
  return fail(kFailed, std::string("cannot write standard output: ") +
                           (why == 0 ? "not everything was written" : std::strerror(why)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "railyardd") return daemon_main(argc, argv);
  return finish_output(run(argc, argv));
}
