#include "control/guest/guest_image.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "control/guest/agent_frame.h"
#include "control/guest/guest_error.h"

namespace railyard::guest {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::filesystem::path default_image_directory() {
  if (const char* cache = variable("RAILYARD_SOFTROCE_CACHE")) return cache;
  if (const char* cache = variable("XDG_CACHE_HOME")) return std::filesystem::path(cache) / "railyard/softroce";
  const char* home = variable("HOME");
  return std::filesystem::path(home != nullptr ? home : "/root") / ".cache/railyard/softroce";
}

void check_image(const std::filesystem::path& directory) {
  for (const char* file : {"vmlinux", "initrd.cpio"})
    if (!std::filesystem::exists(directory / file))
      throw GuestError(fmt::format("there is no guest image in {} (no {}): run tools/softroce/build-image.sh",
                                   directory.string(), file));
  int version = 0;
  std::ifstream(directory / "agent-version") >> version;
  if (version == 0)
    throw GuestError(fmt::format(
        "the guest image in {} has no agent: install gcc and run tools/softroce/build-image.sh", directory.string()));
  if (version != RY_AGENT_VERSION)
    throw GuestError(
        fmt::format("the guest image in {} has agent version {}, expected {}: run tools/softroce/build-image.sh",
                    directory.string(), version, static_cast<int>(RY_AGENT_VERSION)));
}

}  // namespace railyard::guest
