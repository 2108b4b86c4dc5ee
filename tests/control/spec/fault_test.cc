#include <map>

#include <gtest/gtest.h>

#include "control/spec/fault_match.h"
#include "control/spec/fault_place.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/load.h"
#include "control/spec/reference.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

using namespace literals;

constexpr const char* kHead =
    "name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\nrun: { duration: 1ms }\n"
    "faults:\n";

Lab lab_with(const std::string& fault) { return parse(std::string(kHead) + "  - { " + fault + " }\n", "x.yaml"); }
FaultSpec read(const std::string& fault) { return lab_with(fault).faults.at(0); }
// The fault's keys begin in column 7 of line 5.
std::string error_with(const std::string& fault) { return error_of(std::string(kHead) + "  - { " + fault + " }\n"); }

TEST(Fault, EveryKeyOfWhereAndWhen) {
  const FaultSpec f = read(
      "name: n, on: [leaf1:1, 'spine* in', rail 1, leaf2:3/5], at: 1ms, every: 2ms, for: 1us, count: 3, probability: "
      "20%, match: { ip.dscp: 26, bth.opcode: 0x0a, nth: 3 }, drop: true");
  EXPECT_EQ(f.name, "n");
  ASSERT_EQ(f.on.size(), 4u);
  EXPECT_EQ(f.on[0], (FaultPlace{.node = "leaf1", .port = 1}));
  EXPECT_EQ(f.on[1], (FaultPlace{.node = "spine*", .direction = FaultPlace::Direction::kIn}));
  EXPECT_EQ(f.on[2], (FaultPlace{.node = "*", .port = 1, .is_rail = true}));
  EXPECT_EQ(f.on[3], (FaultPlace{.node = "leaf2", .port = 3, .traffic_class = 5}));
  EXPECT_EQ(f.at, 1_ms);
  EXPECT_EQ(f.every, 2_ms);
  EXPECT_EQ(f.lasts, 1_us);
  EXPECT_EQ(f.count, 3u);
  EXPECT_EQ(f.probability, (Ratio{1, 5}));
  EXPECT_EQ(f.match, (std::vector<MatchTerm>{{"ip.dscp", "26"}, {"bth.opcode", "0x0a"}}));
  EXPECT_EQ(f.nth, 3u);
  EXPECT_TRUE(std::holds_alternative<fault::Drop>(f.action));
}

TEST(Fault, EverythingThatCanGoWrongIsWrittenAsItIsRead) {
  for (const char* f :
       {"on: leaf1:1, down: true",
        "on: leaf1:1, flap: { down: 1us, up: 2us }, count: 3",
        "on: leaf1:1, rate: 1/4",
        "on: leaf1:1, delay: 5us",
        "on: leaf1:1, delay: { time: 5us, jitter: 1us }",
        "on: leaf1:1 in, delay: { time: 5us, jitter-up: 1us }",
        "on: leaf1:1, delay: { time: 5us, jitter: 8us, in-order: false }",
        "on: leaf1:1 out, rate: 1/4",
        "on: 'spine* in', rate: 9/10",
        "on: leaf1:1 out, loss: 1%",
        "on: leaf1:1, loss: { good-to-bad: 1%, bad-to-good: 10%, in-good: 0.1%, in-bad: 50% }",
        "on: leaf1:1, bit-errors: 1e-12",
        "on: leaf1:1, corrupt: true",
        "on: leaf1:1, duplicate: true, probability: 1%",
        "on: h1, drop: true, match: { eth.src: '02:00:00:00:00:01', ip.src: 10.0.0.0/24, size: '>100B' }, count: 5",
        "on: leaf1:1, mark: true",
        "on: leaf1:1, lose-pause: true",
        "on: leaf1:1, reorder: { behind: 3, within: 10us }",
        "on: leaf1:1, truncate: 64B",
        "on: leaf1:1, trim: { keep: 96B, dscp: 40 }, match: { ip.dscp: 26 }, count: 5",
        "on: h1, pfc-storm: [3, 4], for: 1us",
        "on: h1, ignore-pause: true",
        "on: h1, mtu: 1500",
        "on: leaf1, dscp-map: { 26: 0 }",
        "on: leaf1:1/3, ecn: { kmin: 1KB, kmax: 2KB, pmax: 50% }",
        "on: leaf1, buffer: 1MiB",
        "on: spine*, crash: true, for: 1us",
        "on: h1, stop-receiving: true",
        "on: h1, receive: 10Gbps",
        "on: h*, straggle: 1/10",
        "on: h1, skew: { behind: 5us }",
        "on: h1, skew: { ahead: 1us, slow: 0.01% }",
        "on: leaf1:1, after: 5us, down: true, when: 'queue leaf1:3/3 depth > 200KiB'",
        "on: leaf1:1, down: true, when: 'queue leaf1:3/3 paused > 1ms'"}) {
    try {
      const Lab lab = lab_with(f);
      const std::string yaml = to_yaml(lab);
      EXPECT_TRUE(parse(yaml, "shown") == lab) << f << "\n" << yaml;
      Lab none = lab;
      none.faults.clear();
      EXPECT_EQ(parse_fault(none, to_text(lab.faults[0]), "again"), lab.faults[0]) << to_text(lab.faults[0]);
    } catch (const SpecError& e) {
      ADD_FAILURE() << f << ": " << e.what();
    }
  }
}

