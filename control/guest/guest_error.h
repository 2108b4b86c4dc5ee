// What can go wrong with a guest, said in one line: which guest, what, and what to do.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace railyard::guest {

class GuestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Why the last system call failed, in words.
inline std::string last_error() { return std::generic_category().message(errno); }

}  // namespace railyard::guest
