#include "control/front/remote_shell.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "control/report/shell_word.h"

namespace railyard::front {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

}  // namespace

std::vector<std::string> RemoteShell::command(const std::string& site, const std::string& target,
                                              const std::vector<std::string>& arguments) const {
  std::vector<std::string> words;
  if (target == kHere && prefix.find("{target}") != prefix.npos) {
    words.push_back(program);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  std::istringstream in(prefix);
  for (std::string word; in >> word;) {
    replace_all(word, "{site}", site);
    replace_all(word, "{target}", target);
    words.push_back(std::move(word));
  }
  if (words.empty()) throw std::invalid_argument("--ssh: no command; expected one such as 'ssh {target}'");
  const bool quotes = std::filesystem::path(words.front()).filename() == "ssh";
  const auto add = [&](const std::string& word) { words.push_back(quotes ? report::shell_word(word) : word); };
  add(program);
  for (const std::string& word : arguments) add(word);
  return words;
}

}  // namespace railyard::front
