#include "tools/railyardd/session_nice.h"

#include <cstdio>

#include <sys/resource.h>
#include <unistd.h>

namespace railyard::tools {

void share_nice_with_session() noexcept {
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  if (nice == 0 || ::getsid(0) != ::getpid()) return;
  std::FILE* const autogroup = std::fopen("/proc/self/autogroup", "w");
  if (autogroup == nullptr) return;
  std::fprintf(autogroup, "%d", nice);
  std::fclose(autogroup);
}

}  // namespace railyard::tools
