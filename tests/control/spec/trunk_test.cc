// Trunks in the fabric file: read, written, and what is said of bad ones.
#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

//  1  name: x
//  2  nodes:
//  3    leaf: { kind: switch }
//  4    h1: { kind: host }
//  5    t: (what a test says)
//  6  links: [[h1:1, leaf:1], (what a test says)]
//  7  run: { clock: wall }
std::string lab_with(const std::string& trunk, const std::string& link = "[leaf:9, t:1, { delay: 200us }]") {
  return "name: x\nnodes:\n  leaf: { kind: switch }\n  h1: { kind: host }\n  t: { kind: trunk, " + trunk +
         " }\nlinks: [[h1:1, leaf:1], " + link + "]\nrun: { clock: wall }\n";
}
const std::string kUdp = "udp: { local: \"127.0.0.1:4801\", remote: \"127.0.0.1:4802\" }";
const std::string kGood = kUdp + ", networks: [10.2.0.0/24, \"fd00:0:0:b::/64\"]";

TEST(TrunkKeys, SayTheWayAndWhatIsBehindIt) {
  const Lab lab = parse(lab_with(kGood + ", timeout: 2s"), "x.yaml");
  const TrunkSpec& t = lab.find("t")->trunk;
  EXPECT_EQ(to_string(t.udp->local), "127.0.0.1:4801");
  EXPECT_EQ(to_string(t.udp->remote), "127.0.0.1:4802");
  ASSERT_EQ(t.networks.size(), 2u);
  EXPECT_EQ(to_string(t.networks[0]), "10.2.0.0/24");
  EXPECT_EQ(t.timeout, Duration{2 * kPicosecondsPerSecond});
  EXPECT_TRUE(parse(to_yaml(lab), "shown.yaml") == lab) << to_yaml(lab);
}

TEST(TrunkKeys, V6AddressesAreInBrackets) {
  const Lab lab =
      parse(lab_with("udp: { local: \"[::1]:1\", remote: \"[fd00::1]:65535\" }, networks: 0.0.0.0/0"), "x.yaml");
  EXPECT_EQ(to_string(lab.find("t")->trunk.udp->remote), "[fd00::1]:65535");
  EXPECT_TRUE(parse(to_yaml(lab), "shown.yaml") == lab) << to_yaml(lab);
}

TEST(TrunkKeys, APortThatLeadsThereIsAsAHostsAttachment) {
  const Lab lab = parse(lab_with("attach: { netdev: eth1 }, networks: 10.2.0.0/24"), "x.yaml");
  const TrunkSpec& t = lab.find("t")->trunk;
  EXPECT_FALSE(t.udp);
  EXPECT_EQ(t.attach, Attachment{AttachNetdev{"eth1"}});
  EXPECT_FALSE(t.port_mtu);
  EXPECT_TRUE(parse(to_yaml(lab), "shown.yaml") == lab) << to_yaml(lab);

  const auto attach_of = [](const std::string& attach) {
    const Lab l = parse(lab_with("attach: { " + attach + " }, port-mtu: 1500, networks: 10.2.0.0/24"), "x.yaml");
    EXPECT_EQ(l.find("t")->trunk.port_mtu, 1500);
    EXPECT_TRUE(parse(to_yaml(l), "shown.yaml") == l) << to_yaml(l);
    return l.find("t")->trunk.attach;
  };
  EXPECT_EQ(attach_of("tap: t0"), Attachment{AttachTap{"t0"}});
  EXPECT_EQ(attach_of("dpdk: \"0000:03:00.0\""), Attachment{AttachDpdk{"0000:03:00.0"}});
  EXPECT_EQ(attach_of("memif: { socket: /tmp/m, role: client, id: 4 }"), (Attachment{AttachMemif{"/tmp/m", true, 4}}));
  EXPECT_EQ(attach_of("vhost-user: /tmp/v"), (Attachment{AttachVhostUser{"/tmp/v", false}}));
  EXPECT_EQ(attach_of("vhost-user-client: /tmp/v"), (Attachment{AttachVhostUser{"/tmp/v", true}}));
}

TEST(TrunkErrors, OneWayAndNoOther) {
  const std::string networks = ", networks: [10.2.0.0/24]";
  EXPECT_EQ(error_of(lab_with(kUdp + ", attach: { netdev: eth1 }" + networks)),
            "x.yaml:5:89: nodes.t.attach: found with udp; expected one of the two");
  EXPECT_EQ(error_of(lab_with("attach: { netdev: eth1, tap: t0 }" + networks)),
            "x.yaml:5:29: nodes.t.attach: found 2 keys; expected a map with one of vhost-user, vhost-user-client, "
            "memif, tap, netdev, dpdk");
  EXPECT_EQ(error_of(lab_with("attach: namespace" + networks)),
            "x.yaml:5:29: nodes.t.attach: found 'namespace'; expected a map with one of vhost-user, vhost-user-client, "
            "memif, tap, netdev, dpdk");
  EXPECT_EQ(error_of(lab_with("attach: { pcap: { out: x.pcap } }" + networks)),
            "x.yaml:5:31: nodes.t.attach: unknown key 'pcap'. Known here: vhost-user, vhost-user-client, memif, tap, "
            "netdev, dpdk");
  EXPECT_EQ(error_of(lab_with(kUdp + ", port-mtu: 1500" + networks)),
            "x.yaml:5:91: nodes.t.port-mtu: found with udp; expected it with attach only");
  EXPECT_EQ(error_of(lab_with("attach: { netdev: eth1 }, port-mtu: 100" + networks)),
            "x.yaml:5:57: nodes.t.port-mtu: 100 is out of range; expected 576..65535");
}

