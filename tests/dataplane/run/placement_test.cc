#include "dataplane/run/placement.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/run/juggler.h"

namespace railyard {
namespace {

using namespace literals;

// Leaves with 4 hosts each and an uplink to every spine; all leaves first, then the spines, then the hosts, as a preset
// lists them.
struct LeafSpine {
  static constexpr std::uint16_t kHosts = 4;

  LeafSpine(std::uint16_t n_leaves, std::uint16_t n_spines) {
    for (std::uint16_t l = 0; l < n_leaves; ++l) leaves.push_back(add(kHosts + n_spines));
    for (std::uint16_t s = 0; s < n_spines; ++s) spines.push_back(add(n_leaves));
    for (std::uint16_t l = 0; l < n_leaves; ++l)
      for (std::uint16_t h = 0; h < kHosts; ++h) {
        hosts.push_back(add(1));
        link(hosts.back(), 0, leaves[l], h);
      }
    for (std::uint16_t l = 0; l < n_leaves; ++l)
      for (std::uint16_t s = 0; s < n_spines; ++s)
        link(leaves[l], static_cast<std::uint16_t>(kHosts + s), spines[s], l);
  }
  DeviceId add(std::size_t ports) { return fabric.add<Juggler>("d" + std::to_string(fabric.size()), ports, 0).id(); }
  void link(DeviceId a, std::uint16_t p, DeviceId b, std::uint16_t q) {
    fabric.connect({{a, PortIndex{p}}, {b, PortIndex{q}}, 100_Gbps, 500_ns});
  }
  Fabric fabric;
  std::vector<DeviceId> leaves;
  std::vector<DeviceId> spines;
  std::vector<DeviceId> hosts;
};

TEST(Placement, HostsAreWithTheirLeafAndWorkersHaveTheSameLoad) {
  const LeafSpine f(8, 4);
  const auto worker_of = place_devices(f.fabric, 2);
  for (std::size_t h = 0; h < f.hosts.size(); ++h)
    EXPECT_EQ(worker_of[f.hosts[h].index()], worker_of[f.leaves[h / LeafSpine::kHosts].index()]) << "host " << h;
  std::array<std::size_t, 2> ports{};
  for (const auto& d : f.fabric.devices()) ports[worker_of[d->id().index()]] += d->ports();
  EXPECT_EQ(ports[0], ports[1]);
  const auto crossing = std::ranges::count_if(
      f.fabric.links(), [&](const Link& l) { return worker_of[l.a.device.index()] != worker_of[l.b.device.index()]; });
  EXPECT_EQ(crossing, 16) << "half of the uplinks; fewer would leave one worker with more";
}

TEST(Placement, TheSameFabricIsPlacedTheSame) {
  EXPECT_EQ(place_devices(LeafSpine(8, 4).fabric, 3), place_devices(LeafSpine(8, 4).fabric, 3));
}

TEST(Placement, OneWorkerHasAll) {
  const auto worker_of = place_devices(LeafSpine(2, 2).fabric, 1);
  EXPECT_EQ(std::ranges::count(worker_of, 0), static_cast<std::ptrdiff_t>(worker_of.size()));
}

// No links at all, two at the same devices, fewer devices than workers.
TEST(Placement, AnyFabricIsPlaced) {
  Fabric apart;
  for (int i = 0; i < 9; ++i) apart.add<Juggler>("d" + std::to_string(i), 1, 0);
  auto worker_of = place_devices(apart, 3);
  for (std::uint8_t w = 0; w < 3; ++w) EXPECT_EQ(std::ranges::count(worker_of, w), 3);

  LeafSpine small(1, 1);
  const DeviceId x = small.add(2);
  const DeviceId y = small.add(2);
  small.link(x, 0, y, 0);
  small.link(x, 1, y, 1);
  worker_of = place_devices(small.fabric, 64);
  EXPECT_EQ(worker_of.size(), small.fabric.size());
  EXPECT_LT(*std::ranges::max_element(worker_of), 64);
  worker_of = place_devices(small.fabric, 4);
  EXPECT_LT(*std::ranges::max_element(worker_of), 4);
  EXPECT_EQ(worker_of[x.index()], worker_of[y.index()]) << "two links are worth more than one";
  EXPECT_TRUE(place_devices(Fabric{}, 2).empty());
}

// Processes of one run.
TEST(Placement, ProcessesHaveTheSameLoadAndHostsAreWithTheirLeaf) {
  const LeafSpine f(8, 4);
  const auto part_of = split_devices(f.fabric, 2);
  for (std::size_t h = 0; h < f.hosts.size(); ++h)
    EXPECT_EQ(part_of[f.hosts[h].index()], part_of[f.leaves[h / LeafSpine::kHosts].index()]) << "host " << h;
  EXPECT_EQ(std::ranges::count(part_of, 0), std::ranges::count(part_of, 1));
}

TEST(Placement, WhatSharesMoreThanLinksStaysInOneProcess) {
  LeafSpine f(8, 4);
  // Hosts of different leaves share a scale-up network.
  for (std::size_t h = 4; h < f.hosts.size(); h += 4)
    f.fabric.add_side_link({f.hosts[0], f.hosts[h], 500_ns, std::make_shared<DeviceWake>()});
  const auto part_of = split_devices(f.fabric, 4);
  for (std::size_t h = 4; h < f.hosts.size(); h += 4) EXPECT_EQ(part_of[f.hosts[h].index()], part_of[f.hosts[0].index()]);
  EXPECT_EQ(*std::ranges::max_element(part_of), 3u);
}

TEST(Placement, MoreProcessesThanDevicesAreRefused) {
  LeafSpine f(1, 0);
  EXPECT_EQ(split_devices(f.fabric, 5).size(), 5u);
  EXPECT_THROW(split_devices(f.fabric, 6), std::invalid_argument);
  f.fabric.add_side_link({f.hosts[0], f.hosts[1], 500_ns, std::make_shared<DeviceWake>()});
  EXPECT_THROW(split_devices(f.fabric, 5), std::invalid_argument);
}

// A process places its own devices on its workers.
TEST(Placement, DevicesOfOtherProcessesCountForNoWorker) {
  const LeafSpine f(8, 4);
  std::vector<bool> elsewhere(f.fabric.size(), true);
  for (std::size_t l = 0; l < 4; ++l) elsewhere[f.leaves[l].index()] = false;
  const auto worker_of = place_devices(f.fabric, 2, elsewhere);
  std::array<int, 2> leaves{};
  for (std::size_t l = 0; l < 4; ++l) ++leaves[worker_of[f.leaves[l].index()]];
  EXPECT_EQ(leaves[0], 2);
  EXPECT_EQ(leaves[1], 2);
}

}  // namespace
}  // namespace railyard
