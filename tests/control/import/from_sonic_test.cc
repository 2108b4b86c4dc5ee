// What a SONiC switch is told arrives in the fabric file with the right number.
#include "control/import/from_sonic.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/port_class.h"
#include "tests/control/import/sample.h"

namespace railyard::importing {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(FromSonic, APortIsALinkToItsNeighbour) {
  const spec::Lab lab = lab_of(sample());
  EXPECT_EQ(lab.name, "t0-1");
  ASSERT_EQ(lab.links.size(), 36u);
  const spec::LinkSpec& server = lab.links[0];
  EXPECT_THAT(server, LeadsTo("gpu01", 100));
  EXPECT_EQ(server.b, (spec::PortName{"t0-1", 1}));
  EXPECT_EQ(server.mtu, 9100);
  EXPECT_EQ(server.cable, spec::Length{5'000});
  const spec::LinkSpec& uplink = lab.links[35];
  EXPECT_THAT(uplink, LeadsTo("t1-4", 400));
  EXPECT_EQ(uplink.b, (spec::PortName{"t0-1", 36}));
  EXPECT_EQ(uplink.cable, spec::Length{40'000});
}

TEST(FromSonic, ALosslessGroupHasTheThresholdsOfItsProfile) {
  const spec::Lab lab = lab_of(sample());
  for (const std::size_t c : {std::size_t{3}, std::size_t{4}}) {
    const spec::TrafficClass& t = class_in(lab, c);
    EXPECT_TRUE(t.lossless);
    EXPECT_EQ(t.alpha_exponent, -3);  // dynamic_th -3
    EXPECT_EQ(t.headroom, Bytes{66'560});
    EXPECT_EQ(t.xon_offset, Bytes{2'288});
    EXPECT_EQ(t.reserved, Bytes{1'248});
    EXPECT_EQ(t.xoff, std::nullopt);
    EXPECT_EQ(t.weight, 15);
    EXPECT_FALSE(t.strict);
  }
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{6}})
    EXPECT_FALSE(class_in(lab, c).lossless) << c;
}

TEST(FromSonic, HeadroomFollowsRateAndCable) {
  const spec::Lab lab = lab_of(sample());
  EXPECT_EQ(class_at_port(lab, 1, 3).headroom, Bytes{66'560});
  EXPECT_EQ(class_at_port(lab, 36, 3).headroom, Bytes{184'704});
  SampleJson one = sample();
  one["BUFFER_PG"]["Ethernet0|3-4"]["profile"] = "pg_lossless_400000_40m_profile";
  EXPECT_EQ(class_at_port(lab_of(one), 1, 3).headroom, Bytes{184'704});
  EXPECT_EQ(class_at_port(lab_of(one), 2, 3).headroom, Bytes{66'560});
}

TEST(FromSonic, GreenThresholdsAreThoseOfEcn) {
  const spec::Ecn ecn = class_in(lab_of(sample()), 3).ecn;
  EXPECT_THAT(ecn, Marks(1'048'576, 2'097'152, 5));
  EXPECT_FALSE(class_in(lab_of(sample()), 0).ecn.enabled);
}

TEST(FromSonic, WredWithoutEcnDropsInALossyClass) {
  SampleJson config = sample();
  config["WRED_PROFILE"]["AZURE_LOSSLESS"]["ecn"] = "ecn_none";
  config["QUEUE"]["Ethernet0|0-2"]["wred_profile"] = "AZURE_LOSSLESS";
  for (auto& [key, row] : config["QUEUE"].items())
    if (key.ends_with("|0-2")) row["wred_profile"] = "AZURE_LOSSLESS";
  const spec::Lab lab = lab_of(config);
  ASSERT_TRUE(class_in(lab, 1).drop.all);
  EXPECT_EQ(class_in(lab, 1).drop.all->min, Bytes{1'048'576});
  EXPECT_EQ(class_in(lab, 1).drop.all->max, Bytes{2'097'152});
  EXPECT_EQ(class_in(lab, 1).drop.all->probability_ppm, 50'000u);
  EXPECT_FALSE(class_in(lab, 3).ecn.enabled);
  EXPECT_THAT(imported(config), HasSubstr("lossless class 3 has no early drops"));
}

TEST(FromSonic, ADscpLeadsToTheQueueOfItsTrafficClass) {
  SampleJson config = sample();
  const spec::QosProfile profile = profile_in(lab_of(config));
  EXPECT_THAT(profile.dscp_to_class, LeadsCodePoints({{26, 3}, {4, 4}, {46, 5}, {48, 6}, {8, 0}, {63, 1}}));
  config["TC_TO_QUEUE_MAP"]["AZURE"]["5"] = "2";
  EXPECT_EQ(profile_in(lab_of(config)).dscp_to_class[46], 2);
}

TEST(FromSonic, LossyQueuesHaveTheirLimits) {
  const spec::Lab lab = lab_of(sample());
  EXPECT_EQ(class_in(lab, 0).queue_alpha_exponent, -1);  // dynamic_th -1
  EXPECT_EQ(class_in(lab, 0).queue_reserved, Bytes{1'664});
  EXPECT_EQ(class_in(lab, 0).xoff, Bytes{32'822'528});  // static_th of the ingress group
  EXPECT_EQ(class_in(lab, 0).weight, 14);
}

TEST(FromSonic, AQueueTrimsAsTheSwitchIsTold) {
  const std::optional<spec::Trim> trim = class_in(lab_of(sample()), 1).trim;
  ASSERT_TRUE(trim);
  EXPECT_EQ(trim->keep, 256u);
  EXPECT_EQ(trim->dscp, 48);
  EXPECT_EQ(trim->to_class, 6);
  EXPECT_FALSE(class_in(lab_of(sample()), 0).trim);
}

TEST(FromSonic, TheDscpOfTrimmedPacketsMayFollowFromATrafficClass) {
  SampleJson config = sample();
  config["SWITCH_TRIMMING"]["GLOBAL"] = {
      {"size", "256"}, {"dscp_value", "from-tc"}, {"tc_value", "5"}, {"queue_index", "dynamic"}};
  config["TC_TO_DSCP_MAP"]["HOSTS"]["5"] = "46";
  for (auto& [port, row] : config["PORT_QOS_MAP"].items())
    if (port != "global") row["tc_to_dscp_map"] = "HOSTS";
  const std::optional<spec::Trim> trim = class_in(lab_of(config), 1).trim;
  ASSERT_TRUE(trim);
  EXPECT_EQ(trim->dscp, 46);
  EXPECT_EQ(trim->to_class, 5);
}

TEST(FromSonic, WatchdogTimesAreMilliseconds) {
  const std::optional<spec::PfcWatchdog> w = watchdog_in(lab_of(sample()));
  ASSERT_TRUE(w);
  EXPECT_THAT(w, HasTimes(milliseconds(200), milliseconds(400), milliseconds(200)));
  EXPECT_EQ(w->action, spec::PfcWatchdog::Action::kDrop);
}

// 32 x 100G and 4 x 400G, two groups each.
constexpr std::int64_t kHeadroomOfAll = 2 * (32 * 66'560 + 4 * 184'704);

TEST(FromSonic, TheBufferIsTheSharedPartAndTheHeadroom) {
  // The egress pool is as large as both: the headroom is beside the pool.
  EXPECT_EQ(lab_of(sample()).switches.at("default").buffer, Bytes{26'531'072 + kHeadroomOfAll});
  SampleJson within = sample();
  within["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "26531072";
  EXPECT_EQ(lab_of(within).switches.at("default").buffer, Bytes{26'531'072 - 6'291'456 + kHeadroomOfAll});
}

TEST(FromSonic, HeadroomThatIsTooLittleForAllIsAPool) {
  SampleJson config = sample();
  config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = "4194304";
  const spec::Lab lab = lab_of(config);
  EXPECT_EQ(lab.switches.at("default").buffer, Bytes{26'531'072 + 4'194'304});
  EXPECT_EQ(lab.switches.at("default").headroom_pool, Bytes{4'194'304});
  EXPECT_EQ(class_in(lab, 3).headroom, std::nullopt);
  EXPECT_TRUE(class_in(lab, 3).accept_loss);
}

TEST(FromSonic, HeadroomInTheSizeOfAGroupIsOutsideOfThePool) {
  SampleJson config = sample();
  config["BUFFER_POOL"]["ingress_lossless_pool"].erase("xoff");
  for (const char* name : {"pg_lossless_100000_5m_profile", "pg_lossless_400000_40m_profile"})
    config["BUFFER_PROFILE"][name] = {
        {"pool", "ingress_lossless_pool"}, {"size", "86016"}, {"xon", "19456"}, {"xoff", "66560"}, {"dynamic_th", "0"}};
  const spec::Lab lab = lab_of(config);
  EXPECT_EQ(class_in(lab, 3).headroom, Bytes{66'560});
  EXPECT_EQ(class_in(lab, 3).reserved, Bytes{19'456});
  EXPECT_EQ(class_in(lab, 3).alpha_exponent, 0);
  EXPECT_EQ(lab.switches.at("default").buffer, Bytes{26'531'072 + 36 * 2 * 86'016});
}

TEST(FromSonic, TheOldSyntaxSaysTheSame) {
  SampleJson old = sample();
  const auto bracket = [&](const char* table, const char* field, const std::string& of) {
    for (auto& [key, row] : old[table].items())
      if (row.contains(field)) row[field] = "[" + of + "|" + row[field].get<std::string>() + "]";
  };
  bracket("BUFFER_PROFILE", "pool", "BUFFER_POOL");
  bracket("BUFFER_PG", "profile", "BUFFER_PROFILE");
  bracket("BUFFER_QUEUE", "profile", "BUFFER_PROFILE");
  bracket("QUEUE", "scheduler", "SCHEDULER");
  bracket("QUEUE", "wred_profile", "WRED_PROFILE");
  bracket("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP");
  bracket("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP");
  bracket("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP");
  bracket("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
  EXPECT_EQ(imported(old), imported(sample()));
}

TEST(FromSonic, OneKeyMayNameSeveralPorts) {
  SampleJson config = sample();
  std::string ports;
  for (const auto& [port, row] : config["PORT"].items()) ports += (ports.empty() ? "" : ",") + port;
  SampleJson queues;
  queues[ports + "|0-2"]["scheduler"] = "scheduler.0";
  queues[ports + "|3-4"] = {{"scheduler", "scheduler.1"}, {"wred_profile", "AZURE_LOSSLESS"}};
  queues[ports + "|5-6"]["scheduler"] = "scheduler.0";
  config["QUEUE"] = queues;
  EXPECT_EQ(imported(config), imported(sample()));
}

TEST(FromSonic, TheLookupTableGivesGroupsWithoutProfiles) {
  const PgProfileLookup lookup("100000 5m 1248 2288 70000 -2 3000\n400000 40m 1248 2288 190000 -1 3000\n",
                               "pg_profile_lookup.ini");
  SampleJson missing = sample();
  SampleJson named = sample();
  SampleJson lossy;
  for (const auto& [key, row] : missing["BUFFER_PG"].items())
    if (!key.ends_with("3-4")) lossy[key] = row;
  missing["BUFFER_PG"] = lossy;
  for (const char* profile : {"pg_lossless_100000_5m_profile", "pg_lossless_400000_40m_profile"}) {
    missing["BUFFER_PROFILE"].erase(profile);
    named["BUFFER_PROFILE"].erase(profile);
  }
  for (const SampleJson& config : {missing, named}) {
    const spec::Lab lab = lab_of(config, lookup);
    EXPECT_EQ(class_at_port(lab, 1, 3).headroom, Bytes{70'000});
    EXPECT_EQ(class_at_port(lab, 1, 3).alpha_exponent, -2);
    EXPECT_EQ(class_at_port(lab, 1, 3).xon_offset, Bytes{3'000});
    EXPECT_EQ(class_at_port(lab, 36, 3).headroom, Bytes{190'000});
    EXPECT_EQ(class_at_port(lab, 36, 3).alpha_exponent, -1);
  }
  EXPECT_THAT(imported(sample(), PgProfileLookup("100000 5m 1248 2288 70000 -2\n", "unused.ini")),
              HasSubstr("unused.ini: all of it, since each lossless group has a profile"));
  // What the switch computes, Railyard computes.
  EXPECT_EQ(class_at_port(lab_of(missing), 1, 3).headroom, std::nullopt);
  EXPECT_TRUE(class_at_port(lab_of(missing), 1, 3).lossless);
}

TEST(FromSonic, APortMayBeWithoutPfc) {
  SampleJson config = sample();
  config["PORT_QOS_MAP"]["Ethernet0"].erase("pfc_enable");
  config["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"] = "4";
  const spec::Lab lab = lab_of(config);
  const auto pauses = [&](const char* node, int port) {
    return spec::pfc_at(lab, *lab.find(node), port, BitRate{100'000'000'000}).tx;
  };
  EXPECT_EQ(pauses("t0-1", 1), 0);
  EXPECT_EQ(pauses("t0-1", 2), 1 << 4);
  EXPECT_EQ(pauses("t0-1", 3), 1 << 3 | 1 << 4);
  EXPECT_EQ(pauses("gpu01", 1), 0);
}

TEST(FromSonic, APortThatIsDownKeepsItsNumberAndHasNoLink) {
  SampleJson config = sample();
  config["PORT"]["Ethernet4"]["admin_status"] = "down";
  config["PORT"]["Ethernet8"].erase("admin_status");
  const spec::Lab lab = lab_of(config);
  EXPECT_EQ(lab.links.size(), 34u);
  EXPECT_EQ(lab.links[1].b, (spec::PortName{"t0-1", 4}));
  EXPECT_EQ(lab.find("gpu02"), nullptr);
  EXPECT_THAT(imported(config), HasSubstr("PORT|Ethernet4: admin_status (down: the port has no link)"));
}

TEST(FromSonic, HostsWithoutNamesAreNumberedAndNamesAreOnce) {
  SampleJson config = sample();
  config["DEVICE_NEIGHBOR"].erase("Ethernet0");
  config["DEVICE_NEIGHBOR"]["Ethernet8"]["name"] = "gpu02";
  config["DEVICE_NEIGHBOR"]["Ethernet12"]["name"] = "rack 7/gpu.4";
  const spec::Lab lab = lab_of(config);
  EXPECT_EQ(lab.links[0].a.node, "h1");
  EXPECT_EQ(lab.links[1].a.node, "gpu02");
  EXPECT_EQ(lab.links[2].a.node, "gpu02-2");
  EXPECT_EQ(lab.links[3].a.node, "rack-7-gpu-4");
}

TEST(FromSonic, TheTrafficIsAnIncastInTheLosslessClass) {
  const spec::Lab lab = lab_of(sample());
  ASSERT_EQ(lab.traffic.size(), 1u);
  const spec::TrafficSpec& t = lab.traffic[0];
  EXPECT_EQ(t.pattern, spec::TrafficSpec::Pattern::kIncast);
  EXPECT_EQ(t.transport, spec::TrafficSpec::Transport::kRoce);
  EXPECT_EQ(t.from.size(), 32u);
  EXPECT_EQ(t.from.front(), "gpu02");
  EXPECT_EQ(t.to, std::vector<std::string>{"gpu01"});
  EXPECT_EQ(t.dscp, 26);
  EXPECT_THAT(imported(sample()), HasSubstr("32:1 incast in lossless class 3"));
}

TEST(FromSonic, EachFieldWithoutACounterpartIsListed) {
  const std::string text = imported(sample());
  EXPECT_THAT(text, HasSubstr("#   BGP_NEIGHBOR|10.0.0.1: asn, name, local_addr\n"));
  EXPECT_THAT(text, HasSubstr("#   LOOPBACK_INTERFACE|Loopback0|10.1.0.32/32: no fields\n"));
  EXPECT_THAT(text, HasSubstr("#   PORT|Ethernet0, Ethernet4 .. Ethernet140 (36 keys): alias, index, lanes, fec\n"));
  EXPECT_THAT(
      text,
      HasSubstr("#   BUFFER_POOL|egress_lossless_pool, egress_lossy_pool: size (a fabric file has one buffer)\n"));
  EXPECT_THAT(text, HasSubstr("yellow_min_threshold"));
  EXPECT_THAT(text, Not(HasSubstr("green_min_threshold")));
}

TEST(FromSonic, NothingNewIsDroppedSilently) {
  SampleJson config = sample();
  config["PORT"]["Ethernet0"]["new_field"] = "1";
  config["SCHEDULER"]["scheduler.0"]["pir"] = "1000";
  config["NEW_TABLE"]["key"]["field"] = {"a", "b"};
  config["CACHED"] = 3;
  config["BUFFER_PROFILE"]["spare"] = {{"pool", "egress_lossy_pool"}, {"size", "0"}};
  EXPECT_THAT(imported(config), AllOf(HasSubstr("PORT|Ethernet0: alias, index, lanes, fec, new_field"),
                                      HasSubstr("SCHEDULER|scheduler.0: pir"), HasSubstr("NEW_TABLE|key: field"),
                                      HasSubstr("CACHED: no table"), HasSubstr("BUFFER_PROFILE|spare: pool, size")));
}

TEST(FromSonic, WhatMostPortsHaveIsTheProfileAndTheRestIsListed) {
  SampleJson config = sample();
  config["DSCP_TO_TC_MAP"]["UPLINK"] = config["DSCP_TO_TC_MAP"]["AZURE"];
  config["PORT_QOS_MAP"]["Ethernet140"]["dscp_to_tc_map"] = "UPLINK";
  config["QUEUE"]["Ethernet0|0-2"]["scheduler"] = "scheduler.1";
  config["PFC_WD"]["Ethernet0"]["action"] = "forward";
  const std::string text = imported(config);
  EXPECT_THAT(text, HasSubstr("PORT_QOS_MAP|Ethernet140: dscp_to_tc_map (not as at most ports"));
  EXPECT_THAT(text, HasSubstr("QUEUE|Ethernet0|0-2: scheduler (not as at most ports"));
  EXPECT_THAT(text, HasSubstr("PFC_WD|Ethernet0: action, detection_time, restoration_time (not as at most ports"));
  EXPECT_EQ(class_in(lab_of(config), 0).weight, 14);
}

TEST(FromSonic, TheProfileAloneCanBePasted) {
  const std::string text = from_sonic(sample().dump(), "config_db.json", {}, true);
  EXPECT_THAT(text, Not(HasSubstr("links:")));
  const std::string fabric =
      text + "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n";
  EXPECT_EQ(spec::parse(fabric, "x.yaml").qos.at("default"), profile_in(lab_of(sample())));
}

TEST(FromSonic, TheFormatFollowsFromTheContent) {
  EXPECT_TRUE(is_config_db(sample().dump(), "x"));
  EXPECT_TRUE(is_config_db("not json", "config_db.json"));
  EXPECT_FALSE(is_config_db("name: lab\ntopology:\n  nodes: {}\n", "lab.clab.yml"));
  EXPECT_FALSE(is_config_db(R"({"name": "lab", "topology": {"nodes": {}}})", "lab.clab.json"));
  EXPECT_FALSE(is_config_db("{ name: lab, topology: { nodes: {} } }", "lab.clab.yml"));
}

}  // namespace
}  // namespace railyard::importing
