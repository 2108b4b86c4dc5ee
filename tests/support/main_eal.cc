// main() of test binaries that need packets: starts the EAL, once, before the tests.
#include <exception>
#include <iostream>

#include <gtest/gtest.h>

#include "dataplane/run/eal.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    railyard::start_eal({.memory_mib = 2048, .huge_pages = false, .pci = false, .extra = {}});
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
  return RUN_ALL_TESTS();
}
