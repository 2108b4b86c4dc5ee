#include "tests/rules/source_tree.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace railyard::rules {
namespace {

namespace fs = std::filesystem;

// Where what begins at `at` ends, if a comment or a literal begins there; else `at`.
std::size_t end_of_literal(const std::string& text, std::size_t at) {
  const auto past = [&](const char* end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + std::string(end).size();
  };
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") == 0) return past("*/", at + 2);
  if (text.compare(at, 2, "R\"") == 0) {
    const std::size_t open = text.find('(', at);
    if (open == text.npos) return text.size();
    return past((")" + text.substr(at + 2, open - at - 2) + "\"").c_str(), open);
  }
  const char quote = text[at];
  const bool digit_separator = quote == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
  if ((quote != '"' && quote != '\'') || digit_separator) return at;
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2u : 1u;
  return std::min(i + 1, text.size());
}

}  // namespace

std::vector<SourceFile> read_sources(const std::vector<std::string>& tops) {
  const fs::path root = RAILYARD_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const std::string& top : tops)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      files.push_back({fs::relative(entry.path(), root).generic_string(), text.str()});
    }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::string without_comments_and_strings(const std::string& text) {
  std::string out = text;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_literal(text, i);
    for (std::size_t k = i; k < end; ++k)
      if (text[k] != '\n') out[k] = ' ';
    i = std::max(end, i + 1);
  }
  return out;
}

}  // namespace railyard::rules
