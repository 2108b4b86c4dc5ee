#include "dataplane/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace railyard {

void assertion_failed(const char* condition, const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "railyard: internal error: %s (%s) at %s:%d\n", what, condition, file, line);
  std::abort();
}

}  // namespace railyard
