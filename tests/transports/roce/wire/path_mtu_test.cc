#include "transports/roce/wire/path_mtu.h"

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

// roce-and-lossless.md §1.4.
TEST(PathMtu, CodesAndOctets) {
  EXPECT_EQ(octets(PathMtu::k256), 256u);
  EXPECT_EQ(octets(PathMtu::k512), 512u);
  EXPECT_EQ(octets(PathMtu::k1024), 1024u);
  EXPECT_EQ(octets(PathMtu::k2048), 2048u);
  EXPECT_EQ(octets(PathMtu::k4096), 4096u);
  for (unsigned code = 1; code <= 5; ++code)
    EXPECT_EQ(path_mtu(octets(static_cast<PathMtu>(code))), static_cast<PathMtu>(code));
  EXPECT_EQ(path_mtu(1000), std::nullopt);
  EXPECT_EQ(path_mtu(8192), std::nullopt);
}

TEST(PathMtu, FromTheMtuOfTheLinkAsRxeDoes) {
  EXPECT_EQ(largest_path_mtu(1500), PathMtu::k1024);
  EXPECT_EQ(largest_path_mtu(2127), PathMtu::k1024);
  EXPECT_EQ(largest_path_mtu(2128), PathMtu::k2048);
  EXPECT_EQ(largest_path_mtu(4175), PathMtu::k2048);
  EXPECT_EQ(largest_path_mtu(4176), PathMtu::k4096);
  EXPECT_EQ(largest_path_mtu(9000), PathMtu::k4096);
  EXPECT_EQ(largest_path_mtu(336), PathMtu::k256);
  EXPECT_EQ(largest_path_mtu(335), std::nullopt);
}

}  // namespace
}  // namespace railyard::roce
