// Sites in the fabric file: read, written, and what is said of bad ones.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string lab_with_sites(const std::string& sites) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n" + sites;
}

std::string refusal(const std::string& sites) {
  try {
    parse(lab_with_sites(sites), "x.yaml");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(SiteKeys, SayWhereSitesAreAndWhatTheyHave) {
  const Lab lab = parse(lab_with_sites("sites:\n"
                                 "  a: { address: 192.0.2.1, ssh: root@server1, port: 5000, nodes: [leaf1, \"h*\"], ports: { b: [{ netdev: eth1 }] } }\n"
                                 "  b: { address: \"fd00::2\", nodes: leaf2, ports: { a: [{ dpdk: \"0000:3b:00.0\" }] } }\n"
                                 "  c: { }\n"
                                 "trunks: { delay: 2ms, timeout: 1s }\n"),
                        "x.yaml");
  const SiteSpec& a = lab.sites.at("a");
  EXPECT_EQ(wire::to_string(*a.address), "192.0.2.1");
  EXPECT_EQ(a.ssh, "root@server1");
  EXPECT_EQ(a.port, 5000);
  EXPECT_THAT(a.nodes, ElementsAre("leaf1", "h*"));
  EXPECT_EQ(a.ports.at("b").at(0), Attachment(AttachNetdev{"eth1"}));
  EXPECT_FALSE(lab.sites.at("c").address);
  EXPECT_EQ(lab.trunks.delay, Duration{2'000'000'000});
  EXPECT_TRUE(parse(to_yaml(lab), "shown.yaml") == lab) << to_yaml(lab);
}

TEST(SiteKeys, BadOnesAreRefusedWhereTheyAreSaid) {
  EXPECT_THAT(refusal("sites: { a: { nodes: leaf7 } }\n"), AllOf(HasSubstr("x.yaml:3"), HasSubstr("'leaf7' matches no node")));
  EXPECT_THAT(refusal("sites: { a: { nodes: \"leaf*\" }, b: { nodes: leaf2 } }\n"),
              HasSubstr("'leaf2' includes leaf2, which site a has, too"));
  EXPECT_THAT(refusal("sites: { a: { address: server1 } }\n"), HasSubstr("'server1' is no IP address"));
  EXPECT_THAT(refusal("sites: { a: { ssh: \"-oProxyCommand=x\" } }\n"), HasSubstr("is no host of ssh"));
  EXPECT_THAT(refusal("sites: { a: { ports: { d: [{ netdev: eth1 }] } } }\n"), HasSubstr("'d' is no other site"));
  EXPECT_THAT(refusal("sites: { a: { ports: { b: [{ netdev: eth1 }] } }, b: { } }\n"),
              HasSubstr("1 ports to site b, which has 0 to a; expected as many at both"));
  EXPECT_THAT(refusal("trunks: { timeout: 1ms }\n"), HasSubstr("timeout"));
}

}  // namespace
}  // namespace railyard::spec
