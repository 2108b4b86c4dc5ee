// What a daemon tells who started it: once, that the lab is up, or why it is not.
#pragma once

#include <optional>
#include <string>

namespace railyard::daemon {

struct Ready {
  std::string lab;    // its name; empty if it did not come up
  std::string error;  // one sentence
  int exit_code = 0;  // that goes with it
};

// Writes it to `fd`, and closes that.
void tell_ready(int fd, const Ready& ready);
// Waits until the daemon at the other end of `fd` has told it. Nothing: it ended without a word.
std::optional<Ready> wait_ready(int fd);

}  // namespace railyard::daemon
