#include "tools/railyard/at_site.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "control/front/site_record.h"

namespace railyard::tools {

std::vector<std::string> command_at_site(const daemon::LabDir& lab, const std::string& node, const std::string& command,
                                         const std::vector<std::string>& more, bool at_terminal) {
  auto record = front::read_record(lab);
  if (!record) return {};
  const front::RecordedSite& site = record->site_with(node);
  std::vector<std::string> words{command, "--lab", site.lab};
  words.insert(words.end(), more.begin(), more.end());
  words = record->shell.command(site.name, site.target, words);
  // ssh makes a terminal there.
  if (at_terminal) std::ranges::replace(words, std::string("-T"), std::string("-t"));
  return words;
}

void go_to_site(const daemon::LabDir& lab, const std::string& node, const std::string& command,
                const std::vector<std::string>& more) {
  std::vector<std::string> words = command_at_site(lab, node, command, more, ::isatty(STDIN_FILENO) != 0);
  if (words.empty()) return;
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execvp(raw[0], raw.data());
  throw std::runtime_error(fmt::format("cannot run {}: {}", words[0], std::strerror(errno)));
}

}  // namespace railyard::tools
