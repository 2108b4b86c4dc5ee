// How a program of an ordinary user would fare, seen from a test that root runs.
#pragma once

#include <array>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace railyard::test {

// Calls `f` in a thread of its own that has no capabilities.
inline void without_capabilities(const std::function<void()>& f) {
  std::thread([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    ASSERT_EQ(syscall(SYS_capset, &header, none.data()), 0);
    f();
  }).join();
}

}  // namespace railyard::test
