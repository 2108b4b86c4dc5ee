// Settings of the kernel below /proc/sys, those of the network namespace that the thread is in.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace railyard::hosts {

struct KernelSetting {
  std::string name;  // below /proc/sys
  std::string_view value;
};

// In order. Throws HostsError at the first that cannot be written.
void set_kernel(std::initializer_list<KernelSetting> settings);

bool kernel_has_ipv6();

}  // namespace railyard::hosts
