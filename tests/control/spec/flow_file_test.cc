// Files of flows, sizes and loads: what is wrong is said with its place.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using testing::HasSubstr;

constexpr const char* kFourHosts =
    "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n";

std::string error_of_traffic(const std::string& keys, const std::string& run = "duration: 1ms") {
  return error_of(std::string(kFourHosts) + "run: { " + run + " }\ntraffic:\n  - { name: t, " + keys + " }\n");
}

class FlowFile : public testing::Test {
 protected:
  FlowFile() { std::filesystem::create_directories(folder_); }
  ~FlowFile() override { std::filesystem::remove_all(folder_); }
  // Without the folder's name.
  std::string error_in(const std::string& name, const std::string& text, const std::string& more = "") {
    std::ofstream(folder_ / name) << text;
    std::string error = error_of_traffic("pattern: file, file: " + (folder_ / name).string() + more, "drain: 1ms");
    const std::size_t at = error.find(folder_.string());
    return at == std::string::npos ? error : error.substr(at + folder_.string().size() + 1);
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "railyard-flow-file";
};

TEST_F(FlowFile, ABrokenLineOfACsvIsNamed) {
  const std::string head = "from,to,bytes,start\n";
  EXPECT_EQ(error_in("f.csv", head + "h1,h2,1MB,0\n"), "(no error)");
  EXPECT_EQ(error_in("f.csv", ""), "f.csv: is empty; expected a first line with from, to, bytes and optionally start");
  EXPECT_EQ(error_in("f.csv", head), "f.csv:1:1: has no flows");
  EXPECT_EQ(
      error_in("f.csv", "from,to,byte\n"),
      "f.csv:1:1: unknown column 'byte'; expected a first line with from, to, bytes and optionally start; did you mean "
      "'bytes'?");
  EXPECT_EQ(error_in("f.csv", "from,to,start\n"),
            "f.csv:1:1: column 'bytes' is missing; expected from, to, bytes and optionally start");
  EXPECT_EQ(error_in("f.csv", "from,to,to,bytes\n"), "f.csv:1:1: column 'to' is defined twice");
  EXPECT_EQ(error_in("f.csv", head + "h1,h2,1MB\n"), "f.csv:2:1: 3 cells; expected 4, as in the first line");
  EXPECT_EQ(error_in("f.csv", "# a\n" + head + "\nh1,h2,1MB,0\nh1,h9,1MB,0\n"),
            "f.csv:5:1: to: there is no host 'h9'; did you mean 'h1'?");
  EXPECT_EQ(error_in("f.csv", head + "h1,leaf1,1MB,0\n").substr(0, 44), "f.csv:2:1: to: there is no host 'leaf1'");
  EXPECT_EQ(error_in("f.csv", head + "h1:2,h2,1MB,0\n"), "f.csv:2:1: from: 'h1:2': h1 has 1 NIC");
  EXPECT_EQ(error_in("f.csv", head + "h1,h1,1MB,0\n"), "f.csv:2:1: h1 would send to itself");
  EXPECT_THAT(error_in("f.csv", head + "h1,h2,much,0\n"), HasSubstr("f.csv:2:1: bytes: 'much' is not a size"));
  EXPECT_THAT(error_in("f.csv", head + "h1,h2,0,0\n"), HasSubstr("f.csv:2:1: bytes: '0'; expected at least 1"));
  EXPECT_THAT(error_in("f.csv", head + "h1,h2,-5,0\n"), HasSubstr("f.csv:2:1: bytes: "));
  EXPECT_THAT(error_in("f.csv", head + "h1,h2,1MB,later\n"), HasSubstr("f.csv:2:1: start: 'later' is not a duration"));
}

TEST_F(FlowFile, ABrokenLineOfAConnectionMatrixIsNamed) {
  const std::string head = "Nodes 4\nConnections 1\n";
  EXPECT_EQ(error_in("m.cm", head + "1->0 start 0 size 8\n"), "(no error)");
  EXPECT_EQ(error_in("m.cm", "Nodes 5\n"), "m.cm:1:1: 5 nodes, but 'from' selects 4 NICs");
  EXPECT_EQ(error_in("m.cm", "Nodes 4\n", ", from: h1"), "m.cm:1:1: 4 nodes, but 'from' selects 1 NICs");
  EXPECT_EQ(error_in("m.cm", "Nodes many\n"), "m.cm:1:1: Nodes: expected a whole number after it");
  EXPECT_EQ(error_in("m.cm", "1->0 start 0 size 8\n"), "m.cm:1:1: a connection before the line 'Nodes N'");
  EXPECT_EQ(error_in("m.cm", head + "1->4 start 0 size 8\n"), "m.cm:3:1: node 4; there are 4, from 0 to 3");
  EXPECT_EQ(error_in("m.cm", head + "1->x start 0 size 8\n"), "m.cm:3:1: 'x' is not a node; expected a number from 0");
  EXPECT_EQ(error_in("m.cm", head + "1->1 start 0 size 8\n"), "m.cm:3:1: '1->1': a node would send to itself");
  EXPECT_EQ(error_in("m.cm", head + "1->0 size 8\n"),
            "m.cm:3:1: neither 'start' nor 'trigger'; expected a start, in picoseconds");
  EXPECT_EQ(error_in("m.cm", head + "1->0 start 0\n"), "m.cm:3:1: no 'size' above 0; expected a size in bytes");
  EXPECT_EQ(error_in("m.cm", head + "1->0 start 0 size\n"), "m.cm:3:1: size: expected a whole number after it");
  EXPECT_EQ(
      error_in("m.cm", head + "1->0 start 0 colour 8\n"),
      "m.cm:3:1: unknown word 'colour'; expected id, start, trigger, size, send_done_trigger, recv_done_trigger, msg "
      "or prio");
  EXPECT_THAT(error_in("m.cm", head + "colour 8\n"), HasSubstr("m.cm:3:1: unknown line 'colour'; expected Nodes"));
  EXPECT_THAT(error_in("m.cm", "Nodes 4\nFailures 1\n"), HasSubstr("m.cm:2:1: Failures: failures belong to `faults`"));
  EXPECT_EQ(error_in("m.cm", head + "1->0 start 0 size 8\n2->0 start 0 size 8\n"),
            "m.cm:4:1: 2 connections; the line 'Connections' has 1");
}

TEST_F(FlowFile, ABrokenTriggerOfAConnectionMatrixIsNamed) {
  const auto error = [&](const std::string& lines) { return error_in("m.cm", "Nodes 4\n" + lines); };
  EXPECT_EQ(error("0->1 start 0 size 8 send_done_trigger 1\n0->2 id 2 trigger 1 size 8\ntrigger id 1 oneshot\n"),
            "(no error)");
  EXPECT_EQ(error("1->0 id 1 trigger 2 size 8\n"),
            "m.cm:2:1: there is no trigger 2; expected a line such as trigger id 2 oneshot");
  EXPECT_EQ(error("1->0 start 0 size 8 recv_done_trigger 7\n"),
            "m.cm:2:1: there is no trigger 7; expected a line such as trigger id 7 oneshot");
  EXPECT_EQ(error("1->0 start 0 trigger 1 size 8\n"), "m.cm:2:1: both 'start' and 'trigger'; expected one of them");
  EXPECT_EQ(error("1->0 trigger 0 size 8\n"), "m.cm:2:1: trigger 0; expected 1 or more");
  EXPECT_EQ(error("trigger oneshot\n"), "m.cm:2:1: a trigger without 'id'; expected an id, from 1");
  EXPECT_EQ(error("trigger id 1\n"), "m.cm:2:1: a trigger without a kind; expected oneshot, multishot or barrier");
  EXPECT_EQ(error("trigger id 1 barrier\n"), "m.cm:2:1: a barrier without 'count'; expected a count, from 1");
  EXPECT_EQ(error("trigger id 1 twice\n"),
            "m.cm:2:1: unknown word 'twice'; expected id, oneshot, multishot, barrier or count");
  EXPECT_EQ(error("trigger id 1 oneshot\ntrigger id 1 oneshot\n"),
            "m.cm:3:1: trigger 1 is defined twice; expected it once");
  EXPECT_EQ(error("Triggers 2\n1->0 start 0 size 8\ntrigger id 1 oneshot\n"),
            "m.cm:4:1: 1 triggers; the line 'Triggers' has 2");
  EXPECT_EQ(error("1->0 id 3 start 0 size 8\n2->0 id 3 start 0 size 8\n"),
            "m.cm:3:1: id 3 is used by another connection; expected a unique id, or 'msg' in both lines");
  EXPECT_EQ(error("1->0 id 3 msg start 0 size 8\n2->0 id 3 msg start 0 size 8\n"),
            "m.cm:3:1: id 3 connects other nodes; expected the same nodes");
  EXPECT_EQ(error("1->0 msg start 0 size 8\n"), "m.cm:2:1: 'msg' without 'id'; expected the id of its connection");
}

TEST_F(FlowFile, FlowsOfAConnectionMatrixThatWaitForEachOtherAreRefused) {
  const auto error = [&](const std::string& lines) { return error_in("m.cm", "Nodes 4\n" + lines); };
  const std::string waits = "which waits for this flow; expected a flow with 'start' in the cycle";
  EXPECT_EQ(error("0->1 id 1 trigger 2 size 8 send_done_trigger 1\n1->0 id 2 trigger 1 size 8 send_done_trigger 2\n"
                  "trigger id 1 oneshot\ntrigger id 2 oneshot\n"),
            "m.cm:2:1: a cycle: the flow waits for trigger 2, " + waits);
  // It waits for itself.
  EXPECT_EQ(error("0->1 start 0 size 8\n0->1 id 1 trigger 1 size 8 recv_done_trigger 1\ntrigger id 1 oneshot\n"),
            "m.cm:3:1: a cycle: the flow waits for trigger 1, " + waits);
  // A barrier that one of its own flows would have to fire; a multishot whose second flow would.
  EXPECT_EQ(error("0->1 start 0 size 8 send_done_trigger 1\n0->2 id 1 trigger 1 size 8 send_done_trigger 1\n"
                  "trigger id 1 barrier count 2\n"),
            "m.cm:3:1: a cycle: the flow waits for trigger 1, " + waits);
  EXPECT_EQ(error("0->1 start 0 size 8 send_done_trigger 1\n0->2 id 1 trigger 1 size 8\n"
                  "0->3 id 2 trigger 1 size 8 send_done_trigger 1\ntrigger id 1 multishot\n"),
            "m.cm:4:1: a cycle: the flow waits for trigger 1, " + waits);
  // A chain by one multishot; and one that nobody fires, which the run will say.
  EXPECT_EQ(error("0->1 start 0 size 8 send_done_trigger 1\n0->2 id 1 trigger 1 size 8 send_done_trigger 1\n"
                  "0->3 id 2 trigger 1 size 8\ntrigger id 1 multishot\n"),
            "(no error)");
  EXPECT_EQ(error("0->1 id 1 trigger 1 size 8 send_done_trigger 2\n0->2 id 2 trigger 2 size 8\n"
                  "trigger id 1 oneshot\ntrigger id 2 oneshot\n"),
            "(no error)");
}

TEST_F(FlowFile, TriggersOfAConnectionMatrixAreRead) {
  std::ofstream(folder_ / "m.cm") << "Nodes 4\nTriggers 3\nConnections 4\n"
                                     "trigger id 7 barrier count 2\n"
                                     "0->1 id 1 start 5000 size 8 send_done_trigger 7 recv_done_trigger 9\n"
                                     "0->2 id 2 msg 1 trigger 7 size 16 prio 3\n"
                                     "0->2 id 2 msg trigger 9 size 24\n"
                                     "0->3 start 0 size 8 send_done_trigger 7\n"
                                     "trigger id 9 oneshot\ntrigger id 4 multishot\n";
  std::ofstream(folder_ / "lab.yaml") << kFourHosts << "traffic:\n  - { name: t, pattern: file, file: m.cm }\n";
  const TrafficSpec t = load(folder_ / "lab.yaml").traffic.at(0);
  using Kind = ListedTrigger::Kind;
  EXPECT_EQ(t.triggers, (std::vector<ListedTrigger>{{7, Kind::kBarrier, 2}, {9, Kind::kOneshot, 1},
                                                    {4, Kind::kMultishot, 1}}));
  ASSERT_EQ(t.listed.size(), 4u);
  EXPECT_EQ(t.listed[0], (ListedFlow{{"h1", 1}, {"h2", 1}, Bytes{8}, Duration{5000}, 0, 7, 9, 0}));
  EXPECT_EQ(t.listed[1], (ListedFlow{{"h1", 1}, {"h3", 1}, Bytes{16}, Duration{}, 7, 0, 0, 2}));
  EXPECT_EQ(t.listed[2], (ListedFlow{{"h1", 1}, {"h3", 1}, Bytes{24}, Duration{}, 9, 0, 0, 2}));
  EXPECT_EQ(t.listed[3], (ListedFlow{{"h1", 1}, {"h4", 1}, Bytes{8}, Duration{}, 0, 7, 0, 0}));
}

TEST_F(FlowFile, IsMeantFromTheFolderOfTheFabricFileAndReadAgain) {
  std::ofstream(folder_ / "f.csv") << "from,to,bytes\nh1,h2,1MB\n";
  std::ofstream(folder_ / "lab.yaml") << kFourHosts << "traffic:\n  - { name: t, pattern: file, file: f.csv }\n";
  const Lab lab = load(folder_ / "lab.yaml");
  ASSERT_EQ(lab.traffic.at(0).listed.size(), 1u);
  EXPECT_TRUE(parse(to_yaml(lab), "shown") == lab);
  EXPECT_THAT(error_of(std::string(kFourHosts) + "traffic: [ { name: t, pattern: file, file: /no/such.csv } ]\n"),
              HasSubstr("/no/such.csv: cannot be read"));
}

TEST(FlowSizesAndLoads, WhatDoesNotFitTogetherIsSaid) {
  EXPECT_EQ(error_of_traffic("pattern: random, sizes: web-search, load: 10%"), "(no error)");
  EXPECT_EQ(error_of_traffic("sizes: [[1KB, 10%], [2KB, 100%]], from: h1, to: h2"), "(no error)");
  EXPECT_THAT(error_of_traffic("sizes: websearch"), HasSubstr("unknown 'websearch'; did you mean 'web-search'?"));
  EXPECT_THAT(error_of_traffic("sizes: [[2KB, 10%], [1KB, 100%]]"), HasSubstr("is not above the previous point"));
  EXPECT_THAT(error_of_traffic("sizes: [[2KB, 10%]]"), HasSubstr("does not end at 100%"));
  EXPECT_THAT(error_of_traffic("sizes: [[2KB]]"), HasSubstr("1 values; expected a size and a share"));
  EXPECT_THAT(error_of_traffic("sizes: mice, bytes: 1MB"), HasSubstr("traffic.0.bytes: beside sizes"));
  EXPECT_THAT(error_of_traffic("load: 10%"), HasSubstr("without sizes or bytes"));
  EXPECT_THAT(error_of_traffic("load: 10%, bytes: 1MB, flows: 3"), HasSubstr("traffic.0.flows: beside load"));
  EXPECT_THAT(error_of_traffic("pattern: random, load: 10%, bytes: 1MB", "drain: 1ms"),
              HasSubstr("new flows never end"));
  EXPECT_THAT(error_of_traffic("pattern: random, load: 2, bytes: 1MB"), HasSubstr("is above the link rate"));
  EXPECT_THAT(error_of_traffic("pattern: random, load: 90%, bytes: 100B", "duration: 1s"),
              HasSubstr("expected at most 1048576"));
  EXPECT_THAT(error_of_traffic("pattern: file"), HasSubstr("key 'file' is missing"));
  EXPECT_THAT(error_of_traffic("file: x.csv"), HasSubstr("is for pattern: file"));
}

TEST(FlowSizesAndLoads, FlowsWithSizesHaveAnEnd) {
  EXPECT_EQ(error_of_traffic("from: h1, to: h2, sizes: storage", "drain: 1ms"), "(no error)");
}

}  // namespace
}  // namespace railyard::spec
