#include "tools/railyard/exit_code.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace railyard::tools {

std::string exit_code_lines() {
  std::string lines;
  for (const ExitCodeMeaning& e : kExitCodes)
    lines += fmt::format("  {}  {:<10}  {}\n", static_cast<int>(e.code), e.name, e.meaning);
  return lines;
}

std::string exit_code_summary() {
  std::string line;
  for (const ExitCodeMeaning& e : kExitCodes)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", static_cast<int>(e.code), e.name);
  return line;
}

ExitCode worse(ExitCode a, ExitCode b) noexcept {
  constexpr ExitCode kOrder[] = {kOk, kUnverified, kMissed, kUsage, kInput, kFailed, kUnbalanced};
  return std::find(std::begin(kOrder), std::end(kOrder), a) < std::find(std::begin(kOrder), std::end(kOrder), b) ? b
                                                                                                                : a;
}

}  // namespace railyard::tools
