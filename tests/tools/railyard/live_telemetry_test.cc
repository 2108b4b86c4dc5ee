// What a lab that is up can be asked: who pauses whom, its queues over time, its packets hop by hop.
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

//   h1, h2 --- leaf1 --- spine1 --- leaf2 --- h3: 100 Mb/s; h2 and h3 send to h1
constexpr const char* kSeenLab = R"(name: seen
topology:
  preset: leaf-spine
  leaves: 2
  spines: 1
  hosts-per-leaf: 2
  host-link: { rate: 100Mbps }
  fabric-link: { rate: 100Mbps }
switches: { default: { buffer: 1MiB } }
traffic:
  - { name: t, pattern: incast, from: [h2, h3], to: h1, payload: 1KB, dscp: 26, ecn: true, class: 3 }
run: { memory: 256MiB, clock: wall }
)";

class LiveTelemetry : public LiveCommandLine {
 protected:
  LiveTelemetry() {
    write("seen.yaml", kSeenLab);
    const Outcome o = railyard({"up", "seen.yaml", "--detach"});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
  }
  std::vector<std::string> lines(const std::string& file) const {
    std::vector<std::string> out;
    std::istringstream in(read(file));
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
};

// The NIC of h1 pauses its leaf for nothing: all queues behind it are held back, and it is named as their root.
TEST_F(LiveTelemetry, StatusNamesWhoPausesWhom) {
  ASSERT_EQ(railyard({"fault", "add", "name: storm, on: h1, pfc-storm: 3"}).exit_code, kOk);
  const auto tree = [&] {
    const json now = json::parse(railyard({"status", "--pauses", "--json"}).out)["now"];
    return now.empty() ? json{{"root", ""}, {"levels", json::array()}} : now[0];
  };
  EXPECT_TRUE(becomes([&] { return tree()["levels"].size() == 4; })) << tree();
  EXPECT_EQ(tree()["root"], "h1:1 class 3");
  EXPECT_EQ(tree()["levels"][0], json::array({"leaf1:1 class 3"}));
  EXPECT_THAT(railyard({"status", "--pauses"}).out, HasSubstr("  h1:1 class 3\n     <- leaf1:1 class 3\n"));
  ASSERT_EQ(railyard({"fault", "rm", "storm"}).exit_code, kOk);
  EXPECT_TRUE(becomes([&] { return tree()["root"] != "h1:1 class 3"; })) << "let go";
  EXPECT_THAT(railyard({"status", "--pauses"}).out, HasSubstr("most paused queues since the lab started, at "));
}

// What leaf1:1 has sent in all of the steps is about what 100 Mb/s carry in that time.
TEST_F(LiveTelemetry, SeriesOfQueues) {
  double octets = 0;
  double seconds = 0;
  // Modelled time slips where the machine is slow: again until there is enough of it.
  EXPECT_TRUE(becomes([&] {
    const Outcome o = railyard({"series", "queues.csv", "--every", "1ms", "--for", "30ms"});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
    const std::vector<std::string> all = lines("queues.csv");
    EXPECT_EQ(all.at(0), "time_ns,port,class,depth_bytes,held_cells,tx_bytes,ecn_marked,paused_ns,xoff_sent,dropped");
    octets = 0;
    std::int64_t first = 0, last = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      std::vector<std::string> cells;
      std::istringstream in(all[i]);
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      if (cells.size() != 10) throw std::runtime_error("not ten cells: " + all[i]);
      const std::int64_t at = std::stoll(cells[0]);
      EXPECT_GE(at, last) << "in order";
      last = at;
      if (first == 0) first = at;
      if (cells[1] == "leaf1:1" && cells[2] == "3" && at != first) octets += std::stod(cells[5]);
    }
    seconds = static_cast<double>(last - first) / 1e9;
    return seconds >= 0.01;
  }));
  EXPECT_NEAR(octets * 8 / seconds / 100e6, 1062.0 / 1082, 0.15);
}

TEST_F(LiveTelemetry, PacketsHopByHop) {
  const Outcome o = railyard({"int", "hops.jsonl", "--one-in", "5", "--for", "50ms"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("In-band telemetry: 1 packet in 5 sampled ("));
  std::size_t through = 0;
  std::size_t next_hop = 0;
  for (const std::string& line : lines("hops.jsonl")) {
    const json hop = json::parse(line);
    EXPECT_THAT(hop["flow"].get<std::string>(), testing::AnyOf("t/h2->h1", "t/h3->h1"));
    EXPECT_EQ(hop["hop"], hop["hop"] == 0 ? 0 : next_hop) << line;
    next_hop = hop["hop"].get<std::size_t>() + 1;
    if (hop["node"] != "leaf1" || hop["egress_ps"].is_null()) continue;  // it waits there still
    EXPECT_EQ(hop["out"], 1);
    EXPECT_LT(hop["ingress_ps"], hop["egress_ps"]);
    ++through;
  }
  EXPECT_GT(through, 0u);
}

}  // namespace
}  // namespace railyard::tools
