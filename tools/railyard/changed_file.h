// A fabric file with settings in it, for a command that writes what it has found.
#pragma once

#include <string>
#include <vector>

namespace railyard::tools {

// The file with `sets` ("path=value", as --set has them) applied, presets as they are, without the file's comments;
// `heading` becomes a comment in front, line by line. It reads as the same lab from any folder: where the file names
// others relative to its own folder, the lab is written expanded. Throws SpecError.
std::string changed_file(const std::string& file, const std::vector<std::string>& sets, const std::string& heading);

}  // namespace railyard::tools
