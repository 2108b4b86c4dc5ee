// The one error of this room: something outside this process cannot be made.
#pragma once

#include <stdexcept>

namespace railyard::hosts {

// what() is one message: what could not be done, why, and what to do.
class HostsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace railyard::hosts
