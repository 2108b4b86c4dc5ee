// Nodes, links and addresses: what is wrong with them, and how a preset's nodes are changed.
#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace railyard::literals;

// Lines 1 to 3, then `nodes` from line 4 on.
std::string with_nodes(const std::string& nodes, const std::string& links) {
  return "name: x\nlinks: [" + links + "]\nnodes:\n" + nodes;
}
std::string node_error(const std::string& nodes, const std::string& links) {
  return error_of(with_nodes(nodes, links));
}

const std::string kSwitchAndHost = "  s: { kind: switch }\n  h: { kind: host }\n";

TEST(NodeErrors, Kind) {
  EXPECT_EQ(node_error("  s: {}\n", ""), "x.yaml:4:6: nodes.s: key 'kind' is missing: switch, host or trunk");
  EXPECT_EQ(node_error("  s: { kind: router }\n", ""),
            "x.yaml:4:14: nodes.s.kind: unknown 'router'; expected switch, host or trunk");
  EXPECT_EQ(node_error("  s: { kind: swich }\n", ""),
            "x.yaml:4:14: nodes.s.kind: unknown 'swich'; did you mean 'switch'? Expected switch, host or trunk");
  EXPECT_EQ(node_error("  s: switch\n", ""),
            "x.yaml:4:6: nodes.s: found 'switch'; expected a map with the keys of a node");
  EXPECT_EQ(node_error("  h: { kind: host, loopback: 10.0.0.1 }\n", ""),
            "x.yaml:4:20: nodes.h: key 'loopback' is for switches; h is a host");
  EXPECT_EQ(node_error("  s: { kind: switch, nics: 2 }\n", ""),
            "x.yaml:4:22: nodes.s: key 'nics' is for hosts; s is a switch");
  EXPECT_EQ(
      node_error("  s: { kind: switch, profil: a }\n", ""),
      "x.yaml:4:22: nodes.s: unknown key 'profil'; did you mean 'profile'? Known here: kind, profile, role, rack, at, loopback, "
      "loopback6, control, vlans, ports");
  EXPECT_EQ(node_error("  s 1: { kind: switch }\n", ""),
            "x.yaml:4:3: nodes: 's 1' is not a name; expected letters, digits, '-' and '_', at most 63, the first a "
            "letter or "
            "digit");
}

TEST(NodeErrors, Profile) {
  EXPECT_EQ(
      node_error("  s: { kind: switch, profile: deflt }\n", ""),
      "x.yaml:4:31: nodes.s.profile: there is no switch profile 'deflt'; did you mean 'default'? Known here: default");
  EXPECT_EQ(node_error("  s: { kind: switch }\n  h: { kind: host, profile: slow }\n", "[h:1, s:1]"),
            "x.yaml:5:29: nodes.h.profile: there is no host profile 'slow'. Known here: default");
  EXPECT_EQ(error_of("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 1, leaf-profile: tor }\n"),
            "x.yaml:2:77: topology.leaf-profile: there is no switch profile 'tor'. Known here: default");
}

TEST(NodeErrors, Nics) {
  EXPECT_EQ(node_error("  h: { kind: host, nics: 65 }\n", ""),
            "x.yaml:4:26: nodes.h.nics: 65 is out of range; expected 1..64");
  EXPECT_EQ(node_error("  h: { kind: host, nics: [] }\n", ""),
            "x.yaml:4:26: nodes.h.nics: found 0 NICs; expected 1..64");
  std::string list = "{}";
  for (int i = 1; i < 65; ++i) list += ", {}";
  EXPECT_EQ(node_error("  h: { kind: host, nics: [" + list + "] }\n", ""),
            "x.yaml:4:26: nodes.h.nics: found 65 NICs; expected 1..64");
  EXPECT_EQ(node_error("  h: { kind: host, nics: 2, address: 10.0.0.1 }\n", ""),
            "x.yaml:4:38: nodes.h.address: h has 2 NICs; expected this key in the list 'nics'");
  EXPECT_EQ(node_error("  h: { kind: host, nics: [{}], address: 10.0.0.1 }\n", ""),
            "x.yaml:4:41: nodes.h.address: found with a list of nics; expected this key in the list");
  EXPECT_EQ(
      node_error("  h: { kind: host, nics: [{ adress: 10.0.0.1 }] }\n", ""),
      "x.yaml:4:29: nodes.h.nics.0: unknown key 'adress'; did you mean 'address'? Known here: mac, address, address6, "
      "attach");
}

