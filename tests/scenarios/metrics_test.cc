// What a lab says to Prometheus, against its counters.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/exposition/fabric_metrics.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace railyard::literals;

// By what stands before the value.
std::map<std::string, double> samples_of(const build::BuiltLab& lab) {
  std::vector<DeviceCounters> counters;
  for (const auto& d : lab.fabric().devices()) counters.push_back(d->counters());
  exposition::Exposition out(exposition::Format::kPrometheus);
  exposition::add_fabric(out, lab, counters, [](PortRef port) { return port.device.index() != 0; });
  std::map<std::string, double> samples;
  std::istringstream lines(std::move(out).text());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t space = line.rfind(' ');
    EXPECT_TRUE(samples.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second) << "twice: " << line;
  }
  return samples;
}

TEST(FabricMetrics, AreTheCountersOfPorts) {
  Scenario s(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
      "traffic: [{ name: t, pattern: incast, from: [h2, h3, h4], to: h1 }]\n"
      "faults: [{ name: f, on: \"h4:1\", at: 0us, loss: 50% }]\n"
      "run: { duration: 200us, drain: 20us }\n");
  s.run_until(150_us);
  const auto samples = samples_of(s.lab());
  const auto at = [&](const std::string& name, const std::string& labels) {
    const auto found = samples.find(fmt::format("railyard_{}{{{}}}", name, labels));
    EXPECT_NE(found, samples.end()) << name << " " << labels;
    return found == samples.end() ? -1.0 : found->second;
  };
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  const PortCounters to_h1 = s.port("leaf1:1");
  EXPECT_EQ(at("sent_packets_total", R"(switch="leaf1",port="1",class="3")"), number(to_h1.classes[3].tx_packets));
  EXPECT_EQ(at("sent_bytes_total", R"(switch="leaf1",port="1",class="3")"), number(to_h1.classes[3].tx_octets));
  EXPECT_EQ(at("queue_depth_bytes", R"(switch="leaf1",port="1",class="3")"), number(to_h1.classes[3].depth_octets));
  EXPECT_GT(to_h1.classes[3].depth_octets, 0u);
  EXPECT_EQ(at("ecn_marked_packets_total", R"(switch="leaf1",port="1",class="3")"), number(to_h1.classes[3].ecn_marked));
  EXPECT_GT(to_h1.classes[3].ecn_marked, 0u);
  EXPECT_EQ(at("pfc_frames_total", R"(switch="leaf1",port="2",class="3",direction="sent",kind="xoff")"),
            number(s.port("leaf1:2").classes[3].xoff_sent));
  EXPECT_EQ(at("sent_packets_total", R"(host="h2",port="1",class="3")"), number(s.port("h2:1").classes[3].tx_packets));
  EXPECT_EQ(at("pfc_pause_seconds_total", R"(host="h2",port="1",class="3")"),
            static_cast<double>(s.port("h2:1").classes[3].paused.ps) / 1e12);
  EXPECT_EQ(at("port_lost_packets_total", R"(switch="leaf1",port="4")"), number(s.port("leaf1:4").lost));
  EXPECT_GT(s.port("leaf1:4").lost, 0u);
  EXPECT_EQ(at("port_up", R"(switch="leaf1",port="1")"), 0);
  EXPECT_EQ(at("port_up", R"(host="h1",port="1")"), 1);
  EXPECT_EQ(at("port_speed_bytes_per_second", R"(host="h1",port="1")"), 100e9 / 8);
  EXPECT_GT(at("buffer_used_bytes", R"(switch="leaf1")"), 0);
  EXPECT_FALSE(samples.contains(R"(railyard_sent_packets_total{switch="leaf1",port="1",class="6"})"))
      << "a class that nothing uses";
}

TEST(FabricMetrics, DropsHaveAReason) {
  Scenario s(
      "name: x\ntopology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 4 }\n"
      "qos: { default: { classes: { 3: { lossless: false } } } }\nswitches: { default: { buffer: 2MiB } }\n"
      "traffic: [{ name: t, pattern: incast, from: [h2, h3, h4], to: h1 }]\nrun: { duration: 500us, drain: 20us }\n");
  s.run_until(400_us);
  double all = 0;
  for (const auto& [name, value] : samples_of(s.lab()))
    if (name.starts_with("railyard_drops_total{")) {
      EXPECT_NE(name.find("reason=\""), std::string::npos);
      all += value;
    }
  EXPECT_GT(all, 0);
  EXPECT_EQ(all, static_cast<double>(s.dropped()));
}

}  // namespace
}  // namespace railyard::test
