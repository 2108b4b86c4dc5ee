// `railyard replay` on a lab that is up: what one lab's host has sent, sent by another's.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "dataplane/port/pcap_file.h"
#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// trace.pcapng: 25 frames from h1 to h2. The lab that is up has no traffic.
class LiveReplay : public LiveCommandLine {
 protected:
  LiveReplay() {
    EXPECT_EQ(railyard({"run", "lab.yaml", "--capture", "h1:1:out=trace.pcapng"}).exit_code, kOk);
    const Outcome o = railyard({"up", "lab.yaml", "--detach", "--set", "traffic="});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
  }
  std::uint64_t received_by_h2() const {
    const json s = json::parse(railyard({"status", "--json"}).out);
    for (const json& p : s["ports"])
      if (p["node"] == "h2") return p["rx"]["packets"];
    return 0;
  }
};

TEST_F(LiveReplay, TheFramesArriveAsIfTheHostHadSentThem) {
  const Outcome o = railyard({"replay", "trace.pcapng", "--at", "h1"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(
      o.err,
      "railyard: lab small: replaying 25 frames at h1:1; Ctrl-C ends it\nrailyard: lab small: h1:1: 25 frames sent\n");
  while (received_by_h2() < 25) continue;
  EXPECT_EQ(railyard({"replay", "trace.pcapng", "--at", "h1:1", "--rate", "1Gbps"}).exit_code, kOk);
  EXPECT_EQ(railyard({"replay", "trace.pcapng", "--at", "h1:1", "--asap"}).exit_code, kOk);
  while (received_by_h2() < 75) continue;
  EXPECT_EQ(received_by_h2(), 75u);
  EXPECT_TRUE(json::parse(railyard({"status", "--audit", "--json"}).out)["balanced"]);
}

TEST_F(LiveReplay, ALoopGoesOnUntilItIsStoppedFromElsewhere) {
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(railyard({"replay", "trace.pcapng", "--at", "h1", "--loop", "--rate", "100Mbps"}));
    _exit(0);
  }
  while (received_by_h2() < 60) continue;
  const Outcome o = railyard({"replay", "--stop"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_THAT(o.err, HasSubstr("railyard: lab small: h1:1: "));
  waitpid(child, nullptr, 0);
  EXPECT_THAT(railyard({"replay", "--stop"}).err, HasSubstr("railyard: no replay is running\n"));
}

TEST_F(LiveReplay, WhatCannotBeIsSaidAndNothingIsSent) {
  EXPECT_EQ(error(kInput, {"replay", "nowhere.pcap", "--at", "h1"}),
            "railyard: nowhere.pcap: cannot be read: No such file or directory");
  write("cut.pcapng", read("trace.pcapng").substr(0, 5000));
  EXPECT_THAT(error(kInput, {"replay", "cut.pcapng", "--at", "h1"}), HasSubstr("cut.pcapng: frame 2: "));
  EXPECT_THAT(error(kUsage, {"replay", "trace.pcapng", "--at", "leaf1"}), HasSubstr("is a switch port"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"replay"},
                                                {"replay", "trace.pcapng"},
                                                {"replay", "trace.pcapng", "--at", "h1", "--asap", "--rate", "1Gbps"},
                                                {"replay", "trace.pcapng", "--at", "h1", "--rate", "fast"},
                                                {"replay", "trace.pcapng", "--stop"}})
    EXPECT_EQ(railyard(words).exit_code, kUsage);
  EXPECT_EQ(received_by_h2(), 0u);
}

}  // namespace
}  // namespace railyard::tools
