// railyard: the command line.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/api/message.h"
#include "control/base/short_quote.h"
#include "control/base/standard_output.h"
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
  std::fprintf(stderr, "railyard: %s\n", printable(with_short_quotes(what)).c_str());
  return exit_code;
}

int run(int argc, char** argv) {
  spec::on_warning([](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  int exit_code = kOk;
  const std::unique_ptr<CLI::App> app = make_app(exit_code);
  try {
    std::vector<std::string> arguments = arranged(*app, {argv + std::min(argc, 1), argv + argc});
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
  } catch (const api::ApiError& error) {
    // A lab that is up does not know what the command line names, or does not understand it; else it cannot do it now.
    return fail(error.status() == 404 || error.status() == 400 ? kUsage : kFailed, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed,
                "out of memory: this lab is too large for this machine; use fewer nodes or flows; "
                "`railyard check` shows the packet memory");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kFailed;  // said below
    return fail(kFailed, error.what());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "railyardd")
    return finish_standard_output("railyardd", daemon_main(argc, argv), kFailed);
  return finish_standard_output("railyard", run(argc, argv), kFailed);
}
