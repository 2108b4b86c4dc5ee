// Counters of real devices: what is read, what rules make of it, what is said of those that cannot look.
#include "control/doctor/readers/gathered.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/doctor/rule.h"
#include "control/doctor/table.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Readers : public testing::Test {
 protected:
  Readers() { std::filesystem::create_directories(dir_); }
  ~Readers() override { std::filesystem::remove_all(dir_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  // "rule at element"
  static std::vector<std::string> found(const std::vector<std::string>& files) {
    const auto c = read_counters(files);
    std::vector<std::string> out;
    for (const auto& [rule, d] : diagnose(*c)) out.push_back(std::string(rule->id) + " at " + d.element);
    return out;
  }

 private:
  std::filesystem::path dir_ = std::filesystem::temp_directory_path() / ("doctor-readers-" + std::to_string(getpid()));
};

TEST_F(Readers, EthtoolOfAHost) {
  const std::string healthy =
      "NIC statistics:\n     rx_prio3_pause: 12\n     tx_prio3_pause: 0\n     rx_crc_errors_phy: 0\n"
      "     np_ecn_marked_roce_packets: 900\n     np_cnp_sent: 450\n     ch0_events: 7\n";
  EXPECT_THAT(found({file("h1.txt", healthy)}), IsEmpty());
  EXPECT_THAT(found({file("h2.txt",
                          "NIC statistics:\n     tx_prio3_pause: 5000\n     rx_crc_errors_phy: 31\n"
                          "     np_ecn_marked_roce_packets: 900\n     np_cnp_sent: 0\n     link_down_events_phy: 3\n")}),
              testing::UnorderedElementsAre("frame-errors at h2:1", "link-flapping at h2:1", "slow-receiver at h2",
                                            "ecn-not-echoed at h2"));
}

TEST_F(Readers, RdmaCountersOfLinux) {
  EXPECT_THAT(found({file("h3.txt",
                          "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:400\n"
                          "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/duplicate_request:3\n")}),
              ElementsAre("rdma-loss at h3"));
}

TEST_F(Readers, SonicsDatabase) {
  const std::string dump = R"({
    "COUNTERS_PORT_NAME_MAP": {"type": "hash", "value": {"Ethernet0": "oid:0x1"}},
    "COUNTERS_QUEUE_NAME_MAP": {"type": "hash", "value": {"Ethernet0:3": "oid:0x2"}},
    "COUNTERS_PG_NAME_MAP": {"type": "hash", "value": {"Ethernet0:3": "oid:0x3"}},
    "COUNTERS:oid:0x1": {"type": "hash", "value": {"SAI_PORT_STAT_IF_IN_ERRORS": "12", "SAI_PORT_STAT_PFC_3_TX_PKTS": "40"}},
    "COUNTERS:oid:0x2": {"type": "hash", "value": {"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2"}},
    "COUNTERS:oid:0x3": {"type": "hash", "value": {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": "9"}}})";
  EXPECT_THAT(found({file("tor1.json", dump)}),
              testing::UnorderedElementsAre("frame-errors at tor1:Ethernet0", "pfc-storm at tor1:Ethernet0",
                                            "headroom-small at tor1:Ethernet0"));
}

TEST_F(Readers, SonicsTables) {
  EXPECT_THAT(found({file("tor2.json",
                          R"({"Ethernet4": {"STATE": "U", "RX_OK": "1,234", "RX_ERR": "7", "RX_DRP": "0", "TX_OK": "99"}})")}),
              ElementsAre("frame-errors at tor2:Ethernet4"));
  const auto c = read_counters({file("tor3.txt",
                                     "  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
                                     "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
                                     "Ethernet0       0       0       0   1,200       0       0       0       0\n")});
  ASSERT_EQ(c->ports().size(), 1u);
  EXPECT_EQ(c->ports()[0].classes[3].xoff_received, 1200u);
}

TEST_F(Readers, AnswersOfPrometheus) {
  const std::string answer = R"({"status": "success", "data": {"resultType": "vector", "result": [
    {"metric": {"__name__": "railyard_drops_total", "switch": "leaf1", "port": "3", "reason": "fcs_error"}, "value": [1, "5"]},
    {"metric": {"__name__": "node_ethtool_transmitted_prio3_pause", "instance": "h7:9100", "device": "eth0"}, "value": [1, "800"]},
    {"metric": {"__name__": "up", "instance": "h7:9100"}, "value": [1, "1"]}]}})";
  EXPECT_THAT(found({file("prometheus.json", answer)}),
              testing::UnorderedElementsAre("frame-errors at leaf1:3", "slow-receiver at h7"));
}

