// The guest's kernel and file system, as tools/softroce/build-image.sh leaves them in a directory.
#pragma once

#include <filesystem>

namespace railyard::guest {

// $RAILYARD_SOFTROCE_CACHE, else $XDG_CACHE_HOME/railyard/softroce, else ~/.cache/railyard/softroce.
std::filesystem::path default_image_directory();

// Throws GuestError, which says how to build it, if there is no image with an agent of our version in `directory`.
void check_image(const std::filesystem::path& directory);

}  // namespace railyard::guest
