// What a lab prepares for applications; tests/live/verbs.sh runs them.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/daemon/application_nics.h"
#include "control/daemon/application_traffic.h"
#include "control/daemon/device_nodes.h"
#include "control/daemon/verbs_tree.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "transports/application/traffic_report.h"

namespace railyard::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLab =
    "name: x\n"
    "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }\n"
    "defaults: { link: { rate: 100Gbps, mtu: 9216 } }\n"
    "nodes: { h1: { attach: application, address: 10.9.0.1 } }\n"
    "run: { clock: wall }\n";

TEST(ApplicationNics, HaveWhatTheFabricFileSays) {
  const spec::Lab lab = spec::parse(kLab, "x.yaml");
  const auto nics = application_nics(lab);
  ASSERT_EQ(nics.size(), 1u);
  const ApplicationNic& nic = nics[0];
  EXPECT_EQ(nic.name, (spec::PortName{"h1", 1}));
  EXPECT_EQ(nic.grant.mac, *lab.find("h1")->nics[0].mac);
  EXPECT_EQ(nic.grant.address_v4, *wire::IpAddress::parse("10.9.0.1"));
  EXPECT_EQ(nic.grant.mtu, 9216u);
  EXPECT_EQ(nic.grant.rate, BitRate{100'000'000'000});
  EXPECT_EQ(nic.grant.dscp_to_class[26], 3);
  EXPECT_EQ(nic.grant.uet.job_id, 16777215u);
  EXPECT_NE(nic.grant.next_hop, wire::MacAddress{});
  EXPECT_EQ(nic.settings.default_traffic_class, 106);
  // As built-in NICs of this lab would have it: its class is marked.
  EXPECT_EQ(nic.settings.congestion.index(), roce::congestion_number<roce::Dcqcn>());
}

// The engine in an application is set as a built-in one that sends to all of them.
TEST(ApplicationNics, HaveTheUetOfTheirProfile) {
  const spec::Lab lab = spec::parse(
      "name: x\n"
      "defaults: { link: { rate: 100Gbps, mtu: 9216 } }\n"
      "nodes:\n"
      "  s: { kind: switch }\n"
      "  h1: { kind: host, attach: application }\n"
      "  h2: { kind: host, attach: application }\n"
      "links: [[h1:1, s:1], [h2:1, s:2, { rate: 10Gbps, mtu: 4000 }]]\n"
      "hosts: { default: { uet: { rto: 20ms, retries: 7, path-policy: oblivious, paths: 16, job-id: 4660 } } }\n"
      "qos: { default: { classes: { 3: { lossless: false, trim: { dscp: 40, class: 5 } } } } }\n"
      "run: { clock: wall }\n",
      "x.yaml");
  const auto nics = application_nics(lab);
  ASSERT_EQ(nics.size(), 2u);
  for (const ApplicationNic& nic : nics) {
    const uet::EngineSettings& e = nic.uet_settings.engine;
    EXPECT_EQ(e.payload_mtu, 2048u) << "the largest that fits all links";
    EXPECT_EQ(nic.grant.uet.job_id, 4660u);
    EXPECT_EQ(e.rto_init, Duration{20'000'000'000});
    EXPECT_EQ(e.retries, 7);
    EXPECT_EQ(e.multipath.policy, uet::PathPolicy::kOblivious);
    EXPECT_EQ(e.multipath.paths, 16u);
    EXPECT_EQ(e.data, Priority{3});
    EXPECT_EQ(e.control, Priority{5}) << "of DSCP 46";
    EXPECT_TRUE(e.trimming);
    const auto* const nscc = std::get_if<uet::NsccConfig>(&e.congestion);
    ASSERT_NE(nscc, nullptr);
    EXPECT_EQ(nscc->rate, BitRate{10'000'000'000}) << "of the slowest link";
    EXPECT_EQ(nscc->base_rtt, Duration{100'000'000});
    EXPECT_EQ(nic.uet_settings.encapsulation.dscp.trimmable, 26);
  }
}

// The rings are by class, as the NIC tells them.
TEST(ApplicationNics, HaveOneClassWhereTheNicTrustsNoDscp) {
  const spec::Lab lab = spec::parse(std::string(kLab) + "qos: { default: { trust: pcp, default-class: 4 } }\n", "x.yaml");
  const auto nics = application_nics(lab);
  for (const std::uint8_t c : nics[0].grant.dscp_to_class) EXPECT_EQ(c, 4);
}

TEST(ApplicationNics, SendNoFasterThanASlowedLab) {
  const spec::Lab lab = spec::parse(
      std::string(kLab).replace(std::string(kLab).find("clock: wall"), 11, "clock: wall, scale: 1/100"), "x.yaml");
  EXPECT_EQ(application_nics(lab)[0].grant.rate, BitRate{1'000'000'000});
}

TEST(ApplicationNics, NeedTheWallClock) {
  std::string lab = kLab;
  lab.replace(lab.find("run: { clock: wall }"), 20, "run: { clock: virtual }");
  try {
    spec::parse(lab, "x.yaml");
    FAIL() << "no error";
  } catch (const spec::SpecError& error) {
    EXPECT_STREQ(error.what(),
                 "x.yaml:4:24: nodes.h1.attach: attachments to the outside need the wall clock: set "
                 "run.clock: wall");
  }
}

std::string line(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

TEST(VerbsTree, IsWhatLibibverbsReads) {
  const fs::path folder = fs::temp_directory_path() / ("railyard-tree-" + std::to_string(::getpid()));
  VerbsDevice device{.name = verbs_device_name(1), .host = "h1", .nic = 1, .mac = {{2, 0, 0, 0, 1, 2}}, .gids = {}};
  device.gids = {*wire::IpAddress::parse("10.9.0.1"), *wire::IpAddress::parse("fd00::1")};
  write_verbs_tree(folder, {device}, "/run/x.sock");
  const fs::path verbs = folder / "class/infiniband_verbs";
  const fs::path ib = folder / "class/infiniband/railyard0";
  EXPECT_EQ(line(verbs / "abi_version"), "6");
  EXPECT_EQ(line(verbs / "railyard0/ibdev"), "railyard0");
  EXPECT_EQ(line(verbs / "railyard0/dev"), "1:3");
  EXPECT_EQ(line(ib / "node_guid"), "0000:00ff:fe00:0102");
  EXPECT_EQ(line(ib / "ports/1/gids/0"), "0000:0000:0000:0000:0000:ffff:0a09:0001");
  EXPECT_EQ(line(ib / "ports/1/gids/1"), "fd00:0000:0000:0000:0000:0000:0000:0001");
  EXPECT_EQ(line(ib / "ports/1/gid_attrs/types/1"), "RoCE v2");
  EXPECT_EQ(line(ib / "railyard/socket"), "/run/x.sock");
  EXPECT_EQ(line(ib / "railyard/nic"), "1");
  fs::remove_all(folder);
}

TEST(VerbsTree, AFolderThatCannotBeWrittenIsNamed) {
  try {
    write_verbs_tree("/proc/nowhere", {}, "");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/proc/nowhere"));
  }
}

TEST(DeviceNodes, GoWithTheLastLabThatUsesThem) {
  const fs::path folder = fs::temp_directory_path() / ("railyard-nodes-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  const fs::path nodes = folder / "infiniband";
  fs::create_directories(nodes);
  fs::create_symlink("/dev/null", folder / "null");
  fs::create_symlink("/dev/null", nodes / "railyard1");
  const auto is_there = [&](const char* name) { return fs::is_symlink(nodes / name); };
  {
    const DeviceNodes one({"railyard0", "railyard1"}, nodes);
    EXPECT_THAT(one.made(), testing::ElementsAre((nodes / "railyard0").string())) << "one was there";
    {
      const DeviceNodes other({"railyard0", "railyard2"}, nodes);
      EXPECT_THAT(other.made(), testing::ElementsAre((nodes / "railyard2").string()));
    }
    remove_unused_device_nodes(nodes);
    EXPECT_TRUE(is_there("railyard0")) << "a lab uses it";
  }
  EXPECT_FALSE(is_there("railyard0"));
  EXPECT_FALSE(is_there("railyard2"));
  EXPECT_TRUE(is_there("railyard1")) << "of somebody else";
  fs::remove(nodes / "railyard1");
  { const DeviceNodes again({"railyard0"}, nodes); }
  EXPECT_FALSE(fs::exists(nodes)) << "nothing is left";
  fs::remove_all(folder);
}

TEST(DeviceNodes, WhatToDoWithoutRightsIsSaid) {
  try {
    make_device_nodes({"railyard0"}, "/proc/nowhere");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("run once as root: mkdir -p /proc/nowhere && ln -sf /dev/null"));
  }
}

// A program's end of the memory that it shares with the daemon.
struct Program {
  Program()
      : process(std::make_shared<ApplicationProcess>(
            FrameRingPairGeometry{{.slots = 4, .slot_octets = 128}, {.slots = 4, .slot_octets = 128}},
            ApplicationProcess::kQpnsPerProcess)),
        octets(process->rings().octets()),
        memory(::mmap(nullptr, octets, PROT_READ | PROT_WRITE, MAP_SHARED, process->memory(), 0)) {}
  ~Program() { ::munmap(memory, octets); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  TrafficFigures& figures() { return FrameRingPairGeometry::state(static_cast<std::byte*>(memory)).figures; }

  std::shared_ptr<ApplicationProcess> process;
  std::size_t octets;
  void* memory;
};

TEST(ApplicationTraffic, IsWhatProgramsReportAndStaysWhenTheyHaveLeft) {
  const spec::Lab lab = spec::parse(kLab, "x.yaml");
  const fs::path folder = fs::temp_directory_path() / ("railyard-traffic-" + std::to_string(::getpid()));
  ApplicationTraffic traffic(application_nics(lab), folder, host_names(lab));
  Program program;
  ASSERT_NE(program.memory, MAP_FAILED);
  traffic.write_hw_counters();
  traffic.joined({"h1", 1}, ::getpid(), program.process);

  std::array<std::uint64_t, application::kRoceCounters.size()> counters{};
  counters[2] = 5;  // retransmitted_packets
  application::report_counters<counters.size()>(counters, program.figures());
  application::ConnectionList list(program.figures());
  list.add({.kind = "RC",
            .state = "RTS",
            .local = 0x1001,
            .remote = 0x2002,
            .peer = *lab.find("h2")->nics[0].address_v4,
            .packets = 7,
            .bytes = 4096,
            .retransmitted = 5});
  list.done();

  nlohmann::json nic = traffic.status().at(0);
  EXPECT_EQ(nic["host"], "h1");
  EXPECT_EQ(nic["counters"]["roce"]["retransmitted_packets"], 5);
  const nlohmann::json connection = nic["processes"].at(0)["connections"].at(0);
  EXPECT_EQ(connection["type"], "RC");
  EXPECT_EQ(connection["qp"], 0x1001);
  EXPECT_EQ(connection["peer_qp"], 0x2002);
  EXPECT_EQ(connection["peer_host"], "h2");
  EXPECT_EQ(connection["packets"], 7);
  traffic.write_hw_counters();
  const fs::path files = folder / "h1/class/infiniband/railyard0/ports/1/hw_counters";
  EXPECT_EQ(line(files / "retransmitted_packets"), "5");
  EXPECT_EQ(line(files / "np_cnp_sent"), "0");

  traffic.left(*program.process);
  nic = traffic.status().at(0);
  EXPECT_EQ(nic["counters"]["roce"]["retransmitted_packets"], 5);
  EXPECT_TRUE(nic["processes"].empty());
  fs::remove_all(folder);
}

// Whatever a hostile program writes there is shown, and no more.
TEST(ApplicationTraffic, OfNonsenseIsText) {
  const spec::Lab lab = spec::parse(kLab, "x.yaml");
  ApplicationTraffic traffic(application_nics(lab), testing::TempDir() + "railyard-application-traffic", host_names(lab));
  Program program;
  ASSERT_NE(program.memory, MAP_FAILED);
  traffic.joined({"h1", 1}, ::getpid(), program.process);
  std::memset(static_cast<std::byte*>(program.memory) + 64, 0xFF, FrameRingPairGeometry::kStateOctets - 64);
  const nlohmann::json process = traffic.status().at(0)["processes"].at(0);
  EXPECT_EQ(process["connections"].size(), TrafficFigures::kConnections);
  EXPECT_EQ(process["connections"].at(0)["type"], "????????");
  traffic.write_hw_counters();  // there is no such folder
}

}  // namespace
}  // namespace railyard::daemon
