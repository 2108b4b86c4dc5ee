// `railyard capture` on a lab that is up: files and pipes, read back with libpcap, and clients that misbehave.
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "control/api/http_client.h"
#include "dataplane/port/pcap_file.h"
#include "tests/tools/railyard/live_command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

// A lab whose h1 sends to h2 for as long as it is up.
class LiveCapture : public LiveCommandLine {
 protected:
  LiveCapture() {
    write("live.yaml", R"(name: live
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 50Mbps } ]
run: { memory: 256MiB }
)");
    const Outcome o = railyard({"up", "live.yaml", "--detach"});
    EXPECT_EQ(o.exit_code, kOk) << o.err;
  }
  // `railyard capture leaf1:1 ...` going on beside the test; standard output is `out`.
  pid_t start(std::vector<std::string> more, int out) {
    const pid_t child = fork();
    if (child != 0) return child;
    dup2(out, STDOUT_FILENO);
    dup2(open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
    if (chdir(folder_.c_str()) != 0) _exit(126);
    std::vector<std::string> words{RAILYARD_BINARY, "capture", "leaf1:1"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  static int exit_code_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Until the captures are as `wanted` says.
  template <class F>
  json wait_for(F wanted) const {
    for (;;) {
      const json all = api::ask((folder_ / "state/live/api.sock").string(), {"GET", "/captures", nullptr})["captures"];
      if (wanted(all)) return all;
      ::usleep(1000);
    }
  }
  static bool empty(const json& all) { return all.empty(); }
  std::uint64_t sent() const {
    const json s = json::parse(railyard({"status", "--json"}).out);
    for (const json& p : s["ports"])
      if (p["node"] == "h1") return p["tx"]["packets"];
    return 0;
  }
  void expect_that_it_goes_on() const {
    const std::uint64_t before = sent();
    while (sent() == before) ::usleep(1000);
    EXPECT_TRUE(json::parse(railyard({"status", "--audit", "--json"}).out)["balanced"]);
  }
};

TEST_F(LiveCapture, ACountInAFile) {
  write("there", "something that was there before");
  for (const char* file : {"new.pcapng", "there"}) {
    const Outcome o = railyard({"capture", "leaf1:1", "-w", file, "--count", "25", "--in"});
    EXPECT_EQ(o.exit_code, kOk);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err,
              "railyard: capturing leaf1:1\nrailyard: leaf1:1: 25 frames captured, 0 not captured (buffer full)\n");
    const auto frames = read_pcap(folder_ / file);
    ASSERT_TRUE(frames) << frames.error();
    ASSERT_EQ(frames->size(), 25u);
    for (const CapturedFrame& f : *frames) EXPECT_EQ(f.octets.size(), 1058u);
  }
}

TEST_F(LiveCapture, ADurationToStandardOutput) {
  const Outcome o = railyard({"capture", "leaf1:2", "-w", "-", "--duration", "50ms"});
  EXPECT_EQ(o.exit_code, kOk);
  write("out.pcapng", o.out);
  const auto frames = read_pcap(folder_ / "out.pcapng");
  ASSERT_TRUE(frames) << frames.error();
  EXPECT_EQ(o.err, "railyard: capturing leaf1:2\nrailyard: leaf1:2: " + std::to_string(frames->size()) +
                       " frames captured, 0 not captured (buffer full)\n");
}

TEST_F(LiveCapture, UntilCtrlCWithAllThatWasSeen) {
  const pid_t child = start({"-w", "x.pcapng"}, STDOUT_FILENO);
  wait_for([](const json& all) { return all.size() == 1 && all[0]["captured"] > 50; });
  ::kill(child, SIGINT);
  EXPECT_EQ(exit_code_of(child), kOk);
  const auto frames = read_pcap(folder_ / "x.pcapng");
  ASSERT_TRUE(frames) << frames.error();
  EXPECT_GT(frames->size(), 50u);
  EXPECT_THAT(read("err"),
              EndsWith(": " + std::to_string(frames->size()) + " frames captured, 0 not captured (buffer full)\n"));
  wait_for(empty);
}

TEST_F(LiveCapture, AClientThatIsKilledEndsItsCaptureAndNothingElse) {
  const pid_t child = start({"-w", "x.pcapng"}, STDOUT_FILENO);
  wait_for([](const json& all) { return all.size() == 1 && all[0]["delivered"] > 10; });
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
  wait_for(empty);
  expect_that_it_goes_on();
}

TEST_F(LiveCapture, AReaderThatNeverReadsLosesFramesOfItsOwnCaptureOnly) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const pid_t child = start({"-w", "-", "--buffer", "8KiB"}, pipe[1]);
  ::close(pipe[1]);
  wait_for([](const json& all) { return all.size() == 1 && all[0]["lost"] > 10; });
  expect_that_it_goes_on();
  EXPECT_EQ(railyard({"capture", "leaf1:1", "-w", "other.pcapng", "--count", "5"}).exit_code, kOk);
  EXPECT_EQ(read_pcap(folder_ / "other.pcapng")->size(), 5u);
  // It is asked to end, and now somebody reads: what was not lost is there.
  ::kill(child, SIGINT);
  std::string octets;
  char some[4096];
  for (ssize_t n = 0; (n = ::read(pipe[0], some, sizeof some)) > 0;) octets.append(some, static_cast<std::size_t>(n));
  ::close(pipe[0]);
  EXPECT_EQ(exit_code_of(child), kOk);
  write("late.pcapng", octets);
  const auto frames = read_pcap(folder_ / "late.pcapng");
  ASSERT_TRUE(frames) << frames.error();
  EXPECT_THAT(read("err"), AllOf(HasSubstr(": " + std::to_string(frames->size()) + " frames captured, "),
                                 Not(HasSubstr(", 0 lost"))));
}

