// A test of labs that stay up: they have a place of its own, and go down with it.
#pragma once

#include <functional>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {

class LiveCommandLine : public CommandLine {
 protected:
  LiveCommandLine();
  ~LiveCommandLine() override;

  // Looks again and again until it is so; some minutes at most.
  static bool becomes(const std::function<bool()>& so);
};

}  // namespace railyard::tools
