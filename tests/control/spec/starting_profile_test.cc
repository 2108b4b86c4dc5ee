// Switch profiles that begin as an ASIC, host profiles that begin as a server.
#include "control/spec/starting_profile.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/shipped.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace literals;

TEST(Asic, EveryOneThatShipsIsASoundProfileAndSaysItsSources) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies/profiles")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const std::string name = entry.path().stem();
    const Lab lab = parse_small_with("switches: { default: { asic: " + name + " } }\n");
    const SwitchProfile& p = lab.switches.at("default");
    EXPECT_GE(p.ports, 32) << name;
    EXPECT_GE(p.port_rate, 100_Gbps) << name;
    EXPECT_GE(p.buffer, 10_MB) << name;
    EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << name;
    const std::string text = read_file(entry.path());
    EXPECT_NE(text.find("SONiC"), std::string::npos) << name << " names no source";
    if (p.buffer > 1000_MB) {
      EXPECT_NE(text.find("DEVIATION"), std::string::npos)
          << name << " is deep and does not say what stands in for VOQs";
    }
  }
  EXPECT_EQ(asic_profiles().size(), files);
  EXPECT_EQ(parse_small_with("switches: { default: { asic: tomahawk5-64x800 } }\n").switches.at("default").ports, 64);
  EXPECT_EQ(parse_small_with("switches: { default: { asic: tomahawk5-128x400 } }\n").switches.at("default").ports, 128);
}

TEST(Asic, KeysBesideItWin) {
  const Lab lab =
      parse_small_with("switches: { default: { asic: tomahawk3-32x400, buffer: 1MiB, headroom-pool: 0 } }\n");
  const SwitchProfile& p = lab.switches.at("default");
  EXPECT_EQ(p.buffer, 1_MiB);
  EXPECT_EQ(p.headroom_pool, Bytes{});
  EXPECT_EQ(p.cell, Bytes{254});
}

TEST(Asic, AnOverrideReplacesItOrAPartOfIt) {
  const std::string yaml = "switches: { default: { asic: tomahawk3-32x400 } }\n";
  EXPECT_EQ(parse_small_with(yaml, {"switches.default.asic=spectrum1-32x100"}).switches.at("default").cell, Bytes{96});
  const Lab part = parse_small_with(yaml, {"switches.default.cell=128B"});
  EXPECT_EQ(part.switches.at("default").cell, Bytes{128});
  EXPECT_EQ(part.switches.at("default").ports, 32);
}

TEST(Asic, AFileOfOnesOwnIsMeantFromTheFolderOfTheFabricFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "asic_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine.yaml") << "ports: 8\nbuffer: 2MiB\n";
  std::ofstream(folder / "bad.yaml") << "ports: 8\nbufer: 2MiB\n";
  const auto lab = [&](const std::string& asic) {
    std::ofstream(folder / "lab.yaml") << small_with("switches: { default: { asic: " + asic + " } }\n");
    return load(folder / "lab.yaml");
  };
  EXPECT_EQ(lab("mine.yaml").switches.at("default").buffer, 2_MiB);
  try {
    lab("bad.yaml");
    FAIL();
  } catch (const SpecError& e) {
    EXPECT_EQ(
        std::string(e.what()).find((folder / "bad.yaml").string() + ":2:1: switches.default: unknown key 'bufer'"), 0u)
        << e.what();
  }
  try {
    lab("none.yaml");
    FAIL();
  } catch (const SpecError& e) {
    EXPECT_EQ(std::string(e.what()), (folder / "lab.yaml").string() + ":8:30: switches.default.asic: " +
                                         (folder / "none.yaml").string() +
                                         " cannot be read: No such file or directory");
  }
  std::filesystem::remove_all(folder);
}

TEST(Asic, OneThatIsNotKnownIsRefusedWithTheOneThatWasMeant) {
  const std::string error = error_of(small_with("switches: { default: { asic: tomahwk5-64x800 } }\n"));
  EXPECT_EQ(error.find("x.yaml:8:30: switches.default.asic: there is no ASIC 'tomahwk5-64x800'; did you mean "
                       "'tomahawk5-64x800'?"),
            0u)
      << error;
}

// ---- Servers ---------------------------------------------------------------------------------------------------------

std::string host_with(const std::string& server) { return small_with("hosts: { default: { " + server + " } }\n"); }

// Hosts with so many NICs.
std::string rails_with(int rails, const std::string& server) {
  return "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: " + std::to_string(rails) +
         ", spines: 1 }\nhosts: { default: { " + server + " } }\n";
}

