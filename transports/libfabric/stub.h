// What stands in operation tables for calls that this provider does not have: libfabric calls whatever is there.
#pragma once

#include <rdma/fi_errno.h>

namespace railyard::libfabric {

// As a pointer to any function that returns a number: one that answers -FI_ENOSYS.
struct NotImplemented {
  template <class Result, class... Arguments>
  using Function = Result (*)(Arguments...);

  template <class Result, class... Arguments>
  constexpr operator Function<Result, Arguments...>() const noexcept {
    return [](Arguments...) -> Result { return static_cast<Result>(-FI_ENOSYS); };
  }
};
inline constexpr NotImplemented kNotImplemented{};

}  // namespace railyard::libfabric