TEST_F(LiveCapture, WhenNobodyReadsThePipeAnyMoreItEnds) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const pid_t child = start({"-w", "-"}, pipe[1]);
  ::close(pipe[1]);
  char some[100];
  EXPECT_GT(::read(pipe[0], some, sizeof some), 0);
  ::close(pipe[0]);
  EXPECT_EQ(exit_code_of(child), kOk);
  EXPECT_THAT(read("err"), EndsWith(" frames captured, until the reader closed\n"));
  wait_for(empty);
}

TEST_F(LiveCapture, EndsWithTheLab) {
  const pid_t child = start({"-w", "x.pcapng"}, STDOUT_FILENO);
  wait_for([](const json& all) { return all.size() == 1 && all[0]["delivered"] > 10; });
  EXPECT_EQ(railyard({"down"}).exit_code, kOk);
  EXPECT_EQ(exit_code_of(child), kOk);
  EXPECT_THAT(read("err"), EndsWith(" frames captured, 0 not captured (buffer full)\n"));
  EXPECT_GT(read_pcap(folder_ / "x.pcapng")->size(), 10u);
}

TEST_F(LiveCapture, ALabThatIsKilledLeavesAFileOfWholeFrames) {
  const pid_t child = start({"-w", "x.pcapng"}, STDOUT_FILENO);
  wait_for([](const json& all) { return all.size() == 1 && all[0]["delivered"] > 10; });
  ::kill(json::parse(railyard({"ls", "--json"}).out)[0]["pid"].get<pid_t>(), SIGKILL);
  EXPECT_EQ(exit_code_of(child), kFailed);
  EXPECT_THAT(read("err"), AllOf(HasSubstr("railyard: leaf1:1: the capture broke off after "),
                                 EndsWith(" frames; x.pcapng is valid up to there\n")));
  const auto frames = read_pcap(folder_ / "x.pcapng");
  ASSERT_TRUE(frames) << frames.error();
}

TEST_F(LiveCapture, WhatCannotBeIsSaidAndLeavesNothing) {
  const auto capture = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "capture");
    return more;
  };
  EXPECT_EQ(error(kUsage, capture({"leaf2:1", "-w", "x.pcapng"})),
            "railyard: leaf2:1: there is no node 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error(kFailed, capture({"leaf1:1", "-w", "/nowhere/x.pcapng"})),
            "railyard: cannot write /nowhere/x.pcapng: No such file or directory");
  write("kept", "as it is");
  error(kUsage, capture({"leaf1:9", "-w", "kept"}));
  EXPECT_EQ(read("kept"), "as it is");
  wait_for(empty);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"leaf1:1"},
                                                {"leaf1:1", "-w", "x", "--in", "--out"},
                                                {"leaf1:1", "-w", "x", "--count", "0"},
                                                {"leaf1:1", "-w", "x", "--snaplen", "-1"},
                                                {"leaf1:1", "-w", "x", "--duration", "5"},
                                                {"leaf1:1", "-w", "x", "--duration", "0s"},
                                                {"leaf1:1", "-w", "x", "--buffer", "many"}}) {
    EXPECT_EQ(railyard(capture(words)).exit_code, kUsage);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  }
}

TEST_F(LiveCapture, AFullDiskEndsIt) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const Outcome o = railyard({"capture", "leaf1:1", "-w", "/dev/full"});
  EXPECT_EQ(o.exit_code, kFailed);
  EXPECT_THAT(o.err, EndsWith("railyard: cannot write /dev/full: No space left on device\n"));
  wait_for(empty);
  expect_that_it_goes_on();
}

}  // namespace
}  // namespace railyard::tools
