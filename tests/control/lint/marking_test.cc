// ECN marks that come after PFC or drops, or never.
#include <gmock/gmock.h>

#include "tests/control/lint/lint_lab.h"

namespace railyard::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h1 and h2 to h3; XOFF at 100 KB of each of the two ingress groups, so at most 200 KB wait before the first XOFF.
std::vector<Finding> incast(const std::string& ecn, const std::string& buffer = "lossless: true, xoff: 100KB") {
  return findings_in("qos: { default: { classes: { 3: { " + buffer + ", ecn: " + ecn + " } } } }\n" +
                     "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
                     "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]\n");
}

TEST(Marking, AKminAboveWhatTheIngressGroupsHoldIsFound) {
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].place.line, 2);
  EXPECT_EQ(found[0].path, "qos.default.classes.3.ecn.kmin");
  EXPECT_THAT(found[0].text,
              HasSubstr("kmin is 400 KB, but the 2 ingress ports that feed leaf1:3 reach XOFF at 200 KB"));
}

TEST(Marking, ThatOfTheBuiltInProfileIsPutAtTheFile) {
  // 1 MiB of buffer: alpha 1/8 leaves each of two groups some 100 KB.
  const auto found = findings_in(
      "switches: { default: { buffer: 1MiB } }\n"
      "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
      "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]\n");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_EQ(found[0].place.file, "x.yaml");
}

