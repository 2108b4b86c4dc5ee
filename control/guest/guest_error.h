// What can go wrong with a guest, said in one line: which guest, what, and what to do.
#pragma once

#include <stdexcept>

namespace railyard::guest {

class GuestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace railyard::guest
