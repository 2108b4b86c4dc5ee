#include "control/base/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace railyard {

int finish_standard_output(const char* program, int exit_code, int failed) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return exit_code;
  // An earlier write failed, and its reason is gone: the next one has the same.
  if (flushed) static_cast<void>(::write(STDOUT_FILENO, "\n", 1) < 0);
  const int why = errno;
  std::fprintf(stderr, "%s: cannot write standard output: %s\n", program,
               why == 0 ? "not everything was written" : std::strerror(why));
  return failed;
}

}  // namespace railyard
