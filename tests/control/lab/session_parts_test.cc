// Several processes run one lab: the same report, digest and files as one.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "tests/support/thread_peers.h"

namespace railyard::lab {
namespace {

using Json = nlohmann::ordered_json;

struct Scenario {
  std::string name;
  std::string text;

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};

// Each is about one thing that processes have to tell each other.
const std::vector<Scenario> kScenarios{
    {"generator", R"(name: generator
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 3 }
traffic: [ { name: t, pattern: incast, from: [h4, h7, h10], to: h1, rate: 60Gbps } ]
run: { duration: 100us, memory: 256MiB }
)"},
    {"messages", R"(name: messages
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 2 }
traffic:
  - { name: r, transport: roce, pattern: permutation, bytes: 300KB }
  - { name: u, transport: uet, pattern: permutation, bytes: 200KB, start: 5us }
run: { memory: 256MiB }
)"},
    {"real_payload", R"(name: real-payload
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }
traffic:
  - { name: r, transport: roce, pattern: permutation, bytes: 60KB, operation: read }
  - { name: g, pattern: permutation, rate: 10Gbps }
run: { duration: 40us, payload: real, memory: 256MiB }
)"},
    {"faults", R"(name: faults
topology: { preset: leaf-spine, leaves: 4, spines: 3, hosts-per-leaf: 2 }
traffic: [ { name: t, transport: roce, pattern: permutation, bytes: 2MB } ]
faults:
  - { name: lossy, on: "leaf1:3", at: 10us, for: 60us, loss: 2% }
  - { name: crash, on: spine2, at: 40us, for: 80us, crash: true }
  - { name: busy, on: leaf2, when: queue leaf2:1/3 depth > 20KB, for: 20us, count: 3, buffer: 1MB }
run: { duration: 500us, memory: 256MiB }
)"},
    {"routing", R"(name: routing
topology: { preset: leaf-spine, leaves: 4, spines: 3, hosts-per-leaf: 2 }
routing: { protocol: bgp }
traffic: [ { name: t, pattern: permutation, rate: 40Gbps } ]
faults: [ { name: cut, on: "leaf1:3", at: 50us, for: 300us, down: true } ]
run: { duration: 500us, memory: 256MiB }
)"},
    {"collective", R"(name: collective
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 2 }
collectives:
  - { name: ring, collective: all-reduce, size: 1MB, transport: roce, repeats: 3 }
  - { name: tree, collective: all-reduce, size: 400KB, transport: uet, algorithm: tree, start: 20us }
run: { timeline: true, memory: 256MiB }
)"},
    {"cbfc_and_llr", R"(name: cbfc-and-llr
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2, fabric-link: { llr: on } }
qos: { default: { classes: { 3: { lossless: true, cbfc: on } } } }
traffic: [ { name: t, pattern: incast, from: [h3, h4, h5, h6], to: h1, rate: 80Gbps } ]
faults: [ { name: bad, on: "leaf1:3", at: 10us, for: 60us, bit-errors: 1e-6 } ]
run: { duration: 100us, memory: 256MiB }
)"},
    {"scale_up", R"(name: scale-up
topology: { preset: rail-optimized, hosts: 4, rails: 4, spines: 2 }
hosts: { default: { scale-up: { rate: 3600Gbps } } }
collectives: [ { name: c, collective: all-reduce, algorithm: hierarchical-ring, size: 1MB } ]
run: { memory: 256MiB }
)"},
    {"rping", R"(name: rping
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }
hosts: { default: { roce: { services: [rping-server], ack-timeout: 8, cm-response-timeout: 10 } } }
traffic:
  - { name: ping, from: h1, to: h4, transport: roce, operation: rping, rping: { size: 5000B, count: 40 } }
  - { name: back, from: h6, to: h1, transport: roce, operation: rping, rping: { count: 20 } }
  - { name: g, pattern: permutation, bytes: 100KB }
faults: [ { name: lossy, on: "leaf1:3", at: 10us, for: 100us, loss: 2% } ]
run: { memory: 256MiB }
)"},
    {"in_band", R"(name: in-band
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 2 }
traffic:
  - { name: r, transport: roce, pattern: permutation, bytes: 300KB }
  - { name: g, pattern: incast, from: [h3, h5, h7], to: h1, rate: 60Gbps }
faults:
  - { name: lossy, on: "leaf2:3", at: 10us, for: 100us, loss: 5% }
  - { name: cut, on: "leaf3:3", at: 60us, for: 60us, down: true }
