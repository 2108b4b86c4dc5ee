#include "dataplane/device/start_list.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using Ports = std::initializer_list<std::uint16_t>;

std::vector<int> flush(StartList& list, Instant expected_at) {
  std::vector<int> ports;
  list.flush([&](Instant at, PortIndex port) {
    EXPECT_EQ(at, expected_at);
    ports.push_back(port.value);
  });
  EXPECT_TRUE(list.empty());
  return ports;
}

TEST(StartList, StartsInPortOrderWhateverTheOrderOfAdding) {
  StartList list(10);
  EXPECT_TRUE(list.empty());
  for (const std::uint16_t port : Ports{7, 2, 9, 0, 5}) list.add(Instant{40}, PortIndex{port});
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.at(), Instant{40});
  EXPECT_EQ(flush(list, Instant{40}), (std::vector{0, 2, 5, 7, 9}));
}

TEST(StartList, APortIsListedOnce) {
  StartList list(4);
  for (const std::uint16_t port : Ports{1, 3, 1, 3, 0, 1}) list.add(Instant{1}, PortIndex{port});
  EXPECT_EQ(flush(list, Instant{1}), (std::vector{0, 1, 3}));
}

TEST(StartList, AfterAFlushAllBeginsAnew) {
  StartList list(4);
  list.add(Instant{1}, PortIndex{3});
  list.add(Instant{1}, PortIndex{1});
  EXPECT_EQ(flush(list, Instant{1}), (std::vector{1, 3}));
  list.add(Instant{2}, PortIndex{1});
  list.add(Instant{2}, PortIndex{3});
  EXPECT_EQ(flush(list, Instant{2}), (std::vector{1, 3}));
  EXPECT_EQ(flush(list, Instant{2}), std::vector<int>{});
}

}  // namespace
}  // namespace railyard
