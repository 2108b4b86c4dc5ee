// A kernel's routes as the table of a switch (control/speakers/kernel_routes.h).
#include "control/speakers/kernel_routes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "control/hosts/command.h"
#include "control/hosts/network_namespace.h"

namespace railyard::speakers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A namespace with swp1, swp2 and swp3, whose other ends are p1, p2 and p3 there.
class KernelRoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a network namespace";
    name = fmt::format("ry-test-routes-{}", ::getpid());
    run({"ip", "netns", "add", name});
    ip("link set lo up");
    std::map<std::string, PortIndex> ports;
    for (std::uint16_t p = 0; p < 3; ++p) {
      ip(fmt::format("link add swp{0} type veth peer name p{0}", p + 1));
      ip(fmt::format("link set swp{} up", p + 1));
      ip(fmt::format("link set p{} up", p + 1));
      ports[fmt::format("swp{}", p + 1)] = PortIndex{p};
    }
    routes = std::make_unique<KernelRoutes>(name, ports);
  }
  void TearDown() override {
    routes.reset();
    if (!name.empty()) hosts::remove_namespace(name);
  }
  static void run(const std::vector<std::string>& command) {
    const hosts::CommandResult r = hosts::run_command(command);
    ASSERT_EQ(r.status, 0) << fmt::format("{}: {}", command[0], r.output);
  }
  void ip(const std::string& words) {
    std::vector<std::string> command{"ip", "-n", name};
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = std::min(words.find(' ', at), words.size());
      command.push_back(words.substr(at, end - at));
      at = end + 1;
    }
    run(command);
  }
  const Route* route(const KernelRoutes::Table& table, const std::string& prefix) {
    const auto at = std::ranges::find(table.routes, *wire::IpPrefix::parse(prefix), &Route::prefix);
    return at == table.routes.end() ? nullptr : &*at;
  }

  std::string name;
  std::unique_ptr<KernelRoutes> routes;
};

constexpr PortIndex port(std::uint16_t p) { return PortIndex{p}; }

TEST_F(KernelRoutesTest, HaveTheirMembersAndWeights) {
  ip("route add 10.0.0.1/32 dev swp1");
  ip("route add 10.0.1.0/24 nexthop dev swp3 weight 3 nexthop dev swp2 weight 1");
  ip("route add 10.0.2.0/24 nexthop dev swp1 nexthop dev swp2");
  ip("-6 route add 2001:db8::/32 nexthop via fe80::1 dev swp1 nexthop via fe80::2 dev swp3");
  const KernelRoutes::Table table = routes->read();
  ASSERT_NE(route(table, "10.0.0.1/32"), nullptr);
  EXPECT_THAT(route(table, "10.0.0.1/32")->ports, ElementsAre(port(0)));
  ASSERT_NE(route(table, "10.0.1.0/24"), nullptr);
  EXPECT_THAT(route(table, "10.0.1.0/24")->ports, ElementsAre(port(1), port(2)));
  EXPECT_THAT(route(table, "10.0.1.0/24")->weights, ElementsAre(1u, 3u));
  EXPECT_THAT(route(table, "10.0.2.0/24")->weights, IsEmpty());  // all alike
  ASSERT_NE(route(table, "2001:db8::/32"), nullptr);
  EXPECT_THAT(route(table, "2001:db8::/32")->ports, ElementsAre(port(0), port(2)));
}

TEST_F(KernelRoutesTest, OfSeveralTheLeastMetricCounts) {
  ip("route add 10.0.0.0/24 dev swp1 metric 20");
  ip("route add 10.0.0.0/24 dev swp2 metric 10");
  EXPECT_THAT(route(routes->read(), "10.0.0.0/24")->ports, ElementsAre(port(1)));
}

TEST_F(KernelRoutesTest, AMemberWithoutCarrierIsLeftOut) {
  ip("route add 10.0.2.0/24 nexthop dev swp1 nexthop dev swp2");
  ip("link set p2 down");
  EXPECT_THAT(route(routes->read(), "10.0.2.0/24")->ports, ElementsAre(port(0)));
  ip("link set p1 down");
  EXPECT_EQ(route(routes->read(), "10.0.2.0/24"), nullptr);
  ip("link set p1 up");
  EXPECT_THAT(route(routes->read(), "10.0.2.0/24")->ports, ElementsAre(port(0)));
}

TEST_F(KernelRoutesTest, ItsOwnAddressesAreLocal) {
  ip("address add 192.0.2.1/32 dev lo");
  const KernelRoutes::Table table = routes->read();
  ASSERT_NE(route(table, "192.0.2.1/32"), nullptr);
  EXPECT_THAT(route(table, "192.0.2.1/32")->ports, IsEmpty());
  EXPECT_TRUE(std::ranges::find(table.local, *wire::IpAddress::parse("192.0.2.1")) != table.local.end());
}

// ::/0 would cover IPv4 as well, as our prefixes are.
TEST_F(KernelRoutesTest, DefaultRoutesAreOfOneFamily) {
  ip("-6 route add default dev swp2");
  const KernelRoutes::Table six = routes->read();
  EXPECT_NE(route(six, "2000::/3"), nullptr);
  EXPECT_EQ(route(six, "0.0.0.0/0"), nullptr);
  ip("route add default dev swp1");
  EXPECT_THAT(route(routes->read(), "0.0.0.0/0")->ports, ElementsAre(port(0)));
}

TEST_F(KernelRoutesTest, ChangesAreTold) {
  routes->calm();
  pollfd fd{.fd = routes->readable(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&fd, 1, 0), 0);
  ip("route add 10.0.0.1/32 dev swp1");
  EXPECT_EQ(::poll(&fd, 1, 5000), 1);
  routes->calm();
  EXPECT_EQ(::poll(&fd, 1, 0), 0);
}

}  // namespace
}  // namespace railyard::speakers
