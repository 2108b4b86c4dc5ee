// What SONiC's templates (buffers.json.j2, qos.json.j2) make of a ToR and a leaf router arrives, and survives the way
// through a fabric file.
#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/import/sample.h"

namespace railyard::importing {
namespace {

using testing::HasSubstr;

SampleJson config(const std::string& name) { return SampleJson::parse(file_text(name)); }

// A table of SONiC's templates: DSCP 3 and 4 are lossless, 5, 8, 46 and 48 have queues of their own, all else is in 1.
void expect_maps(const spec::Lab& lab) {
  EXPECT_THAT(profile_in(lab).dscp_to_class, LeadsCodePoints({{0, 1}, {3, 3}, {4, 4}, {5, 2}, {8, 0}, {26, 1}, {46, 5},
                                                              {48, 6}, {63, 1}}));
  for (const std::size_t c : {std::size_t{3}, std::size_t{4}}) {
    EXPECT_TRUE(class_in(lab, c).lossless) << c;
    EXPECT_EQ(class_in(lab, c).weight, 15) << c;
    EXPECT_THAT(class_in(lab, c).ecn, Marks(250'000, 2'097'152, 5)) << c;
  }
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{6}}) {
    EXPECT_FALSE(class_in(lab, c).lossless) << c;
    EXPECT_EQ(class_in(lab, c).weight, 14) << c;
  }
}

TEST(FromTemplates, ATorWithItsLookupTable) {
  const spec::Lab lab = lab_of(config("sonic-templates-t0.json"), sample_lookup());
  EXPECT_EQ(lab.name, "t0-2");
  ASSERT_EQ(lab.links.size(), 18u) << "two ports are down: the templates give them a cable and nothing else";
  EXPECT_THAT(link_at(lab, 1), LeadsTo("server01", 100));
  EXPECT_THAT(link_at(lab, 20), LeadsTo("t1-4", 400));
  EXPECT_EQ(link_at(lab, 20).cable, spec::Length{40'000});
  expect_maps(lab);
  // Of the table, by speed and cable; the templates have no lossless groups. Two groups of each of 14 ports of 100G and 4 of
  // 400G may have 3.3 MB of headroom, but the pool of the templates has 2 MiB: they share it.
  EXPECT_EQ(lab.switches.at("default").headroom_pool, Bytes{2'097'152});
  EXPECT_EQ(lab.switches.at("default").buffer, Bytes{14'789'632});
  EXPECT_EQ(class_at_port(lab, 1, 3).alpha_exponent, -3);
  EXPECT_EQ(class_at_port(lab, 20, 4).xon_offset, Bytes{2'288});
  SampleJson roomy = config("sonic-templates-t0.json");
  roomy["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"] = "4194304";
  EXPECT_EQ(class_at_port(lab_of(roomy, sample_lookup()), 1, 3).headroom, Bytes{66'560});
  EXPECT_EQ(class_at_port(lab_of(roomy, sample_lookup()), 20, 3).headroom, Bytes{184'704});
  EXPECT_EQ(class_in(lab, 0).queue_reserved, Bytes{1'664});
}

TEST(FromTemplates, ATorWithoutItsTableComputesHeadroom) {
  const spec::Lab lab = lab_of(config("sonic-templates-t0.json"));
  expect_maps(lab);
  EXPECT_EQ(class_at_port(lab, 1, 3).headroom, std::nullopt);
}

TEST(FromTemplates, ALeafRouterOfTheDynamicModelComputesHeadroom) {
  const spec::Lab lab = lab_of(config("sonic-templates-t1.json"));
  EXPECT_EQ(lab.name, "t1-1");
  ASSERT_EQ(lab.links.size(), 14u);
  EXPECT_EQ(link_at(lab, 1).cable, spec::Length{40'000});
  EXPECT_EQ(link_at(lab, 9).cable, spec::Length{300'000});
  expect_maps(lab);
  EXPECT_EQ(class_in(lab, 3).alpha_exponent, 0) << "default_dynamic_th";
  EXPECT_EQ(class_at_port(lab, 1, 3).headroom, std::nullopt);
}

// "[BUFFER_PROFILE|name]", and one key for several ports: what templates wrote until 2021.
TEST(FromTemplates, TheOlderFormIsTheSameFabric) {
  const std::string text = file_text("sonic-templates-t0.json");
  const std::string old = std::regex_replace(text, std::regex(R"x("profile": "([a-z_]+)")x"), R"("profile": "[BUFFER_PROFILE|$1]")");
  ASSERT_NE(old, text);
  SampleJson merged = SampleJson::parse(old);
  std::string ports;
  for (const auto& [port, neighbour] : merged["DEVICE_NEIGHBOR"].items()) ports += (ports.empty() ? "" : ",") + port;
  SampleJson groups = SampleJson::object();
  groups[ports + "|0"] = {{"profile", "[BUFFER_PROFILE|ingress_lossy_profile]"}};
  merged["BUFFER_PG"] = groups;
  EXPECT_EQ(imported(merged, sample_lookup()), imported(config("sonic-templates-t0.json"), sample_lookup()));
}

// All of it is in the lab, and a fabric file that is written of the lab has it again.
TEST(FromTemplates, TheWayThroughAFabricFileLosesNothing) {
  for (const char* name : {"sonic-templates-t0.json", "sonic-templates-t1.json", "sonic-t0.json"}) {
    const spec::Lab lab = lab_of(config(name), std::string_view(name) == "sonic-templates-t1.json" ? PgProfileLookup{} : sample_lookup());
    const std::string written = spec::to_yaml(lab);
    EXPECT_EQ(spec::to_yaml(parsed(written)), written) << name;
    for (int port = 1; port <= 16; ++port) {
      if (std::ranges::none_of(lab.links, [&](const spec::LinkSpec& l) { return l.b.port == port; })) continue;
      for (std::size_t c = 0; c < 8; ++c)
        EXPECT_EQ(class_at_port(parsed(written), port, c), class_at_port(lab, port, c)) << name << " " << port << " " << c;
    }
  }
}

TEST(FromTemplates, OnlyWhatNoFabricFileHasIsLeftOut) {
  const std::string t1 = imported(config("sonic-templates-t1.json"));
  const std::string left = t1.substr(t1.find("# Left out"));
  EXPECT_THAT(left, HasSubstr("LOSSLESS_TRAFFIC_PATTERN|AZURE: mtu, small_packet_percentage"));
  for (const char* taken : {"DSCP_TO_TC_MAP", "SCHEDULER", "CABLE_LENGTH", "pfc_enable", "green_min_threshold", "BUFFER_PG"})
    EXPECT_THAT(left, testing::Not(HasSubstr(taken)));
}

}  // namespace
}  // namespace railyard::importing
