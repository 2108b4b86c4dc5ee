#include "control/swarm/room.h"

#include <gtest/gtest.h>

#include "control/spec/load.h"

namespace railyard::swarm {
namespace {

// Of 1 MiB with 960 KiB reserved 64 KiB are shared: an eighth of that is 8 KiB, in cells of 256 octets.
bool room(const std::string& class_keys, std::uint32_t octets) {
  build::BuiltLab lab(spec::parse("name: x\n"
                                  "switches: { default: { buffer: 1MiB, cell: 256B } }\n"
                                  "qos: { default: { classes: { 0: { reserved: 240KiB }, 3: { lossless: false, " +
                                      class_keys +
                                      " } } } }\n"
                                      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n",
                                  "x.yaml"));
  return has_room(lab, 26, octets);
}

TEST(Room, AFrameFitsBelowThePartOfTheSharedMemoryThatAClassMayHave) {
  EXPECT_TRUE(room("alpha: 1/8", 8192));
  EXPECT_FALSE(room("alpha: 1/8", 8193));
  EXPECT_TRUE(room("alpha: 1", 9000));
  EXPECT_TRUE(room("alpha: 8", 9000)) << "alpha above 1: all of it";
}

TEST(Room, AFixedLimitCountsInItsPlace) {
  EXPECT_TRUE(room("alpha: 8, queue-limit: 4KiB", 4096));
  EXPECT_FALSE(room("alpha: 8, queue-limit: 4KiB", 4097));
}

}  // namespace
}  // namespace railyard::swarm
