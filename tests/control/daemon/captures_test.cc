// Captures of a lab that runs, through the API and the sockets that it names. Nothing here depends on how fast it runs.
#include "control/daemon/captures.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/daemon/lab_dir.h"
#include "control/daemon/live_lab.h"
#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"
#include "tests/dataplane/capture/pcapng_reader.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The end of a capture that its reader has.
class Client {
 public:
  explicit Client(const json& started) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = started["socket"].get<std::string>();
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << path;
  }
  void close_sending_half() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.close(); }
  // Reads a little; whether there was something.
  bool read() {
    std::array<char, 4096> some{};
    const ssize_t n = ::recv(fd_.get(), some.data(), some.size(), 0);
    if (n > 0) octets_.append(some.data(), static_cast<std::size_t>(n));
    return n > 0;
  }
  void read_to_the_end() {
    while (read()) continue;
  }
  std::size_t octets() const { return octets_.size(); }
  std::vector<test::Frame> frames() const { return test::frames_of(octets_); }
  // (received, lost, delivered) of the last block.
  std::array<std::uint64_t, 3> statistics() const {
    const auto blocks = test::blocks_of(octets_);
    EXPECT_EQ(blocks.back().type, 5u);
    std::array<std::uint64_t, 3> out{};
    const auto options = test::options_of(blocks.back(), 12);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = test::number<std::uint64_t>(options.at(i).second, 0);
    return out;
  }

 private:
  FileDescriptor fd_;
  std::string octets_;
};

// Two hosts that send to each other over leaf1; a thread is its engine's.
class CapturesTest : public RunningLabFixture {
 protected:
  CapturesTest()
      : RunningLabFixture(R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, pattern: permutation, payload: 1KB, rate: 20Mbps } ]
run: { clock: wall, memory: 256MiB }
)") {}
  json start(json body) { return ask("POST", "/captures", body); }
  json list() { return ask("GET", "/captures")["captures"]; }
  json find(const json& started) {
    for (const json& c : list())
      if (c["id"] == started["id"]) return c;
    return nullptr;
  }
  void wait_until_gone() {
    while (!list().empty()) std::this_thread::yield();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "x")) names.push_back(entry.path());
    return names;
  }
};

TEST_F(CapturesTest, AClientGetsFramesUntilItHasEnoughThenTheRestAndTheStatistics) {
  wait_for_packets();
  const json started = start({{"port", "leaf1:2"}});
  EXPECT_GT(started["effective_seconds"], 0.0) << "since when frames are seen";
  struct stat st {};
  ASSERT_EQ(::lstat(started["socket"].get<std::string>().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  Client client(started);
  while (client.octets() < 20'000) ASSERT_TRUE(client.read());
  const json c = find(started);
  EXPECT_EQ(c["state"], "running");
  EXPECT_EQ(c["port"], "leaf1:2");
  EXPECT_EQ(c["direction"], "both");
  EXPECT_GE(c["captured"], 15);
  client.close_sending_half();
  client.read_to_the_end();
  const auto frames = client.frames();
  EXPECT_EQ(client.statistics(), (std::array<std::uint64_t, 3>{frames.size(), 0, frames.size()}));
  EXPECT_TRUE(std::ranges::is_sorted(frames, {}, &test::Frame::ticks));
  EXPECT_GE(static_cast<double>(frames[0].ticks) * 1e-9, started["effective_seconds"].get<double>() - 1e-9);
  for (const auto& f : frames) EXPECT_EQ(f.octets.size(), f.original);
  wait_until_gone();
  EXPECT_TRUE(files().empty()) << "the socket is gone too";
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
}

TEST_F(CapturesTest, ACountASnapLengthAndADirectionAreKept) {
  Client client(start({{"port", "leaf1:1"}, {"count", 7}, {"snaplen", 40}, {"direction", "in"}}));
  client.read_to_the_end();
  const auto frames = client.frames();
  ASSERT_EQ(frames.size(), 7u);
  for (const auto& f : frames) {
    EXPECT_EQ(f.octets.size(), 40u);
    EXPECT_EQ(f.original, 1058u);
    EXPECT_EQ(test::number<std::uint32_t>(f.options.back().second, 0), 1u) << "inbound";
  }
  EXPECT_EQ(client.statistics(), (std::array<std::uint64_t, 3>{7, 0, 7}));
}

TEST_F(CapturesTest, SeveralOnePortEndOneByOne) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<Client>(start({{"port", "h1:1"}})));
  clients.push_back(std::make_unique<Client>(start({{"port", "leaf1:1"}})));
  for (auto& c : clients)
    for (const std::size_t before = c->octets(); c->octets() < before + 5000;) ASSERT_TRUE(c->read());
  clients[1]->close();
  while (list().size() != 3) std::this_thread::yield();
  const json ended = list()[0];
  ask("DELETE", "/captures/" + ended["id"].get<std::string>());
  clients[0]->read_to_the_end();
  EXPECT_EQ(clients[0]->statistics()[1], 0u);
  for (const std::size_t i : {2u, 3u})
    for (const std::size_t before = clients[i]->octets(); clients[i]->octets() < before + 5000;)
      ASSERT_TRUE(clients[i]->read()) << "they go on";
}

TEST_F(CapturesTest, AReaderThatNeverReadsHoldsUpNobody) {
  const json started = start({{"port", "leaf1:1"}, {"buffer", 8192}});
  Client stuck(started);
  while (find(started)["lost"] < 5) wait_for_packets();
  Client other(start({{"port", "leaf1:1"}, {"count", 20}}));
  other.read_to_the_end();
  EXPECT_EQ(other.frames().size(), 20u);
  wait_for_packets();
  EXPECT_TRUE(ask("GET", "/audit")["balanced"]);
  ask("DELETE", "/captures/" + started["id"].get<std::string>());
  stuck.read_to_the_end();
  const auto [received, lost, delivered] = stuck.statistics();
  EXPECT_EQ(stuck.frames().size(), delivered);
  EXPECT_EQ(received, lost + delivered);
  EXPECT_GE(lost, 5u);
}

TEST_F(CapturesTest, AHeldLabCanBeCaptured) {
  ask("POST", "/hold", {{"on", true}});
  Client client(start({{"port", "leaf1:1"}}));
  client.close_sending_half();
  client.read_to_the_end();
  EXPECT_EQ(client.frames().size(), 0u);
  EXPECT_EQ(client.statistics()[0], 0u);
}

TEST_F(CapturesTest, WhenTheLabEndsClientsGetWhatWasSeen) {
  Client reads(start({{"port", "leaf1:1"}}));
  Client never_reads(start({{"port", "leaf1:2"}}));
  start({{"port", "leaf1:2"}});  // nobody connects
  wait_for_packets();
  end();
  std::thread reader([&] { reads.read_to_the_end(); });
  lab_.reset();
  reader.join();
  EXPECT_EQ(reads.statistics()[0], reads.frames().size());
  EXPECT_GE(reads.frames().size(), 3u);
  EXPECT_TRUE(files().empty());
}

TEST_F(CapturesTest, OnlySoManyAtOnce) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < Captures::kMost; ++i)
    clients.push_back(std::make_unique<Client>(start({{"port", "leaf1:1"}, {"snaplen", 64}})));
  EXPECT_EQ(error_of(409, "POST", "/captures", {{"port", "leaf1:2"}}),
            "16 captures are already running, the limit is 16; stop one first");
  clients[5]->close();
  while (list().size() == Captures::kMost) std::this_thread::yield();
  Client last(start({{"port", "leaf1:1"}, {"count", 1}}));
  last.read_to_the_end();
  EXPECT_EQ(last.frames().size(), 1u);
}