TEST(NodeErrors, EveryNicHasALink) {
  EXPECT_EQ(node_error(kSwitchAndHost, ""), "x.yaml:5:6: nodes.h: NIC h:1 has no link");
  EXPECT_EQ(node_error("  s: { kind: switch }\n  h: { kind: host, nics: 2 }\n", "[h:1, s:1]"),
            "x.yaml:5:6: nodes.h: NIC h:2 has no link");
}

TEST(NodeErrors, Vlans) {
  const auto with_vlan = [](const std::string& vlans) {
    return node_error("  s: { kind: switch, vlans: { " + vlans + " } }\n  h: { kind: host }\n", "[h:1, s:1]");
  };
  EXPECT_EQ(with_vlan("1: { native: 5, tagged: [6, 7] }"), "(no error)");
  EXPECT_EQ(with_vlan("1: { native: 4095 }"),
            "x.yaml:4:44: nodes.s.vlans.1.native: 4095 is out of range; expected 1..4094");
  EXPECT_EQ(with_vlan("1: { native: 5, tagged: [6, 5] }"),
            "x.yaml:4:55: nodes.s.vlans.1.tagged: 5 is the native VLAN here, which has no tag");
  EXPECT_EQ(with_vlan("1: { tagged: [6, 6] }"), "x.yaml:4:48: nodes.s.vlans.1.tagged.1: 6 is given twice");
  EXPECT_EQ(with_vlan("1: { tagged: some }"),
            "x.yaml:4:44: nodes.s.vlans.1.tagged: found 'some'; expected all, none or a list of VLANs such as [5, 6]");
  EXPECT_EQ(with_vlan("2: { native: 5 }"), "x.yaml:4:34: nodes.s.vlans.2: port s:2 has no link");
  EXPECT_EQ(with_vlan("0: { native: 5 }"), "x.yaml:4:31: nodes.s.vlans: port: 0 is out of range; expected 1..8191");
}

TEST(LinkErrors, Ends) {
  const auto with_links = [](const std::string& links) {
    return node_error(kSwitchAndHost + "  t: { kind: switch }\n", links);
  };
  EXPECT_EQ(with_links("[h:1, s:1], [s:2, t:1]"), "(no error)");
  EXPECT_EQ(with_links("[h:1, s:0]"), "x.yaml:2:15: links.0.1: 's:0': ports are counted from 1");
  EXPECT_EQ(with_links("[h:1, s]"), "x.yaml:2:15: links.0.1: 's' is not a port; expected one such as leaf1:3");
  EXPECT_EQ(with_links("[h:1, ss:1]"), "x.yaml:2:15: links.0.1: there is no node 'ss'; did you mean 's'?");
  EXPECT_EQ(with_links("[h:2, s:1]"), "x.yaml:2:10: links.0.0: h has 1 NIC; expected one of them");
  EXPECT_EQ(with_links("[h:1, s:1], [t:1, s:1]"),
            "x.yaml:2:27: links.1.1: s:1 is already linked: to h:1, at x.yaml:2:9");
  EXPECT_EQ(with_links("[h:1, s:1], [t:1, t:2]"), "x.yaml:2:27: links.1.1: links t to itself");
  EXPECT_EQ(with_links("[h:1, s:1], [t:1, t:1]"),
            "x.yaml:2:27: links.1.1: t:1 is already linked: to t:1, at x.yaml:2:21");
  EXPECT_EQ(
      with_links("[h:1]"),
      "x.yaml:2:9: links.0: found a list of 1; expected [one end, other end] or [one end, other end, { rate, cable or "
      "delay, medium, mtu, bundle, weight, llr, framing }]");
  EXPECT_EQ(
      with_links("h:1"),
      "x.yaml:2:9: links.0: found 'h:1'; expected [one end, other end] or [one end, other end, { rate, cable or delay, "
      "medium, mtu, bundle, weight, llr, framing }]");
  EXPECT_EQ(
      error_of("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 1 }\nnodes: { h: { kind: host } "
               "}\nlinks: [[h:1, leaf1:1]]\n"),
      "x.yaml:4:15: links.0.1: leaf1:1 is already linked: to h1:1, at x.yaml:2:11");
}

