#include "control/daemon/cleanup.h"

namespace railyard::daemon {

std::vector<std::string> clean_up(const LabDir& dir) {
  const LabLock nobody_else(dir);
  dir.remove();
  return {};
}

}  // namespace railyard::daemon