run: { duration: 250us, memory: 256MiB, int: { one-in: 3, packets: 60 } }
)"},
    {"probes", R"(name: probes
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }
traffic: [ { name: t, transport: roce, pattern: permutation, bytes: 1MB } ]
probe: { every: 20ms, frames: 16 }
faults: [ { name: slow, on: "leaf2:3", at: 90ms, rate: 1/2 } ]
run: { duration: 125ms, memory: 256MiB, int: { one-in: 7 } }
)"},
};

report::Report run_alone(const spec::Lab& lab, SessionOptions options) {
  const std::atomic<bool> stop{false};
  return Session(lab, std::move(options)).run(stop);
}

// All but what a run costs.
Json comparable(const report::Report& report) {
  Json j = report.value();
  for (const char* cost : {"cpu_seconds", "wall_seconds", "peak_rss_bytes", "processes"}) j["engine"].erase(cost);
  j["run"].erase("workers");
  j["summary"].erase("cpu_seconds");
  return j;
}

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string differences(const Json& expected, const Json& found) {
  std::string text;
  int shown = 0;
  for (const Json& d : Json::diff(expected, found))
    if (shown++ < 12)
      text += d.dump() + " was " +
              (d["op"] != "add" ? expected[Json::json_pointer(d["path"].get<std::string>())].dump().substr(0, 200) : "nothing") + "\n";
  return text;
}

class SeveralProcesses : public testing::TestWithParam<Scenario> {};

TEST_P(SeveralProcesses, ReportWhatOneReports) {
  SessionOptions options;
  options.digest = true;
  const Json alone = comparable(run_alone(spec::parse(GetParam().text, "lab.yaml"), options));
  ASSERT_TRUE(alone["audit"]["balanced"].get<bool>());
  for (const std::size_t count : {2u, 3u, 4u})
    for (const char* workers : {"1", "2"}) {
      if (workers[0] == '2' && count != 2) continue;
      Json together;
      std::uint64_t frames = 0;
      as_threads(count, [&](Peers& peers) {
        SessionOptions of_one = options;
        of_one.peers = &peers;
        const report::Report r =
            run_alone(spec::parse(GetParam().text, "lab.yaml", {std::string("run.workers=") + workers}), of_one);
        if (peers.self() != 0) {
          EXPECT_TRUE(r.ports.empty() && r.engine.processes.empty());
          return;
        }
        together = comparable(r);
        for (const report::ProcessReport& p : r.engine.processes) frames += p.frames_sent;
        EXPECT_EQ(r.engine.processes.size(), count);
      });
      EXPECT_GT(frames, 100u) << count << " processes";
      EXPECT_TRUE(alone == together) << count << " processes, " << workers << " workers each\n" << differences(alone, together);
    }
}

INSTANTIATE_TEST_SUITE_P(Labs, SeveralProcesses, testing::ValuesIn(kScenarios),
                         [](const auto& scenario) { return scenario.param.name; });

TEST(SeveralProcesses, WriteTheFilesOfOne) {
  const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) / ("parts." + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  const auto options_for = [&](const std::string& who) {
    SessionOptions o;
    o.series = {dir / (who + "-queues.csv"), Duration{5'000'000}, dir / (who + "-flows.csv")};
    o.metrics = {dir / (who + "-metrics.txt"), Duration{20'000'000}, 50};
    for (const char* port : {"h1:1", "leaf1:4", "leaf4:1", "spine2:3"})
      o.captures.push_back({*spec::parse_port_name(port), dir / (who + "-" + port + ".pcapng")});
    return o;
  };
  const spec::Lab lab = spec::parse(kScenarios[1].text, "lab.yaml");
  static_cast<void>(run_alone(lab, options_for("one")));
  as_threads(3, [&](Peers& peers) {
    SessionOptions o = options_for("three");
    o.peers = &peers;
    static_cast<void>(run_alone(lab, std::move(o)));
  });
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("one-")) continue;
    ++files;
    EXPECT_GT(std::filesystem::file_size(entry.path()), 200u) << name;
    EXPECT_TRUE(content(entry.path()) == content(dir / ("three-" + name.substr(4)))) << name;
  }
  EXPECT_EQ(files, 7u);
  std::filesystem::remove_all(dir);
}