TEST(LinkErrors, Keys) {
  const auto with_keys = [](const std::string& keys) {
    return node_error(kSwitchAndHost, "[h:1, s:1, { " + keys + " }]");
  };
  EXPECT_EQ(with_keys("rate: 0bps"), "x.yaml:2:28: links.0.2.rate: 0 is out of range; expected 1Mbps..10Tbps");
  EXPECT_EQ(with_keys("rate: 100").substr(0, 48), "x.yaml:2:28: links.0.2.rate: 100 has no unit; ex");
  EXPECT_EQ(with_keys("mtu: 500"), "x.yaml:2:27: links.0.2.mtu: 500 is out of range; expected 576..9216");
  EXPECT_EQ(with_keys("mtu: 9217"), "x.yaml:2:27: links.0.2.mtu: 9217 is out of range; expected 576..9216");
  EXPECT_EQ(with_keys("cable: 3m, delay: 15ns"),
            "x.yaml:2:40: links.0.2.delay: found with cable; expected one of the two");
  EXPECT_EQ(with_keys("speed: 100Gbps"),
            "x.yaml:2:22: links.0.2: unknown key 'speed'. Known here: rate, cable, delay, medium, mtu, bundle, weight, llr, framing");
  EXPECT_EQ(with_keys("llr: yes"),
            "x.yaml:2:27: links.0.2.llr: found 'yes'; expected off, on or a map such as { turnaround: 200ns }");
  EXPECT_EQ(with_keys("llr: { turnaround: 2s }"),
            "x.yaml:2:41: links.0.2.llr.turnaround: 2s is out of range; expected 0..1ms");
  EXPECT_EQ(with_keys("framing: { preamble: -49 }"),
            "x.yaml:2:43: links.0.2.framing.preamble: -49 is out of range; expected -48..1000");
  EXPECT_EQ(with_keys("framing: { gap: -1 }"),
            "x.yaml:2:38: links.0.2.framing.gap: -1 is out of range; expected 0..1000");
  EXPECT_EQ(with_keys("framing: { header: 64 }"),
            "x.yaml:2:33: links.0.2.framing: unknown key 'header'. Known here: preamble, gap");
  EXPECT_EQ(with_keys("cable: 2000km"), "x.yaml:2:29: links.0.2.cable: 2000km is out of range; expected 0..1000km");
  EXPECT_EQ(error_of("name: x\ndefaults: { links: {} }\n"),
            "x.yaml:2:13: defaults: unknown key 'links'; did you mean 'link'? Known here: link");
}

