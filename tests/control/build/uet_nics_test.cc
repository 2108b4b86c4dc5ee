// Traffic over UET as endpoints.
#include "control/build/uet_nics.h"

#include <string>

#include <gtest/gtest.h>

#include "control/build/built_lab.h"
#include "control/spec/load.h"
#include "dataplane/nic/split_endpoint.h"
#include "dataplane/nic/traffic_generator.h"

namespace railyard::build {
namespace {

spec::Lab lab(const std::string& traffic) {
  return spec::parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 3 }\ntraffic:\n" + traffic,
                     "x.yaml");
}

TEST(UetNics, OnlyANicWithOtherTrafficTooHasTwoEndpoints) {
  const std::string uet = "  - { name: u, from: h1, to: h2, transport: uet, bytes: 1MB }\n";
  const auto endpoint = [](BuiltLab& built, const char* host) { return built.host(host).endpoint(PortIndex{0}); };
  BuiltLab alone(lab(uet));
  EXPECT_NE(dynamic_cast<uet::FlowEndpoint*>(endpoint(alone, "h1")), nullptr);
  EXPECT_NE(dynamic_cast<uet::FlowEndpoint*>(endpoint(alone, "h2")), nullptr);
  EXPECT_NE(dynamic_cast<TrafficGenerator*>(endpoint(alone, "h3")), nullptr);
  for (const std::string other : {"", ", transport: roce"}) {
    BuiltLab both(lab(uet + "  - { name: g, from: h3, to: h2, bytes: 4KiB" + other + " }\n"));
    EXPECT_NE(dynamic_cast<uet::FlowEndpoint*>(endpoint(both, "h1")), nullptr);
    EXPECT_NE(dynamic_cast<SplitEndpoint*>(endpoint(both, "h2")), nullptr);
    EXPECT_EQ(dynamic_cast<SplitEndpoint*>(endpoint(both, "h3")), nullptr);
  }
}

}  // namespace
}  // namespace railyard::build
