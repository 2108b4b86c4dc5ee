// What is in a file.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace railyard::test {

inline std::string octets_of(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

}  // namespace railyard::test