TEST_F(CapturesTest, WhatCannotBeIsSaidAndStartsNothing) {
  EXPECT_EQ(error_of(404, "POST", "/captures", {{"port", "leaf2:1"}}),
            "leaf2:1: there is no node 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error_of(400, "POST", "/captures", {{"prot", "leaf1:1"}}), "key 'port' is missing in the body");
  EXPECT_EQ(error_of(400, "POST", "/captures", {{"port", "leaf1:1"}, {"direction", "up"}}),
            "direction: \"up\"; expected \"both\", \"in\" or \"out\"");
  EXPECT_EQ(error_of(400, "POST", "/captures", {{"port", "leaf1:1"}, {"snaplen", 0}}),
            "snaplen: 0; expected a whole number from 1 to 262144");
  EXPECT_THAT(error_of(400, "POST", "/captures", {{"port", "leaf1:1"}, {"count", "7"}}), HasSubstr("count: \"7\""));
  EXPECT_EQ(error_of(404, "DELETE", "/captures/1"), "there is no capture '1', or it has ended");
  EXPECT_TRUE(list().empty());
  std::filesystem::remove(folder_ / "x");
  EXPECT_THAT(error_of(503, "POST", "/captures", {{"port", "leaf1:1"}}), HasSubstr("cannot listen at "));
  EXPECT_TRUE(list().empty());
}

// A stream by itself: the test is its engine.
TEST(CaptureStreamTest, WithoutAClientItEndsByItself) {
  const std::string base = testing::TempDir() + "capture_stream." + std::to_string(::getpid());
  Log log(base + ".log");
  std::atomic<int> asked{0};
  CaptureStreamConfig config;
  config.id = "7";
  config.port = "leaf1:1";
  config.socket = base + ".sock";
  config.patience = std::chrono::milliseconds(10);
  CaptureStream stream(config, log, [&](const std::shared_ptr<EngineTap>& tap) {
    if (++asked < 3) return false;  // not now
    tap->let_go(Instant{});
    return true;
  });
  EXPECT_STREQ(stream.state(), "waiting");
  EXPECT_TRUE(std::filesystem::exists(config.socket));
  stream.begin();
  while (!stream.done()) std::this_thread::yield();
  EXPECT_EQ(asked, 3);
  EXPECT_STREQ(stream.state(), "ending");
  EXPECT_FALSE(std::filesystem::exists(config.socket));
  std::filesystem::remove(base + ".log");
}

TEST(CaptureStreamTest, AClientThatHasConnectedGetsAllEvenIfItWasEndedMeanwhile) {
  const std::string base = testing::TempDir() + "capture_ended." + std::to_string(::getpid());
  Log log(base + ".log");
  CaptureStreamConfig config;
  config.id = "7";
  config.port = "leaf1:1";
  config.socket = base + ".sock";
  CaptureStream stream(config, log, [&](const std::shared_ptr<EngineTap>& tap) {
    tap->let_go(Instant{});
    return true;
  });
  Client client({{"socket", config.socket}});
  stream.end();
  stream.begin();
  client.read_to_the_end();
  EXPECT_EQ(client.statistics(), (std::array<std::uint64_t, 3>{0, 0, 0}));
  std::filesystem::remove(base + ".log");
}

// ---- Captures that the daemon keeps ----------------------------------------------------------------------------------

TEST_F(CapturesTest, OneThatIsKeptIsFetchedWhenItHasEnded) {
  wait_for_packets();
  const json started = start({{"port", "leaf1:2"}, {"count", 5}, {"keep", true}});
  const std::string id = started["id"];
  while (find(started)["state"] != "ended") std::this_thread::yield();
  const json c = find(started);
  EXPECT_EQ(c["captured"], 5);
  EXPECT_EQ(c["full"], false);
  const api::Response file = route(*lab_, [] {}, {"GET", "/captures/" + id + "/file", nullptr});
  EXPECT_EQ(file.media_type, "application/x-pcapng");
  EXPECT_EQ(test::frames_of(file.text).size(), 5u);
  EXPECT_EQ(file.text.size(), c["kept_bytes"].get<std::size_t>());
  ASSERT_EQ(file.fields.size(), 1u);
  EXPECT_EQ(file.fields[0].second, "attachment; filename=\"leaf1-2." + id + ".pcapng\"");
  EXPECT_EQ(files(), std::vector<std::string>{}) << "nothing is left in the lab's folder";
  EXPECT_EQ(ask("DELETE", "/captures/" + id)["state"], "ended");
  EXPECT_EQ(find(started), nullptr) << "forgotten";
}

TEST_F(CapturesTest, OneThatRunsIsEndedFirst) {
  const json started = start({{"port", "leaf1:2"}, {"keep", true}});
  const std::string id = started["id"];
  EXPECT_EQ(error_of(409, "GET", "/captures/" + id + "/file"), "capture " + id + " is still running; end it first");
  while (find(started)["captured"] == 0) std::this_thread::yield();
  ask("DELETE", "/captures/" + id);
  while (find(started)["state"] != "ended") std::this_thread::yield();
  EXPECT_FALSE(test::frames_of(route(*lab_, [] {}, {"GET", "/captures/" + id + "/file", nullptr}).text).empty());
  EXPECT_THAT(error_of(404, "GET", "/captures/77/file"), HasSubstr("no capture '77' is kept"));
  EXPECT_THAT(error_of(404, "GET", "/captures/x/file"), HasSubstr("no capture 'x' is kept"));
  EXPECT_EQ(error_of(405, "POST", "/captures/1/file"), "POST excludes /captures/1/file");
  EXPECT_THAT(error_of(400, "POST", "/captures", {{"port", "leaf1:2"}, {"keep", 1}}), HasSubstr("keep: 1"));
}

TEST_F(CapturesTest, StoppingOneThatHasEndedKeepsIt) {
  wait_for_packets();
  const json started = start({{"port", "leaf1:2"}, {"count", 5}, {"keep", true}});
  const std::string id = started["id"];
  while (find(started)["state"] != "ended") std::this_thread::yield();
  for (int times = 0; times < 2; ++times) EXPECT_EQ(ask("POST", "/captures/stop", {{"id", id}})["state"], "ended");
  EXPECT_EQ(test::frames_of(route(*lab_, [] {}, {"GET", "/captures/" + id + "/file", nullptr}).text).size(), 5u);
  const json other = start({{"port", "leaf1:2"}, {"keep", true}});
  ask("POST", "/captures/stop", {{"id", other["id"]}});
  while (find(other)["state"] != "ended") std::this_thread::yield();
  EXPECT_EQ(error_of(404, "POST", "/captures/stop", {{"id", "77"}}), "there is no capture '77', or it has ended");
  EXPECT_THAT(error_of(400, "POST", "/captures/stop", json::object()), HasSubstr("id"));
}

TEST_F(CapturesTest, SomeAreKeptAndTheOldestMakesRoom) {
  wait_for_packets();
  std::vector<json> all;
  for (std::size_t i = 0; i < Captures::kMostKept; ++i) all.push_back(start({{"port", "leaf1:2"}, {"keep", true}}));
  EXPECT_THAT(error_of(409, "POST", "/captures", {{"port", "leaf1:2"}, {"keep", true}}), HasSubstr("the limit is 4"));
  ask("DELETE", "/captures/" + all[1]["id"].get<std::string>());
  while (find(all[1])["state"] != "ended") std::this_thread::yield();
  const json another = start({{"port", "leaf1:2"}, {"keep", true}});
  EXPECT_EQ(find(all[1]), nullptr);
  EXPECT_NE(find(another), nullptr);
}

}  // namespace
}  // namespace railyard::daemon
