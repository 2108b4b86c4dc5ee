// Plain files of lines and columns, beside the fabric file: read with their places.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec_error.h"

namespace railyard::spec {

// A file line by line, and where one is.
class Lines {
 public:
  Lines(const std::string& file, const std::string& text) : file_(file), rest_(text) {}

  // The next that means something, without blanks around it.
  std::optional<std::string_view> next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      line = trimmed(line);
      if (!line.empty() && line[0] != '#') return line;
    }
    return std::nullopt;
  }
  [[noreturn]] void fail(const std::string& what) const { fail_at(number_, what); }
  [[noreturn]] void fail_at(int line, const std::string& what) const { throw SpecError({file_, line, 1}, what); }
  int number() const noexcept { return number_; }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  }

 private:
  std::string file_;
  std::string_view rest_;
  int number_ = 0;
};

inline std::vector<std::string_view> split_at(std::string_view text, char separator, bool drop_empty) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = Lines::trimmed(text.substr(0, end));
    if (!drop_empty || !part.empty()) parts.push_back(part);
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

}  // namespace railyard::spec
