#include "control/spec/suggest.h"

#include <vector>

#include <gtest/gtest.h>

namespace railyard::spec {
namespace {

const std::vector<std::string> kWords{"lossless", "latency", "hosts-per-leaf", "spines", "seed", "mtu"};

TEST(Suggest, FindsWhatIsNear) {
  EXPECT_EQ(nearest("lossles", kWords), "lossless");    // missing
  EXPECT_EQ(nearest("losslesss", kWords), "lossless");  // too many
  EXPECT_EQ(nearest("lossleds", kWords), "lossless");   // wrong
  EXPECT_EQ(nearest("lsosless", kWords), "lossless");   // swapped
  EXPECT_EQ(nearest("LATENCY", kWords), "latency");     // capitals
  EXPECT_EQ(nearest("hosts_per_leaf", kWords), "hosts-per-leaf");
  EXPECT_EQ(nearest("lat", kWords), "latency");  // begun
  EXPECT_EQ(nearest("mut", kWords), "mtu");
}

TEST(Suggest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("colour", kWords), std::nullopt);
  EXPECT_EQ(nearest("x", kWords), std::nullopt);
  EXPECT_EQ(nearest("", kWords), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'l'), kWords), std::nullopt);
  EXPECT_EQ(nearest("seed", {}), std::nullopt);
}

TEST(Suggest, AsksPolitely) {
  EXPECT_EQ(did_you_mean("sede", kWords), "; did you mean 'seed'?");
  EXPECT_EQ(did_you_mean("colour", kWords), "");
}

}  // namespace
}  // namespace railyard::spec
