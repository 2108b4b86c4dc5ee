// Networks behind trunks: where does an address go?
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/routing/shortest_paths.h"
#include "control/spec/load.h"

namespace railyard::routing {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

//  t1   t2      ports of leaf1: 1: h1, 2: spine, 8 and 9: t1 and t2
//    \  /
//    leaf1 - spine - leaf2 - t3        of spine: 1: leaf1, 2: leaf2; of leaf2: 1: h2, 2: h3, 3: spine, 9: t3
//      |              |  |
//      h1            h2  h3
class TrunkRoutes : public testing::Test {
 protected:
  void load(const std::string& networks1, const std::string& networks3) {
    const auto trunk = [](int port, const std::string& networks) {
      const std::string n = std::to_string(port);
      return "{ kind: trunk, udp: { local: \"127.0.0.1:" + n + "\", remote: \"127.0.0.1:1" + n +
             "\" }, networks: " + networks + " }\n";
    };
    lab = spec::parse(
        "name: x\nnodes:\n  leaf1: { kind: switch }\n  leaf2: { kind: switch }\n  spine: { kind: switch }\n"
        "  h1: { kind: host, address: 10.1.0.1 }\n  h2: { kind: host, address: 10.3.0.1 }\n"
        "  h3: { kind: host, address: 10.3.0.2 }\n  t1: " +
            trunk(4001, networks1) + "  t2: " + trunk(4002, networks1) + "  t3: " + trunk(4003, networks3) +
            "links: [[h1:1, leaf1:1], [h2:1, leaf2:1], [h3:1, leaf2:2], [leaf1:2, spine:1], [leaf2:3, spine:2], "
            "[leaf1:8, t1:1], [leaf1:9, t2:1], [leaf2:9, t3:1]]\nrun: { clock: wall }\n",
        "x.yaml");
  }
  std::vector<int> ports(const std::string& node, const std::string& address) const {
    const Graph graph(lab);
    const Routes routes = shortest_paths(graph);
    const ForwardingTable table(*routes.fecs, routes.table_of(graph.node(node)));
    const NextHops& hops = table.lookup(routes.fecs->lookup(*wire::IpAddress::parse(address)));
    std::vector<int> out;
    for (std::uint32_t i = 0; hops.kind == NextHops::Kind::kGroup && i < hops.count; ++i)
      out.push_back(table.member(hops, i).value + 1);
    return out;
  }
  spec::Lab lab;
};

TEST_F(TrunkRoutes, TwoTrunksOfASwitchShareWhatIsBehindBoth) {
  load("10.2.0.0/24", "10.9.0.0/24");
  EXPECT_THAT(ports("leaf1", "10.2.0.7"), ElementsAre(8, 9));
  EXPECT_THAT(ports("spine", "10.2.0.7"), ElementsAre(1));
  EXPECT_THAT(ports("leaf2", "10.2.0.7"), ElementsAre(3));
  EXPECT_THAT(ports("leaf1", "10.9.0.7"), ElementsAre(2));
  EXPECT_THAT(ports("leaf2", "10.9.0.7"), ElementsAre(9));
  EXPECT_THAT(ports("leaf1", "10.4.0.7"), IsEmpty());
}

TEST_F(TrunkRoutes, OfSeveralSwitchesTheNearest) {
  load("10.2.0.0/24", "10.2.0.0/24");
  EXPECT_THAT(ports("leaf1", "10.2.0.7"), ElementsAre(8, 9));
  EXPECT_THAT(ports("leaf2", "10.2.0.7"), ElementsAre(9));
  EXPECT_THAT(ports("spine", "10.2.0.7"), ElementsAre(1, 2));
}

TEST_F(TrunkRoutes, HostsHereAreNotSoughtBehindATrunk) {
  load("0.0.0.0/0", "10.3.0.0/30");
  EXPECT_THAT(ports("leaf1", "8.8.8.8"), ElementsAre(8, 9));
  EXPECT_THAT(ports("leaf2", "10.1.0.1"), ElementsAre(3));
  EXPECT_THAT(ports("leaf2", "10.3.0.2"), ElementsAre(2));
  EXPECT_THAT(ports("leaf1", "10.3.0.2"), ElementsAre(2));
  EXPECT_THAT(ports("leaf2", "10.3.0.3"), ElementsAre(9)) << "next to the hosts here";
}

}  // namespace
}  // namespace railyard::routing
