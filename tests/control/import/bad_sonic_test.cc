// Configurations that contradict themselves: one error with table, key, field, what was found and what was expected.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "tests/control/import/sample.h"

namespace railyard::importing {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const spec::SpecError& e) {
    return e.what();
  }
  return "no error";
}

struct BadCase {
  const char* name;
  std::function<void(SampleJson&)> change;
  const char* message;  // after "config_db.json: "
};

const std::vector<BadCase>& bad_cases() {
  static const std::vector<BadCase> cases{
      {"KminAboveKmax", [](SampleJson& c) { c["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = "3000000"; },
       "WRED_PROFILE|AZURE_LOSSLESS: green_min_threshold: found 3000000, above green_max_threshold, expected at most "
       "2097152"},
      {"MissingPool", [](SampleJson& c) { c["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]["pool"] = "lake"; },
       "BUFFER_PROFILE|pg_lossless_100000_5m_profile: pool: found 'lake', expected a name in BUFFER_POOL: "
       "ingress_lossless_pool, egress_lossless_pool, "
       "egress_lossy_pool"},
      {"MissingProfile", [](SampleJson& c) { c["BUFFER_QUEUE"]["Ethernet0|0"]["profile"] = "nobody"; },
       "BUFFER_QUEUE|Ethernet0|0: profile: found 'nobody', expected a name in BUFFER_PROFILE: ingress_lossy_profile, "
       "egress_lossless_profile .. "
       "pg_lossless_400000_40m_profile (6 keys)"},
      {"ProfileOfTheLookup", [](SampleJson& c) { c["BUFFER_PROFILE"].erase("pg_lossless_100000_5m_profile"); },
       "BUFFER_PG|Ethernet0|3-4: profile: found 'pg_lossless_100000_5m_profile', expected a name in BUFFER_PROFILE, or "
       "--lookup with a "
       "pg_profile_lookup.ini that has it"},
      {"TrafficClassNine", [](SampleJson& c) { c["DSCP_TO_TC_MAP"]["AZURE"]["10"] = "9"; },
       "DSCP_TO_TC_MAP|AZURE: 10: found '9', expected a whole number, 0..7"},
      {"DscpAbove63", [](SampleJson& c) { c["DSCP_TO_TC_MAP"]["AZURE"]["64"] = "1"; },
       "DSCP_TO_TC_MAP|AZURE: 64: found the field '64', expected 0..63"},
      {"PfcOnAQueueThatNoMapLeadsTo", [](SampleJson& c) { c["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,7"; },
       "PORT_QOS_MAP|Ethernet0: pfc_enable: found priority 7, whose queue 7 (MAP_PFC_PRIORITY_TO_QUEUE|AZURE) no DSCP "
       "leads to, expected priorities of queues that carry packets: 0, 1, 2, 3, 4, 5, 6"},
      {"PfcWithoutHeadroom", [](SampleJson& c) { c["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,0"; },
       "PORT_QOS_MAP|Ethernet0: pfc_enable: found priority 0, whose group has the profile 'ingress_lossy_profile' without "
       "xoff (BUFFER_PG|Ethernet0|0), expected priorities whose groups have headroom, or a profile with xoff for this "
       "group"},
      {"AGroupOfPfcWithoutHeadroom",
       [](SampleJson& c) { c["BUFFER_PG"]["Ethernet4|3-4"]["profile"] = "ingress_lossy_profile"; },
       "PORT_QOS_MAP|Ethernet4: pfc_enable: found priority 3, whose group has the profile 'ingress_lossy_profile' without "
       "xoff (BUFFER_PG|Ethernet4|3-4), expected priorities whose groups have headroom, or a profile with xoff for this "
       "group"},
      {"UnknownSpeed", [](SampleJson& c) { c["PORT"]["Ethernet8"]["speed"] = "123456"; },
       "PORT|Ethernet8: speed: found '123456', expected one of 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, "
       "100000, 200000, 400000, 800000, "
       "1600000 (Mb/s)"},
      {"NoSpeed", [](SampleJson& c) { c["PORT"]["Ethernet8"].erase("speed"); },
       "PORT|Ethernet8: speed: found nothing, expected a speed in Mb/s, such as 100000"},
      {"NoNumber", [](SampleJson& c) { c["BUFFER_PROFILE"]["egress_lossy_profile"]["size"] = "1 KB"; },
       "BUFFER_PROFILE|egress_lossy_profile: size: found '1 KB', expected a whole number, 0..1099511627776"},
      {"ThresholdOutOfRange", [](SampleJson& c) { c["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] = "8"; },
       "BUFFER_PROFILE|egress_lossy_profile: dynamic_th: found '8', expected a whole number, -8..7"},
      {"UnknownPort", [](SampleJson& c) { c["BUFFER_PG"]["Ethernet999|3-4"]["profile"] = "ingress_lossy_profile"; },
       "BUFFER_PG|Ethernet999|3-4: found the port 'Ethernet999', expected a name in PORT"},
      {"NumbersOfAKey", [](SampleJson& c) { c["QUEUE"]["Ethernet0|4-3"]["scheduler"] = "scheduler.0"; },
       "QUEUE|Ethernet0|4-3: found the numbers '4-3', expected PORT|N or PORT|N-M, N and M from 0 to 63"},
      {"QueueTwice", [](SampleJson& c) { c["QUEUE"]["Ethernet0|3"]["scheduler"] = "scheduler.0"; },
       "QUEUE|Ethernet0|3: found a duplicate: queue 3 of Ethernet0, expected each queue once"},
      {"GroupOfPfcIsNotThatOfPackets",
       [](SampleJson& c) {
         c["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["3"] = "5";
         for (auto& [port, row] : c["PORT_QOS_MAP"].items())
           if (port != "global") row["pfc_to_pg_map"] = "AZURE";
       },
       "PORT_QOS_MAP|Ethernet0: pfc_to_pg_map: found priority group 5 for priority 3, expected 3, where tc_to_pg_map "
       "puts the packets of queue 3"},
      {"GroupOfPfcIsNotThatOfPacketsAtAllPorts",
       [](SampleJson& c) {
         c["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"]["AZURE"]["3"] = "5";
         for (auto& [port, row] : c["PORT_QOS_MAP"].items()) row.erase("pfc_to_pg_map");
         c["PORT_QOS_MAP"]["global"]["pfc_to_pg_map"] = "AZURE";
       },
       "PORT_QOS_MAP|global: pfc_to_pg_map: found priority group 5 for priority 3, expected 3, where tc_to_pg_map puts "
       "the packets of queue 3"},
      {"WatchdogShorterThanItsPoll", [](SampleJson& c) { c["PFC_WD"]["Ethernet0"]["detection_time"] = "100"; },
       "PFC_WD|Ethernet0: detection_time: found '100', expected a whole number, 200..60000"},
      {"TrimmingNotSet", [](SampleJson& c) { c.erase("SWITCH_TRIMMING"); },
       "SWITCH_TRIMMING|GLOBAL: found nothing, expected size, dscp_value and queue_index, since queues trim "
       "(BUFFER_PROFILE: "
       "packet_discard_action)"},
      {"Scheduler", [](SampleJson& c) { c["SCHEDULER"]["scheduler.1"]["type"] = "FIFO"; },
       "SCHEDULER|scheduler.1: type: found 'FIFO', expected DWRR, WRR or STRICT"},
      {"ARowThatIsNone", [](SampleJson& c) { c["SCHEDULER"]["scheduler.1"] = 7; },
       "SCHEDULER|scheduler.1: found number, expected an object of fields"},
      {"ATableThatIsNone", [](SampleJson& c) { c["PORT_QOS_MAP"] = 5; },
       "PORT_QOS_MAP: found number, expected an object of rows"},
      {"NoPorts", [](SampleJson& c) { c.erase("PORT"); },
       "PORT: found no ports, expected a table of ports with their speeds"},
      {"AllDown",
       [](SampleJson& c) {
         for (auto& [port, row] : c["PORT"].items()) row["admin_status"] = "down";
       },
       "PORT: found no port with a link, expected admin_status: up at one or more"},
      {"NeighbourOfNoPort", [](SampleJson& c) { c["DEVICE_NEIGHBOR"]["Ethernet1"]["name"] = "x"; },
       "DEVICE_NEIGHBOR|Ethernet1: found the port 'Ethernet1', expected a name in PORT"},
      {"Length", [](SampleJson& c) { c["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = "5 feet"; },
       "CABLE_LENGTH|AZURE: Ethernet0: found '5 feet', expected a length in metres, such as 5m"},
  };
  return cases;
}

class BadSonic : public testing::TestWithParam<BadCase> {};

TEST_P(BadSonic, IsOneError) {
  SampleJson config = sample();
  GetParam().change(config);
  EXPECT_EQ(message_of([&] { imported(config); }), std::string("config_db.json: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, BadSonic, testing::ValuesIn(bad_cases()),
                         [](const auto& info) { return info.param.name; });

std::string message_of_text(const std::string& text) {
  return message_of([&] { from_sonic(text, "x.json", {}, false); });
}

TEST(BadSonicFile, NoJson) {
  EXPECT_EQ(message_of_text("{ \"PORT\": { ").substr(0, 37), "x.json: found no JSON (line 1, column");
  EXPECT_EQ(message_of_text("").substr(0, 23), "x.json: found no JSON (");
  EXPECT_NE(message_of_text(std::string(200, '[')).find("nests too deeply"), std::string::npos);
}

TEST(BadSonicFile, JsonOfAnotherKind) {
  EXPECT_EQ(message_of_text("[1, 2]"), "x.json: found array, expected an object of tables: SONiC's config_db.json");
  EXPECT_EQ(message_of_text(R"({"nodes": {}, "links": []})"),
            "x.json: found JSON with the keys nodes, links, expected SONiC's tables: PORT, PORT_QOS_MAP, "
            "BUFFER_PROFILE, ...");
  EXPECT_EQ(message_of_text("{}"),
            "x.json: found JSON without keys, expected SONiC's tables: PORT, PORT_QOS_MAP, BUFFER_PROFILE, ...");
}

TEST(BadSonicFile, AKeyTwice) {
  EXPECT_EQ(message_of_text(R"({"PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet0": {"speed": "40000"}}})"),
            "x.json: found the key 'Ethernet0' twice in one object, expected it once");
}

TEST(BadLookup, IsOneErrorWithItsLine) {
  const auto message = [](const std::string& text) { return message_of([&] { PgProfileLookup(text, "pg.ini"); }); };
  EXPECT_EQ(message("# nothing\n"), "pg.ini: found no rows, expected speed, cable, size, xon, xoff, threshold");
  EXPECT_EQ(message("# c\n100000 5m 1248\n"),
            "pg.ini:2: found 3 columns, expected speed, cable, size, xon, xoff, threshold and perhaps xon_offset");
  EXPECT_EQ(message("100000 5m 1248 2288 many 0\n"),
            "pg.ini:1: xoff: found 'many', expected a whole number, 0..1099511627776");
  EXPECT_EQ(message("100000 five 1248 2288 1 0\n"), "pg.ini:1: cable: found 'five', expected a length such as 5m");
  EXPECT_EQ(message("100000 5m 1248 2288 1 0\n100000 5m 1 1 1 0\n"),
            "pg.ini:2: found a duplicate of 100000 and 5m, expected one line for both");
}

TEST(BadLookup, APortThatItDoesNotHaveIsAnError) {
  SampleJson config = sample();
  config["BUFFER_PG"]["Ethernet0|3-4"]["profile"] = "NULL";
  const PgProfileLookup lookup("400000 40m 1248 2288 190000 -1\n", "pg.ini");
  EXPECT_EQ(message_of([&] { imported(config, lookup); }),
            "config_db.json: PORT|Ethernet0: speed: found 100000 Mb/s and a cable of 5m, of which pg.ini has no line, "
            "expected a line for both");
}

}  // namespace
}  // namespace railyard::importing
