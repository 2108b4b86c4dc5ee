#include "control/base/exit_code.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace railyard::tools {

std::string exit_code_lines() {
  constexpr std::size_t kIndent = 17, kWidth = 110;
  std::string lines;
  for (const ExitCodeMeaning& e : kExitCodes) {
    std::string line = fmt::format("  {}  {:<10}  ", static_cast<int>(e.code), e.name);
    for (std::string_view left = e.meaning; !left.empty();) {
      const std::string_view word = left.substr(0, left.find(' '));
      left.remove_prefix(std::min(left.size(), word.size() + 1));
      if (line.size() + word.size() > kWidth) {
        lines += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = std::string(kIndent, ' ');
      }
      line += fmt::format("{}{}", word, left.empty() ? "" : " ");
    }
    lines += line + "\n";
  }
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