// Every line of the reference is a fault, of the kind that it stands for.
TEST(Fault, TheReferenceCanBeWritten) {
  const std::map<FaultScope, std::string> places{
      {FaultScope::kLink, "leaf1:1"},       {FaultScope::kPort, "leaf1:1"},  {FaultScope::kSwitch, "leaf1"},
      {FaultScope::kSwitchPort, "leaf1:1"}, {FaultScope::kQueue, "leaf1:1"}, {FaultScope::kHost, "h1"},
      {FaultScope::kNic, "h1:1"}};
  for (const FaultKind& kind : fault_kinds()) {
    EXPECT_FALSE(kind.reference.empty()) << kind.name;
    for (const ReferenceLine& line : kind.reference) {
      const std::string text = "on: " + places.at(kind.scope) + ", " + kind.key + ": " + line.value;
      try {
        EXPECT_EQ(fault_kind(read(text).action).name, kind.name) << text;
      } catch (const SpecError& e) {
        ADD_FAILURE() << text << ": " << e.what();
      }
    }
  }
}

TEST(Fault, TheReferenceIsInExplicitYaml) {
  const std::string shipped = read_file(RAILYARD_SOURCE_DIR "/topologies/explicit.yaml");
  EXPECT_TRUE(shipped == with_references(shipped)) << "A kind has changed. Write the reference anew:\n"
                                                      "  cmake --build " RAILYARD_BINARY_DIR " --target fabric-schema";
  for (const FaultKind& kind : fault_kinds())
    EXPECT_NE(shipped.find("  #   " + kind.key + ": "), std::string::npos) << kind.key;
}

TEST(Fault, WithoutANameItGetsOne) {
  const Lab lab =
      parse(std::string(kHead) +
                "  - { on: h1, loss: 1% }\n  - { name: loss-2, on: h1, loss: 2% }\n  - { on: h1, loss: 3% }\n",
            "x.yaml");
  EXPECT_EQ(lab.faults[0].name, "loss-1");
  EXPECT_EQ(lab.faults[2].name, "loss-3");
}

TEST(Fault, ProbabilitiesAreExact) {
  EXPECT_EQ(parse_probability("1e-12"), (Ratio{1, 1'000'000'000'000}));
  EXPECT_EQ(parse_probability("2.5e-9"), (Ratio{1, 400'000'000}));
  EXPECT_EQ(parse_probability("0.1%"), (Ratio{1, 1000}));
  EXPECT_EQ(parse_probability("1"), (Ratio{1, 1}));
  for (const char* bad : {"1.5", "150%", "-1", "1e-13", "1e5", "", "e-3", "x"})
    EXPECT_FALSE(parse_probability(bad)) << bad;
}

