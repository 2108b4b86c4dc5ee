// What a capture of ours says of itself: the comment of its first section.
#pragma once

#include <filesystem>
#include <string>

namespace railyard::decode {

// The first comment of the section header that a pcapng file begins with; "" if it has none, or is no such file.
std::string capture_note(const std::filesystem::path& path);

}  // namespace railyard::decode