// What both ends tell each other of their link has no framing.
TEST(TrunkErrors, ItsLinkHasEthernetsFraming) {
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, t:1, { delay: 200us, framing: { preamble: 40 } }]")),
            "x.yaml:6:64: links.1.2.framing: t leads to another daemon; expected Ethernet framing on a trunk's link, { "
            "preamble: 8, gap: 12 }");
}

TEST(TrunkErrors, APortIsUsedOnce) {
  const std::string trunk = "attach: { netdev: eth1 }, networks: [10.2.0.0/24]";
  EXPECT_EQ(error_of(lab_with(trunk, "[leaf:9, t:1], [leaf:10, u:1]"), {"nodes.u={kind: trunk, " + trunk + "}"}),
            "--set nodes.u={kind: trunk, " + trunk + "}: nodes.u.attach: 'eth1' is already used by t:1");
  EXPECT_EQ(error_of(lab_with(trunk), {"nodes.h1.attach={netdev: eth1}"}),
            "x.yaml:5:29: nodes.t.attach: 'eth1' is already used by h1:1");
}

TEST(TrunkErrors, Keys) {
  EXPECT_EQ(error_of(lab_with(kGood)), "(no error)");
  EXPECT_EQ(error_of(lab_with("networks: [10.2.0.0/24]")),
            "x.yaml:5:6: nodes.t: neither udp nor attach; expected one of them");
  EXPECT_EQ(error_of(lab_with(kUdp)),
            "x.yaml:5:6: nodes.t: key 'networks' is missing: prefixes of addresses beyond the trunk");
  EXPECT_EQ(error_of(lab_with(kUdp + ", networks: [10.2.0.1/24]")),
            "x.yaml:5:92: nodes.t.networks.0: '10.2.0.1/24' is not a prefix; expected one such as 10.0.0.0/24 or "
            "fd00::/64, without host bits");
  EXPECT_EQ(error_of(lab_with("udp: { local: \"::1:80\", remote: \"127.0.0.1:4802\" }, networks: 10.2.0.0/24")),
            "x.yaml:5:35: nodes.t.udp.local: '::1:80' is not an address and port; expected e.g. 192.0.2.1:4800 or "
            "\"[2001:db8::1]:4800\"");
  EXPECT_EQ(error_of(lab_with("udp: { local: \"[::1]:80\", remote: \"127.0.0.1:4802\" }, networks: 10.2.0.0/24")),
            "x.yaml:5:55: nodes.t.udp.remote: 127.0.0.1:4802 and [::1]:80 have different families; expected both IPv4 "
            "or both IPv6");
  EXPECT_EQ(error_of(lab_with("udp: { local: \"127.0.0.1:4802\", remote: \"127.0.0.1:4802\" }, networks: 10.2.0.0/24")),
            "x.yaml:5:61: nodes.t.udp.remote: 127.0.0.1:4802 is the local end; expected the other daemon's");
  EXPECT_EQ(error_of(lab_with(kGood + ", nics: 2")), "x.yaml:5:125: nodes.t: key 'nics' is for hosts; t is a trunk");
}

TEST(TrunkErrors, Links) {
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, t:1]")), "(no error)");
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, t:1, { delay: 0 }]")),
            "x.yaml:6:39: links.1.2: no delay to trunk t; expected at least the delay of the network between the "
            "daemons, such as 200us");
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, t:2]")),
            "x.yaml:6:34: links.1.1: trunk t has port 1 only; expected t:1");
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, leaf:8]")), "x.yaml:6:34: links.1.1: links leaf to itself");
  EXPECT_EQ(
      error_of("name: x\nnodes: { leaf: { kind: switch }, t: { kind: trunk, " + kGood + " } }\nrun: { clock: wall }\n"),
      "x.yaml:2:37: nodes.t: trunk t has no link; expected one from a switch to t:1");
  EXPECT_EQ(error_of("name: x\nnodes: { h: { kind: host }, t: { kind: trunk, " + kGood +
                     " } }\nlinks: [[h:1, t:1]]\nrun: { clock: wall }\n"),
            "x.yaml:3:10: links.0.0: h is not a switch; expected a switch at the other end of trunk t");
  EXPECT_EQ(error_of(lab_with(kGood), {"switches={default: {latency: 0}}", "defaults={link: {delay: 1us}}"}),
            "x.yaml:6:26: links.1.0: leaf (profile default) has no latency; expected a latency above 0 at a switch "
            "with a trunk");
}

TEST(TrunkErrors, NeedTheWallClock) {
  EXPECT_EQ(error_of(lab_with(kGood), {"run.clock=virtual"}),
            "x.yaml:5:6: nodes.t: trunk t leads to another daemon, which needs the wall clock: set run.clock: wall");
}

TEST(TrunkErrors, EachHasAnAddressOfItsOwn) {
  EXPECT_EQ(error_of(lab_with(kGood, "[leaf:9, t:1], [leaf:10, u:1]"), {"nodes.u={kind: trunk, " + kGood + "}"}),
            "--set nodes.u={kind: trunk, " + kGood + "}: nodes.u.udp.local: '127.0.0.1:4801' is already used by t");
}

}  // namespace
}  // namespace railyard::spec