TEST(FaultErrors, Places) {
  EXPECT_EQ(error_with("on: leaf9:1, loss: 1%"),
            "x.yaml:5:11: faults.0.on: there is no node 'leaf9'; did you mean 'leaf1'?");
  EXPECT_EQ(error_with("on: leaf1:77, loss: 1%"),
            "x.yaml:5:11: faults.0.on: there is no link at leaf1:77; expected one of the ports with a link, 1-3");
  EXPECT_EQ(error_with("on: rail 7, loss: 1%"),
            "x.yaml:5:11: faults.0.on: there is no link at rail 7; expected one of the rails 1");
  EXPECT_EQ(error_with("on: h1, when: queue leaf2:4/3 depth > 1KB, loss: 1%"),
            "x.yaml:5:21: faults.0.when: there is no link at leaf2:4; expected one of the ports with a link, 1-3");
  EXPECT_EQ(error_with("on: [leaf1, x*], loss: 1%"), "x.yaml:5:19: faults.0.on.1: x* selects no node of this lab");
  EXPECT_EQ(
      error_with("on: 'leaf1:', loss: 1%"),
      "x.yaml:5:11: faults.0.on: 'leaf1:' is not a place; expected a node, port, link, direction or queue: leaf1, "
      "spine*, leaf1:3, leaf1:3 out, leaf1:3/5, rail 2");
  EXPECT_EQ(error_with("loss: 1%").substr(0, 50), "x.yaml:5:5: faults.0: key 'on' is missing: where: ");
  EXPECT_EQ(error_with("on: h1, crash: true"), "x.yaml:5:11: faults.0.on: h1 is a host; expected a switch for crash");
  EXPECT_EQ(error_with("on: leaf1, straggle: 1/2"),
            "x.yaml:5:11: faults.0.on: leaf1 is a switch; expected a host for straggle");
  EXPECT_EQ(error_with("on: leaf1:1 out, down: true"),
            "x.yaml:5:11: faults.0.on: down has no direction; expected leaf1 without in or out");
  EXPECT_EQ(error_with("on: leaf1:1/3, down: true"),
            "x.yaml:5:11: faults.0.on: down does not apply to one class; expected a place without /3");
  EXPECT_EQ(error_with("on: leaf1:1, crash: true"),
            "x.yaml:5:11: faults.0.on: crash applies to a whole switch; expected a place without a port");
}

// The tail of a frame that a switch has begun to send must not come in more slowly than it goes out.
TEST(FaultErrors, ADegradedLinkWhereASwitchCutsThrough) {
  EXPECT_EQ(error_of("name: x\ntopology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 2 }\n"
                     "switches: { default: { mode: cut-through } }\nrun: { duration: 1ms }\nfaults:\n"
                     "  - { on: leaf1:1, rate: 1/4 }\n"),
            "x.yaml:6:11: faults.0.on: leaf1 uses cut-through, which needs a fixed receiving rate; expected a link "
            "between store-and-forward devices");
}

TEST(FaultErrors, Times) {
  EXPECT_EQ(error_with("on: h1, loss: 1%, at: -1us").substr(0, 43), "x.yaml:5:29: faults.0.at: -1us is negative;");
  EXPECT_EQ(error_with("on: h1, loss: 1%, at: 1us, after: 1us"),
            "x.yaml:5:41: faults.0.after: found with at; expected one of the two");
  EXPECT_EQ(error_with("on: h1, loss: 1%, every: 1us"),
            "x.yaml:5:32: faults.0.every: needs for, the duration of each occurrence");
  EXPECT_EQ(error_with("on: h1, loss: 1%, every: 1us, for: 2us"),
            "x.yaml:5:42: faults.0.for: 2us is not below every (1us); expected an end before the next start");
  EXPECT_EQ(error_with("on: h1, down: true, count: 2"),
            "x.yaml:5:34: faults.0.count: down happens once; expected every with it");
}

