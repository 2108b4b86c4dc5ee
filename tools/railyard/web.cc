// `railyard web`: a link to the page of a lab that is up.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/page_link.h"

namespace railyard::tools {

PageLink page_link(const daemon::LabDir& lab) {
  const auto answer = ask(lab, "POST", "/web");
  return {answer["link"].get<std::string>(), answer["token_file"].get<std::string>()};
}

void print_page(const daemon::LabDir& lab) {
  const PageLink page = page_link(lab);
  fmt::print("  {}\n  The link to the page works once; `railyard web` prints another.\n", page.link);
  std::string token;
  std::ifstream file(page.token_file);
  if (std::getline(file, token)) fmt::print("  Token for programs: {} (in {})\n", token, page.token_file);
}

namespace {

struct WebOptions {
  std::string lab;
  bool open = false;
};

// Hands the link to the user's browser: through a pipe of arguments alone, never through a shell.
int open_in_browser(std::string link) {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(fmt::format("cannot start xdg-open: {}", std::strerror(errno)));
  if (pid == 0) {
    std::string program = "xdg-open";
    char* const arguments[] = {program.data(), link.data(), nullptr};
    ::execvp(program.c_str(), arguments);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return kOk;
  throw std::runtime_error("xdg-open did not open a browser (Debian: xdg-utils); open the link yourself");
}

}  // namespace

void add_web(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<WebOptions>();
  add_lab_option(*command, o->lab);
  command->add_flag("--open", o->open, "Open the page in the browser (xdg-open)");
  command->footer(
      "The lab must have been started with `railyard up --web` or `--listen`.\n"
      "From another machine, use an SSH tunnel to the same port: ssh -L 8421:127.0.0.1:8421 HOST.\n"
      "Example:\n"
      "  railyard up topologies/labs/rails-4x8.yaml --listen 127.0.0.1:8421 --detach\n"
      "  railyard web --open");
  command->callback([o, &exit_code] {
    const daemon::LabDir lab = chosen_lab(o->lab);
    const PageLink page = page_link(lab);
    fmt::print("lab {}: {}\n  The link works once. Token for programs: {}\n", lab.name(), page.link, page.token_file);
    std::fflush(stdout);
    exit_code = o->open ? open_in_browser(page.link) : kOk;
  });
}

}  // namespace railyard::tools