// Sampled packets that arrive, are dropped and lost, more of them than there is room for; and what captures say of them.
TEST(SeveralProcesses, WriteTheInBandRecordsOfOne) {
  const auto scenario = std::ranges::find(kScenarios, "in_band", &Scenario::name);
  const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) / ("int." + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  const auto options_for = [&](const std::string& who) {
    SessionOptions o;
    o.int_file = dir / (who + ".jsonl");
    for (const char* port : {"leaf1:1", "h1:1"})
      o.captures.push_back({*spec::parse_port_name(port), dir / (who + "-" + port + ".pcapng")});
    return o;
  };
  const report::Report one = run_alone(spec::parse(scenario->text, "lab.yaml"), options_for("one"));
  ASSERT_TRUE(one.in_band.has_value());
  for (const std::uint64_t count : {one.in_band->arrived, one.in_band->dropped, one.in_band->lost, one.in_band->not_kept})
    EXPECT_GT(count, 0u) << "an end that the lab is about";
  const std::string expected = content(dir / "one.jsonl");
  EXPECT_GT(std::ranges::count(expected, '\n'), 1000);
  for (const std::size_t count : {2u, 3u, 5u}) {
    const char* workers = count == 2 ? "run.workers=2" : "run.workers=1";
    as_threads(count, [&](Peers& peers) {
      SessionOptions o = options_for("several");
      o.peers = &peers;
      static_cast<void>(run_alone(spec::parse(scenario->text, "lab.yaml", {workers}), std::move(o)));
    });
    EXPECT_TRUE(expected == content(dir / "several.jsonl")) << count << " processes";
    for (const char* port : {"leaf1:1", "h1:1"})
      EXPECT_TRUE(content(dir / (std::string("one-") + port + ".pcapng")) ==
                  content(dir / (std::string("several-") + port + ".pcapng")))
          << count << " processes, " << port;
  }
  std::filesystem::remove_all(dir);
}

// Frames of a capture file are sent, and what arrives is written to another, by whichever process runs the host.
TEST(SeveralProcesses, ReplayCaptures) {
  const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) / ("replay." + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  SessionOptions captured;
  for (const char* host : {"h4", "h7"})
    captured.captures.push_back({{host, 1}, dir / (std::string(host) + ".pcapng"), CaptureDirection::kOut});
  static_cast<void>(run_alone(spec::parse(kScenarios[0].text, "lab.yaml"), std::move(captured)));
  const auto attached = [&](const char* host, bool writes) {
    const std::string in = writes ? "" : "in: " + (dir / (std::string(host) + ".pcapng")).string();
    const std::string out = writes ? "out: " + (dir / (std::string(host) + "-out.pcap")).string() : "";
    return std::string(host) + ": { attach: { pcap: { " + in + out + " } } }";
  };
  const std::string text = "name: replay\ntopology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 3 }\nnodes: { " +
                           attached("h4", false) + ", " + attached("h7", false) + ", " + attached("h1", true) +
                           " }\ntraffic: [ { name: t, from: h2, to: h5, bytes: 200KB } ]\nrun: { memory: 256MiB }\n";
  SessionOptions options;
  options.digest = true;
  const Json alone = comparable(run_alone(spec::parse(text, "lab.yaml"), options));
  const std::string received = content(dir / "h1-out.pcap");
  EXPECT_GT(received.size(), 10'000u);
  for (const std::size_t count : {2u, 3u}) {
    std::filesystem::remove(dir / "h1-out.pcap");
    Json report;
    as_threads(count, [&](Peers& peers) {
      SessionOptions o = options;
      o.peers = &peers;
      Json mine = comparable(run_alone(spec::parse(text, "lab.yaml"), std::move(o)));
      if (peers.self() == 0) report = std::move(mine);
    });
    EXPECT_TRUE(alone == report) << count << " processes\n" << differences(alone, report);
    EXPECT_TRUE(received == content(dir / "h1-out.pcap")) << count << " processes";
  }
  std::filesystem::remove_all(dir);
}

TEST(SeveralProcesses, AreRefusedWhereTheyCannotBe) {
  const auto error_of = [](const std::string& text, const std::vector<std::string>& sets, std::size_t count) {
    std::vector<std::string> errors(count);
    as_threads(count, [&](Peers& peers) {
      SessionOptions o;
      o.peers = &peers;
      try {
        Session(spec::parse(text, "lab.yaml", sets), std::move(o));
      } catch (const std::exception& e) {
        errors[peers.self()] = e.what();
      }
    });
    for (const std::string& e : errors) EXPECT_EQ(e, errors[0]);
    return errors[0];
  };
  const std::string lab = kScenarios[0].text;
  EXPECT_EQ(error_of(lab, {"run.clock=wall"}, 2), "several processes: run.clock is wall; expected virtual");
  EXPECT_EQ(error_of(lab, {}, 40),
            "40 processes for 18 devices or groups of hosts with one scale-up network; expected at least one for each");
}

}  // namespace
}  // namespace railyard::lab