// Shares of damaged frames are of all frames of the port, not of those of priorities that happen to be listed.
TEST_F(Readers, TheFramesOfAPortAreCounted) {
  const auto received = [&](const std::string& name, const std::string& text) {
    const auto c = read_counters({file(name, text)});
    return c->ports().at(0).rx();
  };
  EXPECT_EQ(received("h1.txt", "  rx_packets_phy: 1000000\n  rx_prio3_packets: 400\n  rx_crc_errors_phy: 31\n"), 1'000'000u);
  EXPECT_EQ(received("h2.txt", "  rx_prio3_packets: 400\n  rx_prio0_packets: 100\n  rx_crc_errors_phy: 31\n"), 500u);
  EXPECT_EQ(received("tor.json", R"({"Ethernet0": {"RX_OK": "1,234", "RX_ERR": "7"}})"), 1'234u);
  EXPECT_EQ(received("tor1.json", R"({
    "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"},
    "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_ERRORS": "12", "SAI_PORT_STAT_IF_IN_UCAST_PKTS": "5000",
                         "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS": "20"}})"),
            5'020u);
}

TEST_F(Readers, SinceWhenCountersCountIsSaid) {
  const auto said = [&](const std::string& name, const std::string& contents) {
    const auto c = read_counters({file(name, contents)});
    return text(*c, name, diagnose(*c), 5);
  };
  EXPECT_THAT(said("h1.txt", "  rx_crc_errors_phy: 31\n"), HasSubstr("since the driver of the NIC was loaded"));
  EXPECT_THAT(said("tor.json", R"({"Ethernet0": {"RX_OK": "9", "RX_ERR": "7"}})"), HasSubstr("sonic-clear counters"));
  const std::string sample =
      R"("metric": {"__name__": "node_ethtool_received_crc_errors_phy", "instance": "h1:9100", "device": "eth0"})";
  EXPECT_THAT(said("p.json", R"({"data": {"resultType": "vector", "result": [{)" + sample + R"(, "value": [1, "5"]}]}})"),
              HasSubstr("since the start of each device"));
  EXPECT_THAT(said("m.json", R"({"data": {"resultType": "matrix", "result": [{)" + sample +
                                 R"(, "values": [[1, "5"], [61, "8"]]}]}})"),
              HasSubstr("growth within the range"));
  const auto c = read_counters({file("h2.txt", "  rx_crc_errors_phy: 0\n")});
  EXPECT_THAT(json(*c, "h2", {})["counters"].dump(), HasSubstr("ethtool"));
}

TEST_F(Readers, RulesThatCannotLookAreNamed) {
  const auto c = read_counters({file("h1.txt", "     rx_crc_errors_phy: 0\n")});
  const std::string said = text(*c, "h1", diagnose(*c), 5);
  EXPECT_THAT(said, HasSubstr("Not looked at, for lack of:"));
  EXPECT_THAT(said, HasSubstr("\n  both ends of links: "));
  EXPECT_THAT(said, HasSubstr("one-way-loss"));
  const auto blind = json(*c, "h1", {})["not_looked_at"];
  EXPECT_THAT(blind.dump(), HasSubstr("one-way-loss"));
  EXPECT_THAT(blind.dump(), Not(HasSubstr("frame-errors")));
}

TEST_F(Readers, WhatIsNoneOfThemIsNamed) {
  EXPECT_THAT([&] { read_counters({file("a.txt", "hello\n")}); },
              testing::ThrowsMessage<InputError>(HasSubstr("a.txt: no counter in it is known")));
  EXPECT_THAT([&] { read_counters({file("b.txt", "  rx_crc_errors_phy: many\n")}); },
              testing::ThrowsMessage<InputError>(HasSubstr("b.txt:1: rx_crc_errors_phy: 'many' is no count")));
  EXPECT_THAT([&] { read_counters({file("c.json", R"({"run": {}, "flows": []})")}); },
              testing::ThrowsMessage<InputError>(HasSubstr("c.json: a report of Railyard")));
  EXPECT_THAT([] { read_counters({"/none.txt"}); }, testing::ThrowsMessage<InputError>(HasSubstr("/none.txt: cannot be read")));
}

}  // namespace
}  // namespace railyard::doctor
