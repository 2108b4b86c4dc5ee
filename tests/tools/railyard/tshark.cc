#include "tests/tools/railyard/tshark.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace railyard::tools {

bool has_tshark() { return std::system("tshark --version >/dev/null 2>&1") == 0; }

std::vector<std::string> tshark(const std::string& arguments) {
  std::FILE* pipe = popen(("tshark " + arguments + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> block;
  for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;) text.append(block.data(), n);
  pclose(pipe);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace railyard::tools
