#include "dataplane/run/eal.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace railyard {
namespace {

// This binary's main() has started it, without privileges and huge pages.
TEST(Eal, StartsOncePerProcess) {
  EXPECT_TRUE(eal_started());
  EXPECT_THROW(start_eal({}), std::runtime_error);
}

}  // namespace
}  // namespace railyard