TEST(FaultErrors, WhatAndHowMuch) {
  EXPECT_EQ(error_with("on: h1, loss: 1.5"), "x.yaml:5:21: faults.0.loss: 1.5 is above 1; expected 0..1 or 0%..100%");
  EXPECT_EQ(error_with("on: h1, drop: true, probability: 150%"),
            "x.yaml:5:40: faults.0.probability: 150% is above 1; expected 0..1 or 0%..100%");
  EXPECT_EQ(error_with("on: h1").substr(0, 87),
            "x.yaml:5:5: faults.0: has no kind of fault; expected one of loss, down, delay, ... (top");
  EXPECT_EQ(error_with("on: h1, loss: 1%, down: true"),
            "x.yaml:5:21: faults.0.loss: a fault has one kind, and this one already has down; expected another fault "
            "for loss");
  EXPECT_EQ(error_with("on: h1, down: false"), "x.yaml:5:21: faults.0.down: found 'false'; expected true");
  EXPECT_EQ(error_with("on: h1, delay: { time: 5us, jitter: 1us, jitter-up: 1us }"),
            "x.yaml:5:59: faults.0.delay.jitter-up: found with jitter; expected one of the two");
  EXPECT_EQ(error_with("on: leaf1, buffer: 1GiB"),
            "x.yaml:5:26: faults.0.buffer: 1GiB is more than the buffer of leaf1 (32MiB)");
  EXPECT_EQ(error_with("on: h1, skew: { ahead: 1us, behind: 1us }"),
            "x.yaml:5:21: faults.0.skew: expected either ahead or behind");
  EXPECT_EQ(error_with("on: h1, skew: { fast: 1%, slow: 1% }"),
            "x.yaml:5:21: faults.0.skew: expected either fast or slow");
  EXPECT_EQ(error_with("on: h1, skew: { fast: 0 }"),
            "x.yaml:5:21: faults.0.skew: expected ahead, behind, fast or slow");
  EXPECT_EQ(error_of(std::string(kHead) + "  - { name: a, on: h1, loss: 1% }\n  - { name: a, on: h2, loss: 1% }\n"),
            "x.yaml:6:13: faults.1.name: two faults have the name a; expected unique names");
}

TEST(FaultErrors, Matches) {
  EXPECT_EQ(error_with("on: h1, drop: true, match: { bth.pns: 3 }").substr(0, 83),
            "x.yaml:5:36: faults.0.match: unknown header field 'bth.pns'; did you mean 'bth.psn'");
  EXPECT_EQ(error_with("on: h1, drop: true, match: { ip.dscp: 64 }"),
            "x.yaml:5:36: faults.0.match: 64 is out of range; expected 0..63 for ip.dscp");
  EXPECT_EQ(error_with("on: h1, drop: true, match: { bth.opcode: 0x1ff }"),
            "x.yaml:5:36: faults.0.match: 0x1ff is out of range; expected 0..255 for bth.opcode");
  EXPECT_EQ(error_with("on: h1, drop: true, match: { ip.src: here }"),
            "x.yaml:5:36: faults.0.match: 'here' is not an address or prefix; expected one such as 10.0.0.1 or "
            "fd00::/64");
  EXPECT_EQ(error_with("on: h1, down: true, match: { ip.dscp: 6 }"),
            "x.yaml:5:34: faults.0.match: down does not select frames; expected none");
}

// Under the virtual clock nothing may keep a run from ending.
TEST(FaultErrors, OnesThatGoOnForEver) {
  const auto error = [](const std::string& fault) {
    return error_of(
        "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\ntraffic: [{ name: t, from: h1, to: "
        "h2, bytes: 1MiB }]\nfaults:\n  - { " +
        fault + " }\n");
  };
  EXPECT_EQ(error("on: h1, every: 2us, for: 1us, down: true"),
            "x.yaml:5:22: faults.0.every: the fault never ends, nor does the run; expected count, or run.duration");
  EXPECT_EQ(error("on: h1, pfc-storm: 3"),
            "x.yaml:5:26: faults.0.pfc-storm: the fault never ends, nor does the run; expected for, or run.duration");
  EXPECT_EQ(error("on: h1, every: 2us, for: 1us, loss: 1%"), "(no error)");
  EXPECT_EQ(error("on: h1, every: 2us, for: 1us, down: true, count: 5"), "(no error)");
}

}  // namespace
}  // namespace railyard::spec
