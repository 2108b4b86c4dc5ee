// A SONiC switch becomes a fabric, the fabric the configuration of a SONiC switch, and that the same fabric again.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/export/export.h"
#include "control/spec/input_error.h"
#include "tests/control/import/sample.h"

namespace railyard::importing {
namespace {

using testing::HasSubstr;

spec::Lab lab_of_text(const std::string& config, const PgProfileLookup& lookup = {}) {
  return parsed(from_sonic(config, "config_db.json", lookup, false));
}

void expect_same(const spec::Lab& a, const spec::Lab& b, const std::string& where) {
  EXPECT_EQ(a.name, b.name) << where;
  ASSERT_EQ(a.links.size(), b.links.size()) << where;
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    const spec::LinkSpec &x = a.links[i], &y = b.links[i];
    EXPECT_EQ(x.a, y.a) << where;
    EXPECT_EQ(x.b, y.b) << where;
    EXPECT_EQ(x.rate, y.rate) << where;
    EXPECT_EQ(x.mtu, y.mtu) << where;
    EXPECT_EQ(x.cable, y.cable) << where;
    const spec::NodeSpec &one = *a.find(x.b.node), &two = *b.find(y.b.node);
    EXPECT_EQ(spec::pfc_at(a, one, x.b.port, x.rate), spec::pfc_at(b, two, y.b.port, y.rate)) << where << x.b.port;
    EXPECT_EQ(spec::pfc_at(a, *a.find(x.a.node), 1, x.rate), spec::pfc_at(b, *b.find(y.a.node), 1, y.rate)) << where;
    for (std::size_t c = 0; c < 8; ++c) {
      spec::TrafficClass was = spec::class_at(a, one, x.b.port, x.rate, c), is = spec::class_at(b, two, y.b.port, y.rate, c);
      was.by_rate.clear();  // what it says of a rate is in the class of the port already
      is.by_rate.clear();
      EXPECT_EQ(was, is) << where << " port " << x.b.port << " class " << c;
    }
  }
  EXPECT_EQ(profile_in(a).trust, profile_in(b).trust) << where;
  EXPECT_EQ(profile_in(a).dscp_to_class, profile_in(b).dscp_to_class) << where;
  EXPECT_EQ(a.switches.at("default").buffer, b.switches.at("default").buffer) << where;
  EXPECT_EQ(a.switches.at("default").headroom_pool, b.switches.at("default").headroom_pool) << where;
  EXPECT_EQ(watchdog_in(a), watchdog_in(b)) << where;
}

TEST(SonicRoundTrip, WhatTemplatesMakeComesBackAsTheSameFabric) {
  for (const char* name : {"sonic-templates-t0.json", "sonic-templates-t1.json", "sonic-t0.json"})
    for (const bool with_table : {true, false}) {
      if (with_table && std::string_view(name) == "sonic-templates-t1.json") continue;  // it has no lines for 300 m
      const spec::Lab lab = lab_of_text(file_text(name), with_table ? sample_lookup() : PgProfileLookup{});
      const std::string written = exporting::sonic(lab, {});
      // The second configuration says all there is: it needs no table.
      expect_same(lab, lab_of_text(written), std::string(name) + (with_table ? ", with table" : ""));
      EXPECT_EQ(exporting::sonic(lab_of_text(written), {}), written) << "it is at rest";
    }
}

// Of a fabric that was written by hand, one switch at a time.
TEST(SonicRoundTrip, ASwitchOfALargerFabricKeepsItsClasses) {
  const spec::Lab lab = parsed(
      "name: two\ntopology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 3, host-link: { rate: 100Gbps, "
      "mtu: 4200 }, fabric-link: { rate: 400Gbps, cable: 40m } }\n"
      "switches: { default: { buffer: 64MiB, pfc-watchdog: { detect: 400ms, restore: 800ms, poll: 200ms, action: forward } } }\n"
      "qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, headroom: 200KB, xon-offset: 4KB, accept-loss: true, "
      "ecn: { kmin: 100KB, kmax: 400KB, pmax: 10% }, weight: 40 }, 1: { queue-limit: 1MB, trim: { keep: 256B, dscp: 12, class: "
      "6 } }, 6: { strict: true } } } }\n");
  const spec::Lab back = lab_of_text(exporting::sonic(lab, {.node = "leaf2", .gpus = 0}));
  EXPECT_EQ(back.name, "leaf2");
  ASSERT_EQ(back.links.size(), 5u) << "three hosts, two spines";
  const spec::NodeSpec& was = *lab.find("leaf2");
  for (const spec::LinkSpec& link : back.links)
    for (std::size_t c = 0; c < 8; ++c) {
      spec::TrafficClass a = spec::class_at(lab, was, link.b.port, link.rate, c), b = class_at_port(back, link.b.port, c);
      a.by_rate.clear(), b.by_rate.clear();
      EXPECT_EQ(a, b) << link.b.port << " " << c;
    }
  EXPECT_EQ(profile_in(back).dscp_to_class, profile_in(lab).dscp_to_class);
  EXPECT_THAT(watchdog_in(back), HasTimes(milliseconds(400), milliseconds(800), milliseconds(200)));
  EXPECT_EQ(watchdog_in(back)->action, spec::PfcWatchdog::Action::kForward);
}

TEST(SonicRoundTrip, WhatSonicCannotBeToldIsAnError) {
  const auto message = [](const std::string& classes) {
    try {
      static_cast<void>(exporting::sonic(
          parsed("name: one\ntopology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2 }\nqos: { default: { "
                 "classes: { " +
                 classes + " } } }\n"),
          {}));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("3: { lossless: true, ecn: { kmin: 1KB, kmax: 2KB, pmax: 2.5% } }"),
              HasSubstr("class 3 of leaf1 has a probability that is no whole percent"));
  EXPECT_THAT(message("3: { lossless: true, reserved: 4KB }"), HasSubstr("SONiC computes all of a group or nothing"));
  try {
    static_cast<void>(exporting::sonic(lab_of(sample()), {.node = "leaf9", .gpus = 0}));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("--node leaf9: the lab has no such switch"));
  }
}

}  // namespace
}  // namespace railyard::importing