// Two groups of 100 KB: the ramp must have marked before they hold them.
TEST(Marking, ARampThatHasMarkedBeforeThatIsSilent) {
  EXPECT_THAT(incast("{ kmin: 50KB, kmax: 200KB }"), IsEmpty());
  EXPECT_THAT(rules_of(incast("{ kmin: 200KB, kmax: 1600KB }")), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(incast("{ kmin: 200KB, kmax: 800KB }", "lossless: true, xoff: 300KB"), IsEmpty());
}

// The queue is past kmin when a group reaches XOFF, and has hardly marked a packet: `run` fails ce-before-xoff.
TEST(Marking, ARampThatHasHardlyBegunIsFound) {
  const auto found = incast("{ kmin: 150KB, kmax: 600KB, pmax: 20% }");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(found[0].text, HasSubstr("PFC can start before ECN: from kmin (150 KB) on, the queue has marked 0."));
  EXPECT_THAT(found[0].text, HasSubstr("the 2 ingress ports that feed leaf1:3 reach XOFF at 200 KB (100 KB each)"));
  EXPECT_THAT(rules_of(incast("{ kmin: 199KB, kmax: 1600KB }")), ElementsAre("kmin-above-xoff"));
}

// The thresholds in a fix, "Set kmin to 40KB and kmax to 150KB or less, ...", in the words of the file.
std::string ecn_of_fix(const std::string& fix, const std::string& kmax) {
  const auto value_behind = [&](const std::string& words, const std::string& otherwise) {
    const std::size_t at = fix.find(words);
    if (at == fix.npos) return otherwise;
    const std::size_t from = at + words.size();
    return fix.substr(from, fix.find_first_of(" ,", from) - from);
  };
  return "{ kmin: " + value_behind("kmin to ", "?") + ", kmax: " + value_behind("kmax to ", kmax) + " }";
}

TEST(Marking, TheFixNamesValuesThatPass) {
  for (const std::string kmax : {"250KB", "600KB", "1600KB"})
    for (const std::string kmin : {"150KB", "199KB", "240KB"}) {
      const auto found = incast("{ kmin: " + kmin + ", kmax: " + kmax + " }");
      ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff")) << kmin << " " << kmax;
      EXPECT_THAT(incast(ecn_of_fix(found[0].fix, kmax)), IsEmpty()) << found[0].fix;
    }
}

TEST(Marking, AFixOfAutomaticThresholdsAndOneOfXoffPass) {
  const auto with_auto = incast("auto");
  ASSERT_THAT(rules_of(with_auto), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(with_auto[0].fix, HasSubstr(" and kmax to "));
  EXPECT_THAT(incast(ecn_of_fix(with_auto[0].fix, "?")), IsEmpty()) << with_auto[0].fix;
  // A group of 10 KB is full before any threshold above a frame has marked.
  const auto xoff = [](const std::string& octets) {
    return incast("{ kmin: 30KB, kmax: 120KB, pmax: 1% }", "lossless: true, xon-offset: 4KB, xoff: " + octets);
  };
  const auto shallow = xoff("10KB");
  ASSERT_THAT(rules_of(shallow), ElementsAre("kmin-above-xoff"));
  ASSERT_THAT(shallow[0].fix, testing::StartsWith("Set xoff to "));
  EXPECT_THAT(xoff(shallow[0].fix.substr(12, shallow[0].fix.find(' ', 12) - 12)), IsEmpty()) << shallow[0].fix;
}

// Two flows of 64 KB cannot hold 200 KB of a queue.
TEST(Marking, WhatIsNotUnderWayReachesNoXoff) {
  const auto small = [](const std::string& traffic) {
    return findings_in(
        "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 400KB, kmax: "
        "1600KB } } } } }\n"
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
        "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26, " +
        traffic + " } ]\n");
  };
  EXPECT_THAT(small("bytes: 64KB"), IsEmpty());
  EXPECT_THAT(rules_of(small("bytes: 640KB")), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(small("transport: roce, message: 32KB, outstanding: 2"), IsEmpty());
  EXPECT_THAT(rules_of(small("transport: roce, message: 32KB, outstanding: 8")), ElementsAre("kmin-above-xoff"));
}

// A leaf with four senders, and one with two of them and a port from a spine with the others: shares are not equal.
TEST(Marking, TheIngressPortWithMostOfTheQueueIsTheFirstAtXoff) {
  const auto behind_spine = [](const std::string& xoff) {
    return findings_in("qos: { default: { classes: { 3: { lossless: true, xoff: " + xoff +
                       ", ecn: { kmin: 100KB, kmax: 400KB } } } } }\n"
                       "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4, fabric-link: { rate: "
                       "400Gbps } }\n"
                       "traffic: [ { name: t, pattern: incast, from: [h2, h5, h6, h7], to: h1, dscp: 26 } ]\n");
  };
  const auto found = behind_spine("120KB");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-xoff"));
  EXPECT_THAT(found[0].text, HasSubstr("leaf1:1 reach XOFF at 160 KB (120 KB at port 5)"))
      << "three of four packets come from the spine";
  EXPECT_THAT(behind_spine("300KB"), IsEmpty());
}

// Senders whose rates the link can carry fill nothing.
TEST(Marking, SlowSendersFillNoQueue) {
  EXPECT_THAT(
      findings_in("qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 400KB, kmax: "
                  "1600KB } } } } }\n"
                  "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
                  "traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26, rate: 40Gbps } ]\n"),
      IsEmpty());
}

// One sender into a link as fast as its own: nothing ever waits, whatever the thresholds are.
TEST(Marking, OfAQueueThatNeverFillsNothingIsSaid) {
  EXPECT_THAT(findings_in(pair_lab(
                  "", "qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, ecn: { kmin: 400KB, kmax: 1600KB "
                      "} } } } }\n")),
              IsEmpty());
}

TEST(Marking, ALossyQueueThatEndsBelowKminIsFound) {
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }", "queue-limit: 300KB");
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-limit"));
  EXPECT_THAT(found[0].text, HasSubstr("dropped before they are marked: kmin is 400 KB, but"));
  EXPECT_THAT(incast("{ kmin: 100KB, kmax: 200KB }", "queue-limit: 300KB"), IsEmpty());
}

// h1 and h2 have credits for 100 KB each: no more than 200 KB ever wait.
TEST(Marking, AKminAboveTheCreditsOfAllSendersIsFound) {
  const std::string credits = "lossless: true, cbfc: { credits: 102400B }";
  const auto found = incast("{ kmin: 400KB, kmax: 1600KB }", credits);
  ASSERT_THAT(rules_of(found), ElementsAre("kmin-above-limit"));
  EXPECT_EQ(found[0].path, "qos.default.classes.3.ecn.kmin");
  EXPECT_THAT(found[0].text, HasSubstr("kmin is 400 KB, and the 2 ingress ports that feed it grant credits for 205 KB"));
  EXPECT_THAT(rules_of(incast("{ kmin: 204800B, kmax: 1600KB }", credits)), ElementsAre("kmin-above-limit"));
  EXPECT_THAT(incast("{ kmin: 200KB, kmax: 1600KB }", credits), IsEmpty());
  EXPECT_THAT(rules_of(incast("{ kmin: 4MB, kmax: 16MB }", "lossless: true, cbfc: on")), ElementsAre("kmin-above-limit"));
}

TEST(Marking, EarlyDropsThatBeginAboveTheQueuesLimitAreFound) {
  const auto with = [](const std::string& drop) { return incast("off", "queue-limit: 300KB, drop: " + drop); };
  const auto found = with("{ min: 400KB, max: 800KB }");
  ASSERT_THAT(rules_of(found), ElementsAre("drop-above-limit"));
  EXPECT_EQ(found[0].path, "qos.default.classes.3.drop.min");
  EXPECT_THAT(found[0].text, HasSubstr("Early drops never begin: drop.min is 400 KB, and the queue of leaf1:3 ends at 300 KB"));
  EXPECT_THAT(rules_of(with("{ min: 100KB, max: 200KB, not-ect: { min: 300KB, max: 400KB } }")),
              ElementsAre("drop-above-limit"));
  EXPECT_THAT(with("{ min: 299KB, max: 800KB }"), IsEmpty());
}

TEST(Marking, DcqcnWithoutMarksIsFound) {
  const std::string dcqcn = "hosts: { default: { roce: { congestion: dcqcn } } }\n";
  const std::string off = "qos: { default: { classes: { 3: { lossless: true, ecn: off } } } }\n";
  ASSERT_THAT(rules_of(findings_in(pair_lab("", dcqcn + off))), ElementsAre("congestion-control-without-marks"));
  EXPECT_THAT(rules_of(findings_in(pair_lab(", ecn: false", dcqcn))), ElementsAre("congestion-control-without-marks"));
  EXPECT_THAT(findings_in(pair_lab("", dcqcn)), IsEmpty());
  EXPECT_THAT(findings_in(pair_lab("", off)), IsEmpty()) << "nobody runs it, if nothing marks";
  EXPECT_THAT(findings_in(pair_lab("", "hosts: { default: { roce: { congestion: none } } }\n" + off)), IsEmpty());
}

// It is on by default as one class marks, and runs in the other, too.
TEST(Marking, TheDefaultDcqcnInAClassThatDoesNotMarkIsFound) {
  const auto beside = [](const std::string& ecn) {
    return findings_in(
        "qos: { default: { classes: { 3: { lossless: true, ecn: auto }, 4: { lossless: true, ecn: " + ecn +
        " } } } }\n"
        "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }\n"
        "traffic:\n  - { name: a, from: h1, to: h3, transport: roce, dscp: 26, message: 1MB }\n"
        "  - { name: b, from: h2, to: h3, transport: roce, dscp: 34, message: 1MB }\n");
  };
  const auto found = beside("off");
  ASSERT_THAT(rules_of(found), ElementsAre("congestion-control-without-marks"));
  EXPECT_EQ(found[0].path, "qos.default.classes.4.ecn");
  EXPECT_THAT(found[0].text, HasSubstr("no switch on the path of b marks class 4"));
  EXPECT_THAT(beside("auto"), IsEmpty());
}

}  // namespace
}  // namespace railyard::lint
