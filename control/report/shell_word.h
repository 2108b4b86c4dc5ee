// Words of a command, as a shell is told them.
#pragma once

#include <string>

namespace railyard::report {

// As it is, or in quotes if it has anything that a shell would take for something else.
std::string shell_word(const std::string& word);

}  // namespace railyard::report
