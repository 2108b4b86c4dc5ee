#include "dataplane/run/eal.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rte_eal.h>
#include <unistd.h>

namespace railyard {
namespace {

// This binary's main() has started it, without privileges and huge pages.
TEST(Eal, StartsOncePerProcess) {
  EXPECT_TRUE(eal_started());
  EXPECT_THROW(start_eal({}), std::runtime_error);
}

// The EAL would leave an empty one for each process, in a file system that is memory.
TEST(Eal, LeavesNoRuntimeDirectory) {
  const std::filesystem::path own = rte_eal_get_runtime_dir();
  EXPECT_EQ(own.filename(), fmt::format("railyard{}", ::getpid()));
  EXPECT_FALSE(std::filesystem::exists(own));
}

}  // namespace
}  // namespace railyard