TEST(Server, EveryOneThatShipsIsASoundProfileAndSaysItsSources) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies/servers")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const std::string name = entry.path().stem();
    const Lab lab = parse(rails_with(4, "server: " + name), "x.yaml");
    const HostProfile& p = lab.hosts.at("default");
    ASSERT_TRUE(p.scale_up) << name;
    EXPECT_EQ(p.gpus, p.shares_scale_up() ? 4 : 8) << name;
    EXPECT_GE(p.scale_up->rate, 200_Gbps) << name;
    EXPECT_TRUE(p.pcie) << name;
    EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab) << name;
    EXPECT_EQ(read_file(entry.path()).find("# "), 0u) << name << " names no source";
  }
  EXPECT_EQ(server_profiles().size(), files);
  const HostProfile h100 = parse(host_with("server: hgx-h100"), "x.yaml").hosts.at("default");
  EXPECT_EQ(h100.scale_up->rate, 3600_Gbps);
  EXPECT_EQ(h100.pcie, (PcieSpec{.slot = {5, 16}, .uplink = {}}));
  const HostProfile tray = parse(host_with("server: gb200-nvl72"), "x.yaml").hosts.at("default");
  EXPECT_EQ(*tray.gpus * tray.scale_up->hosts, 72);
  const HostProfile helios = parse(host_with("server: mi455x-72"), "x.yaml").hosts.at("default");
  EXPECT_EQ(*helios.gpus * helios.scale_up->hosts, 72);
  EXPECT_EQ(helios.scale_up->rate, 14400_Gbps) << "UALink";
}

TEST(Server, GpusShareNicsAsItSays) {
  const auto nics = [](const std::string& server, int rails) {
    const HostProfile p = parse(rails_with(rails, "server: " + server), "x.yaml").hosts.at("default");
    std::vector<int> all;
    for (int gpu = 1; gpu <= *p.gpus; ++gpu) all.push_back(gpu_nic(p, static_cast<std::size_t>(rails), gpu));
    return all;
  };
  const std::vector<int> two_at_each{1, 1, 2, 2, 3, 3, 4, 4};
  EXPECT_EQ(nics("hgx-h100", 8), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(nics("hgx-h100", 4), two_at_each);
  for (const int rails : {4, 8})
    for (const char* server : {"hgx-h100-4nic", "shared-2", "l40s-8"}) EXPECT_EQ(nics(server, rails), two_at_each) << server;
  for (const int rails : {1, 4}) EXPECT_EQ(nics("one-nic", rails), std::vector<int>(8, 1));
  EXPECT_NE(error_of(rails_with(2, "server: shared-2")).find("NIC 3 of GPU 5: h1 has 2 NICs"), std::string::npos)
      << error_of(rails_with(2, "server: shared-2"));
}

// Nobody can open the file of one that ships.
TEST(Server, WhatDoesNotFitIsSaidAtTheLineThatNamesIt) {
  const std::string error = error_of(rails_with(2, "server: shared-2"));
  EXPECT_EQ(error.find("x.yaml:3:29: hosts.default.server: shared-2: servers/shared-2.yaml:"), 0u) << error;
  EXPECT_NE(error.find(": hosts.default.gpu-nics.4: NIC 3 of GPU 5: h1 has 2 NICs"), std::string::npos) << error;
  const std::string set = error_of(rails_with(2, "server: hgx-h100"), {"hosts.default.server=shared-2"});
  EXPECT_EQ(set.find("--set hosts.default.server=shared-2: hosts.default.server: shared-2: servers/shared-2.yaml:"), 0u) << set;
  const std::string own = error_of(rails_with(2, "server: shared-2, gpu-nics: [1, 1, 1, 1, 2, 2, 2, 3]"));
  EXPECT_EQ(own.find("x.yaml:3:"), 0u) << own;
  EXPECT_EQ(own.find("shared-2"), std::string::npos) << "what the lab says itself: " << own;
  // Two profiles of one file: the one that does not fit.
  const std::string second = error_of(
      "name: x\ntopology: { preset: rail-optimized, hosts: 2, rails: 2, spines: 1 }\nhosts:\n"
      "  another: { server: shared-2 }\n  default: { server: shared-2 }\n");
  EXPECT_EQ(second.find("x.yaml:5:22: hosts.default.server: shared-2: "), 0u) << second;
}

TEST(Server, KeysBesideItWinAlsoWithinAMap) {
  const auto host = [](const std::string& keys, const std::vector<std::string>& sets = {}) {
    return parse(host_with("server: hgx-h100" + keys), "x.yaml", sets).hosts.at("default");
  };
  EXPECT_EQ(host(", gpus: 4").gpus, 4);
  EXPECT_EQ(host(", scale-up: { rate: 2960Gbps }").scale_up->rate, 2960_Gbps);
  EXPECT_EQ(host(", scale-up: { latency: 1us }").scale_up->latency, 1_us);
  EXPECT_EQ(host(", scale-up: { latency: 1us }").scale_up->rate, 3600_Gbps);
  EXPECT_EQ(host(", pcie: unlimited").pcie, std::nullopt);
  EXPECT_EQ(host("", {"hosts.default.scale-up.rate=2960Gbps"}).scale_up->rate, 2960_Gbps);
  EXPECT_EQ(host("", {"hosts.default.server=hgx-a100"}).scale_up->rate, 2400_Gbps);
}

TEST(Server, OneThatIsNotKnownIsRefusedWithTheOneThatWasMeant) {
  const std::string error = error_of(host_with("server: hgx-h10"));
  EXPECT_EQ(error.find("x.yaml:8:29: hosts.default.server: there is no server 'hgx-h10'; did you mean 'hgx-"), 0u) << error;
}

}  // namespace
}  // namespace railyard::spec