TEST(LinkErrors, CablesReachAsFarAsTheirMedium) {
  const auto with_keys = [](const std::string& keys) {
    return node_error(kSwitchAndHost, "[h:1, s:1, { " + keys + " }]");
  };
  EXPECT_EQ(with_keys("rate: 100Gbps, medium: dac, cable: 5m"), "(no error)");
  EXPECT_EQ(with_keys("rate: 400Gbps, medium: dac, cable: 3m"), "(no error)");
  EXPECT_EQ(with_keys("rate: 400Gbps, medium: dac, cable: 5m"),
            "x.yaml:2:45: links.0.2.medium: a cable of 5m is beyond the reach of dac at 400Gbps; expected at most 3m, or "
            "aec (7m), sr (100m), aoc (100m), dr (500m), fr (2km), lr (10km)");
  EXPECT_EQ(with_keys("rate: 800Gbps, medium: sr, cable: 3km"),
            "x.yaml:2:45: links.0.2.medium: a cable of 3km is beyond the reach of sr at 800Gbps; expected at most 100m, or "
            "lr (10km)");
  EXPECT_EQ(with_keys("medium: lr, cable: 11km"),
            "x.yaml:2:30: links.0.2.medium: a cable of 11km is beyond the reach of lr at 100Gbps; expected at most 10km");
  EXPECT_EQ(with_keys("medium: dac, delay: 1ms"), "(no error)") << "of a delay nobody knows the length";
  EXPECT_EQ(error_of("name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 1, fabric-link: { "
                     "medium: aec, cable: 30m } }\n"),
            "x.yaml:2:11: topology: link leaf1:2 to spine1:1: a cable of 30m is beyond the reach of aec at 100Gbps; "
            "expected at most 7m, or sr (100m), aoc (100m), dr (500m), fr (2km), lr (10km)");
}

TEST(LinkErrors, SignalsTakeTime) {
  EXPECT_EQ(
      error_of(with_nodes(kSwitchAndHost, "[h:1, s:1, { delay: 0 }]") + "switches: { default: { latency: 0 } }\n"),
      "x.yaml:2:20: links.0.2: no delay, and s (profile default) has no latency; expected a delay or a latency above "
      "0");
  EXPECT_EQ(error_of(with_nodes(kSwitchAndHost, "[h:1, s:1, { delay: 0 }]")), "(no error)");
}

TEST(AddressErrors, AreOfOneHost) {
  const auto with_address = [](const std::string& key) {
    return node_error("  s: { kind: switch }\n  h: { kind: host, " + key + " }\n", "[h:1, s:1]");
  };
  const std::string expected = "; expected the address of one host";
  EXPECT_EQ(with_address("address: 0.0.0.0"),
            "x.yaml:5:29: nodes.h.address: 0.0.0.0 is the unspecified address" + expected);
  EXPECT_EQ(with_address("address: 224.0.0.1"),
            "x.yaml:5:29: nodes.h.address: 224.0.0.1 is a multicast address" + expected);
  EXPECT_EQ(with_address("address: 127.0.0.1"),
            "x.yaml:5:29: nodes.h.address: 127.0.0.1 is the loopback address" + expected);
  EXPECT_EQ(with_address("address: 255.255.255.255"),
            "x.yaml:5:29: nodes.h.address: 255.255.255.255 is the broadcast address" + expected);
  EXPECT_EQ(with_address("address6: ::1"), "x.yaml:5:30: nodes.h.address6: ::1 is the loopback address" + expected);
  EXPECT_EQ(with_address("address6: ff02::1"),
            "x.yaml:5:30: nodes.h.address6: ff02::1 is a multicast address" + expected);
  EXPECT_EQ(with_address("address: fd00::1"),
            "x.yaml:5:29: nodes.h.address: 'fd00::1' is not an IPv4 address; expected one such as 10.0.0.1");
  EXPECT_EQ(with_address("mac: 01:00:00:00:00:01"),
            "x.yaml:5:25: nodes.h.mac: 01:00:00:00:00:01 is a group address; expected a port's address");
  EXPECT_EQ(with_address("mac: 00:00:00:00:00:00"),
            "x.yaml:5:25: nodes.h.mac: 00:00:00:00:00:00 is not a port's address");
}

