#include "tests/tools/railyard/live_command_line.h"

#include <cstdlib>

#include <unistd.h>

namespace railyard::tools {

LiveCommandLine::LiveCommandLine() { ::setenv("RAILYARD_STATE_DIR", (folder_ / "state").c_str(), 1); }

LiveCommandLine::~LiveCommandLine() {
  railyard({"down", "--all"});
  ::unsetenv("RAILYARD_STATE_DIR");
}

bool LiveCommandLine::becomes(const std::function<bool()>& so) {
  for (int i = 0; i < 3000; ++i) {
    if (so()) return true;
    ::usleep(20'000);
  }
  return false;
}

}  // namespace railyard::tools
