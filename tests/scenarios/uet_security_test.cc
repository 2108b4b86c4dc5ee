// Two hosts whose packets are encrypted (TSS), under the virtual clock: loss, wrong and stale keys, replays, rotations,
// trimming, corruption.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/uet_lab.h"

namespace railyard::test {
namespace {

const std::string kKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string kOther = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

// Profiles for both hosts, of which `of_h2` says what is different at h2.
std::string secured(const std::string& all, const std::string& of_h2 = "") {
  const auto profile = [](const std::string& keys) { return "{ uet: { security: { " + keys + " } } }"; };
  if (of_h2.empty()) return "hosts: { default: " + profile(all) + " }\n";
  return "hosts: { default: " + profile(all) + ", other: " + profile(of_h2) + " }\nnodes: { h2: { profile: other } }\n";
}
std::string key(const std::string& digits = kKey) { return "key: \"" + digits + "\""; }

std::uint64_t security_drops(const report::Report& r, const std::string& reason) {
  std::uint64_t sum = 0;
  for (const report::UetNicReport& n : r.uet_nics)
    if (const auto at = n.security_drops.find(reason); at != n.security_drops.end()) sum += at->second;
  return sum;
}
std::uint64_t all_security_drops(const report::Report& r) {
  std::uint64_t sum = 0;
  for (const report::UetNicReport& n : r.uet_nics)
    for (const auto& [reason, count] : n.security_drops) sum += count;
  return sum;
}

const std::string kFlow = "message: 64KB, bytes: 4MB";
constexpr std::uint64_t kMessages = 63;  // the last one is what is left

void expect_secured(const report::Report& r) {
  for (const report::UetNicReport& n : r.uet_nics) {
    EXPECT_GT(n.secured_packets_sent, 0u);
    EXPECT_EQ(n.secured_packets_sent, n.sent_packets);
  }
}

TEST(UetSecurity, FlowsCompleteOverLossInEveryMode) {
  for (const std::string mode : {"direct", "cluster"})
    for (const std::string more : {"", ", ip: 6"})
      for (const std::string payload : {"elided", "real"}) {
        SCOPED_TRACE(mode + more + " " + payload);
        Scenario s(pair(kFlow + more, secured("mode: " + mode + ", " + key()) +
                                          "faults: [ { name: l, on: \"h2:1 in\", loss: 1% } ]\n"
                                          "run: { payload: " + payload + " }\n"));
        s.run_to_the_end();
        const report::Report r = s.report();
        expect_all_verified(r, kMessages);
        expect_secured(r);
        EXPECT_GT(sums(r).retransmitted, 0u);
        EXPECT_EQ(all_security_drops(r), 0u);
      }
}

TEST(UetSecurity, ClientAndServer) {
  Scenario s(pair(kFlow, secured("mode: client, " + key(), "mode: server, " + key())));
  s.run_to_the_end();
  expect_all_verified(s.report(), kMessages);
  EXPECT_EQ(all_security_drops(s.report()), 0u);
}

TEST(UetSecurity, AWrongKeyDeliversNothing) {
  Scenario s(pair(kFlow, secured(key(), key(kOther)) + "run: { duration: 5ms }\n"));
  s.run_until(Duration{5'000'000'000});
  const report::Report r = s.report();
  EXPECT_EQ(flow_report(r).uet->verified, 0u);
  EXPECT_GT(security_drops(r, "authentication_failed"), 0u);
  EXPECT_EQ(security_drops(r, "authentication_failed"), all_security_drops(r));
  s.leave_the_books();
}

TEST(UetSecurity, OtherReasonsToDrop) {
  const auto dropped = [](const std::string& of_h2, const std::string& reason) {
    Scenario s(pair(kFlow, secured(key(), of_h2) + "run: { duration: 2ms }\n"));
    s.run_until(Duration{2'000'000'000});
    const report::Report r = s.report();
    EXPECT_EQ(flow_report(r).uet->verified, 0u) << reason;
    EXPECT_GT(security_drops(r, reason), 0u) << reason;
    s.leave_the_books();
  };
  dropped(key() + ", sdi: 2", "unknown_domain");
  dropped(key() + ", association: 1", "unknown_association");
  dropped(key() + ", epoch: 2", "stale_epoch");
  dropped("mode: cluster, " + key(), "authentication_failed");
}

TEST(UetSecurity, PlainPacketsAreDropped) {
  Scenario s(pair(kFlow, "hosts: { default: {}, other: { uet: { security: { " + key() +
                             " } } } }\nnodes: { h2: { profile: other } }\nrun: { duration: 2ms }\n"));
  s.run_until(Duration{2'000'000'000});
  const report::Report r = s.report();
  EXPECT_EQ(flow_report(r).uet->verified, 0u);
  EXPECT_GT(security_drops(r, "not_secured"), 0u);
  s.leave_the_books();
}

// A link repeats frames: as an attacker would.
TEST(UetSecurity, RepeatedFramesAreDropped) {
  Scenario s(pair(kFlow, secured(key()) + "faults: [ { name: d, on: \"h2:1 in\", duplicate: true, probability: 10% } ]\n"));
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, kMessages);
  EXPECT_GT(security_drops(r, "replayed"), 50u);
  EXPECT_EQ(sums(r).duplicates, 0u);
}

TEST(UetSecurity, CorruptedPacketsAreRetransmitted) {
  for (const std::string payload : {"elided", "real"}) {
    Scenario s(pair(kFlow, secured(key()) + "faults: [ { name: c, on: \"h2:1 in\", corrupt: true, probability: 2% } ]\nrun: { payload: " +
                               payload + " }\n"));
    s.run_to_the_end();
    const report::Report r = s.report();
    expect_all_verified(r, kMessages);
    EXPECT_GT(security_drops(r, "authentication_failed") + s.drops(DropReason::kFcsError), 5u) << payload;
  }
}

TEST(UetSecurity, RotationsInMidFlowLoseNothing) {
  for (const std::string rotation : {"rotate-after: 100", "rotate-at: 100us"})
    for (const std::string mode : {"direct", "cluster"}) {
      Scenario s(pair(kFlow, secured("mode: " + mode + ", " + key() + ", next-key: \"" + kOther + "\", " + rotation +
                                     (mode == "cluster" ? ", rekey-after: 64" : ""))));
      s.run_to_the_end();
      const report::Report r = s.report();
      expect_all_verified(r, kMessages);
      EXPECT_EQ(all_security_drops(r), 0u) << rotation;
      EXPECT_EQ(sums(r).retransmitted, 0u) << rotation;
    }
}

// Nobody answers a trimmed packet that is encrypted; the senders find the losses.
TEST(UetSecurity, AnIncastWithTrimmingCompletes) {
  Scenario s("name: incast\n"
             "topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 4 }\n"
             "qos: { default: { dscp: { 46: 6 }, classes: { 3: { lossless: false, queue-limit: 64KB, trim: { dscp: 40, class: 5 } }, 5: { strict: true }, "
             "6: { strict: true } } } }\n" +
             secured(key()) +
             "traffic: [ { name: t, pattern: incast, to: h1, fan-in: 7, transport: uet, message: 256KB, bytes: 256KB } ]\n"
             "run: { drain: 50ms }\n");
  s.run_to_the_end();
  const report::Report r = s.report();
  expect_all_verified(r, 7);
  EXPECT_GT(security_drops(r, "trimmed"), 0u);
  EXPECT_EQ(sums(r).nacks, 0u);
}

TEST(UetSecurity, TheDigestDoesNotDependOnWorkers) {
  std::uint64_t digests[2];
  for (const std::size_t workers : {1u, 2u}) {
    EngineConfig config;
    config.workers = workers;
    Scenario s(pair(kFlow, secured("mode: cluster, " + key() + ", rotate-after: 300") +
                               "faults: [ { name: l, on: \"h2:1 in\", loss: 1% } ]\n"),
               {}, config);
    s.run_to_the_end();
    expect_all_verified(s.report(), kMessages);
    digests[workers - 1] = s.digest();
  }
  EXPECT_EQ(digests[0], digests[1]);
}

}  // namespace
}  // namespace railyard::test