TEST(AddressErrors, AreSaidOnce) {
  const auto with_hosts = [](const std::string& a, const std::string& b) {
    return node_error(
        "  s: { kind: switch, loopback: 10.9.0.1 }\n  a: { kind: host, " + a + " }\n  b: { kind: host, " + b + " }\n",
        "[a:1, s:1], [b:1, s:2]");
  };
  EXPECT_EQ(with_hosts("address: 10.1.0.1", "address: 10.1.0.1"),
            "x.yaml:6:29: nodes.b.address: a:1 has 10.1.0.1 already: x.yaml:5:29");
  EXPECT_EQ(with_hosts("address: 10.9.0.1", "address: 10.1.0.1"),
            "x.yaml:5:29: nodes.a.address: s has 10.9.0.1 already: x.yaml:4:32");
  EXPECT_EQ(with_hosts("address6: fd01::1", "nics: [{ address6: fd01::1 }]"),
            "x.yaml:6:39: nodes.b.nics.0.address6: a:1 has fd01::1 already: x.yaml:5:30");
  EXPECT_EQ(with_hosts("mac: 02:00:00:00:99:01", "mac: 02:00:00:00:99:01"),
            "x.yaml:6:25: nodes.b.mac: a:1 has 02:00:00:00:99:01 already: x.yaml:5:25");
  EXPECT_EQ(with_hosts("mac: 02:00:00:00:00:02", "nics: 1"),
            "x.yaml:5:25: nodes.a.mac: 02:00:00:00:00:02 is the automatic MAC address of s:2; expected another");
}

TEST(AttachErrors, All) {
  const auto with_attach = [](const std::string& attach, const std::string& clock = "virtual") {
    return error_of(with_nodes("  s: { kind: switch }\n  h: { kind: host, attach: " + attach + " }\n", "[h:1, s:1]") +
                    "run: { clock: " + clock + " }\n");
  };
  const std::string kinds =
      "namespace, vm, application, or a map with one of pcap, vhost-user, vhost-user-client, memif, tap, netdev, dpdk";
  const std::string outside = ": attachments to the outside need the wall clock: set run.clock: wall";
  EXPECT_EQ(with_attach("{ pcap: { in: a.pcap, out: b.pcap, times: asap } }"), "(no error)");
  EXPECT_EQ(with_attach("{ vhost-user: /tmp/x.sock }", "wall"), "(no error)");
  EXPECT_EQ(with_attach("{ dpdk: \"net_tap0,iface=tap0\" }", "wall"), "(no error)");
  EXPECT_EQ(with_attach("{ vhost-user: /tmp/x.sock }"), "x.yaml:5:28: nodes.h.attach" + outside);
  EXPECT_EQ(with_attach("{ dpdk: net_tap0 }"), "x.yaml:5:28: nodes.h.attach" + outside);
  EXPECT_EQ(with_attach("{ pcap: {} }"),
            "x.yaml:5:36: nodes.h.attach.pcap: neither in nor out; expected a file to replay or to write");
  EXPECT_EQ(with_attach("{ pcap: { out: \"\" } }"), "x.yaml:5:43: nodes.h.attach.pcap.out: is empty");
  EXPECT_EQ(with_attach("{ veth: x }"),
            "x.yaml:5:30: nodes.h.attach: unknown key 'veth'. Known here: pcap, vhost-user, vhost-user-client, memif, "
            "tap, netdev, dpdk");
  EXPECT_EQ(with_attach("{}"), "x.yaml:5:28: nodes.h.attach: found 0 keys; expected " + kinds);
  EXPECT_EQ(with_attach("{ vhost-user: a, dpdk: b }"), "x.yaml:5:28: nodes.h.attach: found 2 keys; expected " + kinds);
  EXPECT_EQ(with_attach("namespace", "wall"), "(no error)");
  EXPECT_EQ(with_attach("vm", "wall"), "(no error)");
  EXPECT_EQ(with_attach("{ tap: tap0 }", "wall"), "(no error)");
  EXPECT_EQ(with_attach("{ netdev: eth1 }", "wall"), "(no error)");
  EXPECT_EQ(with_attach("namespace"), "x.yaml:5:28: nodes.h.attach" + outside);
  EXPECT_EQ(with_attach("container", "wall"), "x.yaml:5:28: nodes.h.attach: found 'container'; expected " + kinds);
  EXPECT_EQ(with_attach("{ tap: sixteen-octets-x }", "wall"),
            "x.yaml:5:35: nodes.h.attach.tap: is 16 bytes long; expected at most 15");
  EXPECT_EQ(with_attach("{ netdev: \"a b\" }", "wall"),
            "x.yaml:5:38: nodes.h.attach.netdev: 'a b' is no name of a network interface");
  EXPECT_EQ(with_attach("{ vhost-user: " + std::string(108, 'a') + " }", "wall"),
            "x.yaml:5:42: nodes.h.attach.vhost-user: is 108 bytes long; expected at most 107");
  EXPECT_EQ(node_error(
                "  s: { kind: switch }\n  a: { kind: host, attach: { pcap: { out: x } } }\n  b: { kind: host, nics: [{ "
                "attach: { pcap: { out: x } } }] }\n",
                "[a:1, s:1], [b:1, s:2]"),
            "x.yaml:6:37: nodes.b.nics.0.attach: 'x' is already used by a:1");
}

