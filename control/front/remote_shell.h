// How commands are run at a site.
#pragma once

#include <string>
#include <vector>

namespace railyard::front {

struct RemoteShell {
  // In front of the command, in words, in which {site} is the site's name and {target} how it is reached. A command for ssh
  // is quoted, since a shell reads it there; others get its words as they are.
  std::string prefix = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=2 -o ServerAliveCountMax=2 -T {target}";
  std::string program = "railyard";  // at the site

  // This machine, which needs no remote shell.
  static constexpr const char* kHere = "localhost";

  // `railyard ARGUMENTS` at a site. Throws std::invalid_argument: the prefix has no words.
  std::vector<std::string> command(const std::string& site, const std::string& target,
                                   const std::vector<std::string>& arguments) const;
};

}  // namespace railyard::front
