#include "control/lab/version.h"

#include "commit.h"  // made by cmake/Commit.cmake

namespace railyard::lab {

std::string version() {
  const std::string commit = RAILYARD_COMMIT;
  return commit.empty() ? RAILYARD_VERSION : RAILYARD_VERSION "+" + commit;
}

}  // namespace railyard::lab