// ---- What is read ---------------------------------------------------------------------------------------------------

const std::string kPreset = "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n";

// ---- Hosts that are made: namespaces and virtual machines ----

TEST(MadeHosts, AreSoWithAllTheirNics) {
  const Lab lab = parse(
      "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\n"
      "nodes: { h1: { attach: vm }, h2: { nics: [{ attach: namespace, address: 10.9.0.1 }, { attach: namespace }] } }\n"
      "run: { clock: wall }\n",
      "x.yaml");
  for (const NicSpec& nic : lab.find("h1")->nics) EXPECT_EQ(nic.attach, Attachment{AttachVm{}});
  for (const NicSpec& nic : lab.find("h2")->nics) EXPECT_EQ(nic.attach, Attachment{AttachNamespace{}});
  EXPECT_TRUE(lab.find("h1")->nics[1].mac.has_value()) << "we make the host, so we give it its address";
  EXPECT_EQ(parse(to_yaml(lab), "again"), lab);
  EXPECT_EQ(error_of("name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\n"
                     "nodes: { h1: { nics: [{ attach: vm }, { attach: namespace }] } }\nrun: { clock: wall }\n"),
            "x.yaml:3:49: nodes.h1.nics.1.attach: a namespace, virtual machine or application has all NICs of its "
            "host; expected the same `attach` for each NIC");
}

TEST(MadeHosts, AreThoseOfAProfileThatDoNotSayOtherwise) {
  const Lab lab = parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }\n"
      "hosts: { default: { attach: namespace }, built-in: {} }\n"
      "nodes: { h2: { attach: vm }, h3: { profile: built-in }, h4: { attach: { tap: t4 } } }\nrun: { clock: wall }\n",
      "x.yaml");
  EXPECT_EQ(lab.find("h1")->nics[0].attach, Attachment{AttachNamespace{}});
  EXPECT_EQ(lab.find("h2")->nics[0].attach, Attachment{AttachVm{}});
  EXPECT_EQ(lab.find("h3")->nics[0].attach, Attachment{});
  EXPECT_EQ(lab.find("h4")->nics[0].attach, Attachment{AttachTap{"t4"}});
  EXPECT_EQ(parse(to_yaml(lab), "again"), lab);
}

TEST(SharedMemory, IsMadeByUsOrByTheOtherSide) {
  const Lab lab = parse(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }\n"
      "nodes: { h1: { attach: { vhost-user: /tmp/a } }, h2: { attach: { vhost-user-client: /tmp/b } },\n"
      "  h3: { attach: { memif: { socket: /tmp/c } } },\n"
      "  h4: { attach: { memif: { socket: /tmp/c, role: client, id: 7 } } } }\nrun: { clock: wall }\n",
      "x.yaml");
  EXPECT_EQ(lab.find("h1")->nics[0].attach, (Attachment{AttachVhostUser{"/tmp/a", false}}));
  EXPECT_EQ(lab.find("h2")->nics[0].attach, (Attachment{AttachVhostUser{"/tmp/b", true}}));
  EXPECT_EQ(lab.find("h3")->nics[0].attach, (Attachment{AttachMemif{"/tmp/c", false, 0}}));
  EXPECT_EQ(lab.find("h4")->nics[0].attach, (Attachment{AttachMemif{"/tmp/c", true, 7}}));
  EXPECT_EQ(parse(to_yaml(lab), "again"), lab);
}

