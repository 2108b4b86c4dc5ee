// Assertions about our own code (a bug in Railyard), never about input.
#pragma once

namespace railyard {

// Prints the broken promise and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* what, const char* file, int line) noexcept;

}  // namespace railyard

// Checked in every build.
#define RAILYARD_ASSERT(condition, what)                                                         \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::railyard::assertion_failed(#condition, what, __FILE__, __LINE__);                        \
  } while (false)

// Checked in the dev and sanitizer builds: for the per-packet path.
#ifdef RAILYARD_EXPENSIVE_CHECKS
#define RAILYARD_EXPENSIVE_ASSERT(condition, what) RAILYARD_ASSERT(condition, what)
#else
#define RAILYARD_EXPENSIVE_ASSERT(condition, what) \
  do {                                             \
  } while (false)
#endif
