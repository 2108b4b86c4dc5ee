// `railyard relay`: the part of `railyard up --site` that runs at each site (control/front/relay.h). Hidden.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/base/exit_code.h"
#include "control/daemon/ready.h"
#include "control/front/relay.h"
#include "control/spec/input_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/start_daemon.h"
#include "tools/railyard/stop_lab.h"

namespace railyard::tools {
namespace {

using daemon::LabDir;

// A file for the time until the daemon has read it.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text) {
    std::filesystem::path path = std::filesystem::temp_directory_path() / "railyard-XXXXXX";
    folder_ = path;
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error(fmt::format("cannot make {}: {}", folder_, std::strerror(errno)));
    file_ = (std::filesystem::path(folder_) / (name + ".yaml")).string();
    FILE* out = std::fopen(file_.c_str(), "w");
    const bool good = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    if (out == nullptr || std::fclose(out) != 0 || !good)
      throw std::runtime_error(fmt::format("cannot write {}: {}", file_, std::strerror(errno)));
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& file() const noexcept { return file_; }

 private:
  std::string folder_;
  std::string file_;
};

void start_part(const std::string& lab, const std::string& site, const std::string& text) {
  const TemporaryFile file(lab, text);
  int fd = -1;
  std::vector<std::string> command{daemon_program(), file.file(), "--name", lab, "--site", site};
  start_daemon(std::move(command), true, fd);
  const auto told = daemon::wait_ready(fd);
  ::close(fd);
  if (!told) throw std::runtime_error("railyardd ended before the lab started");
  if (!told->lab.empty()) return;
  if (told->exit_code == kInput) throw InputError(told->error);
  throw std::runtime_error(told->error);
}

void stop_part(const std::string& lab) {
  const LabDir dir(lab);
  if (dir.exists()) stop_lab(dir);
}

}  // namespace

void add_relay(CLI::App* command, int&) {
  command->footer("It answers requests on standard input; `railyard up --site` starts it.");
  command->callback([] { front::serve_relay(std::cin, std::cout, {.start = start_part, .stop = stop_part}); });
}

}  // namespace railyard::tools