TEST(Nodes, ReplaceTheKeysOfAPresetsNode) {
  const Lab lab = parse(kPreset +
                            "switches: { big: { buffer: 64MiB } }\n"
                            "nodes:\n"
                            "  leaf1: { profile: big, vlans: { 1: { native: 5 } } }\n"
                            "  h3: { address: 10.77.0.1 }\n",
                        "x.yaml");
  const NodeSpec& leaf1 = *lab.find("leaf1");
  EXPECT_EQ(leaf1.profile, "big");
  EXPECT_EQ(leaf1.role, "leaf");
  EXPECT_EQ(leaf1.vlans.at(1).native, 5);
  EXPECT_EQ(leaf1.place.line, 5);
  EXPECT_EQ(lab.find("leaf2")->profile, "default");
  EXPECT_EQ(to_string(*lab.find("h3")->nics[0].address_v4), "10.77.0.1");
  EXPECT_EQ(to_string(*lab.find("h4")->nics[0].address_v4), "10.0.1.2");
  EXPECT_EQ(lab.nodes.size(), 2u + 1 + 4);
}

TEST(Nodes, AreAddedToAPresets) {
  const Lab lab =
      parse(kPreset + "nodes: { extra: { kind: host } }\nlinks: [[extra:1, spine1:3, { rate: 25Gbps }]]\n", "x.yaml");
  EXPECT_EQ(lab.nodes.back().name, "extra");
  EXPECT_EQ(lab.links.back().rate, 25_Gbps);
  EXPECT_EQ(to_string(*lab.nodes.back().nics[0].address_v4), "10.0.2.1");  // spine1 is the third switch with hosts
}

TEST(Nodes, KeepTheKindOfAPresets) {
  EXPECT_EQ(error_of(kPreset + "nodes: { leaf1: { kind: host } }\n"),
            "x.yaml:3:25: nodes.leaf1.kind: leaf1 is a switch of the preset; expected this kind, or another name");
  EXPECT_EQ(error_of(kPreset + "nodes: { leaf1: { kind: switch } }\n"), "(no error)");
  EXPECT_EQ(error_of(kPreset + "nodes: { leaf3: { profile: default } }\n"),
            "x.yaml:3:17: nodes.leaf3: key 'kind' is missing: switch, host or trunk");
}

TEST(Links, HaveTheDefaultsOfTheFile) {
  const Lab lab = parse(
      "name: x\ndefaults: { link: { rate: 400Gbps, delay: 100ns } }\nnodes: { s: { kind: switch }, a: { kind: host }, "
      "b: { kind: "
      "host } }\nlinks: [[a:1, s:1], [b:1, s:2, { cable: 10m, mtu: 1500 }]]\n",
      "x.yaml");
  EXPECT_EQ(lab.links[0].rate, 400_Gbps);
  EXPECT_EQ(lab.links[0].delay, 100_ns);
  EXPECT_EQ(lab.links[0].cable, std::nullopt);
  EXPECT_EQ(lab.links[1].rate, 400_Gbps);
  EXPECT_EQ(lab.links[1].delay, 50_ns);
  EXPECT_EQ(lab.links[1].cable, Length{10'000});
  EXPECT_EQ(lab.links[1].mtu, 1500);
}

TEST(Sections, MayBeEmpty) {
  const Lab lab = parse_small_with("qos:\nswitches:\nhosts:\ndefaults:\ntraffic:\n");
  EXPECT_TRUE(lab.traffic.empty());
  EXPECT_TRUE(lab.qos.at("default").classes[3].lossless);
  EXPECT_EQ(lab.switches.size(), 1u);
  EXPECT_EQ(lab.hosts.size(), 1u);
}

TEST(Lab, FindsNodesByName) {
  const Lab lab = parse(kSmall, "x.yaml");
  EXPECT_EQ(lab.find("h2"), &lab.nodes[2]);
  EXPECT_EQ(lab.find("h3"), nullptr);
}

}  // namespace
}  // namespace railyard::spec
