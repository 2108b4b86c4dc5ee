// Agents of a lab that is up: they come over TCP to where run.agents says, as they do from other machines, and are
// ranks and ends of flows; what becomes of these is in what the lab says of itself. Their devices are the test's own.
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/agent_protocol/frames.h"
#include "control/api/http_client.h"
#include "control/daemon/daemon.h"
#include "control/daemon/lab_dir.h"
#include "control/lab/version.h"
#include "dataplane/base/file_descriptor.h"
#include "tests/tools/agent/fake_verbs.h"
#include "tools/agent/agent.h"
#include "tools/agent/lab_stream.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::uint16_t free_port() {
  FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

// A daemon with the hosts a1 and a2, behind whose NICs nobody is: what agents do is by devices of the test's.
class LiveAgentsTest : public testing::Test {
 protected:
  struct Client {
    agent::LabStream stream;
    agents::FrameReader reader;
    std::unique_ptr<agent::FakeVerbs> verbs;
    std::unique_ptr<agent::Agent> agent;
  };

  void up(const std::string& work) {
    const std::string file = (folder_ / "x.yaml").string();
    std::ofstream(file) << "name: x\nnodes:\n  leaf: { kind: switch }\n  b: { kind: host }\n"
                        << host("a1", 1) << host("a2", 2)
                        << "links: [[b:1, leaf:1], [a1:1, leaf:2], [a2:1, leaf:3]]\n"
                        << fmt::format("run: {{ payload: real, memory: 256MiB, agents: \"127.0.0.1:{}\" }}\n", port_)
                        << work;
    daemon_ = std::thread([this, file] {
      try {
        run_daemon({.spec_file = file, .overrides = {}, .name = {}}, stop_,
                   [this](const std::string&) { ready_ = true; });
      } catch (const std::exception& error) {
        why_ = error.what();
      }
      ended_ = true;
    });
    while (!ready_ && !ended_) std::this_thread::yield();
    ASSERT_FALSE(ended_) << why_;
  }
  LiveAgentsTest() {
    std::string name = testing::TempDir() + "agents_test.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    folder_ = name;
    ::setenv("RAILYARD_STATE_DIR", name.c_str(), 1);
  }
  ~LiveAgentsTest() override {
    stop_ = true;
    if (daemon_.joinable()) daemon_.join();
    ::unsetenv("RAILYARD_STATE_DIR");
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }
  std::string host(const std::string& name, int n) const {
    return fmt::format(
        "  {}: {{ kind: host, address: 10.9.0.{}, attach: {{ vhost-user: {}/{}.sock }}, agent: {{ token: secret-{} }} "
        "}}\n",
        name, n, folder_.string(), name, n);
  }
  Client& join(int i, const std::string& token) {
    clients_.push_back({agent::LabStream::open(fmt::format("127.0.0.1:{}", port_)),
                        agents::FrameReader(agents::kMostOfLab),
                        std::make_unique<agent::FakeVerbs>(network_, fmt::format("10.9.0.{}", i)),
                        nullptr});
    Client& c = clients_.back();
    c.agent = std::make_unique<agent::Agent>(*c.verbs,
                                             agent::AgentConfig{fmt::format("a{}", i), token, lab::version()});
    say(c, c.agent->hello());
    return c;
  }
  Client& join(int i) { return join(i, fmt::format("secret-{}", i)); }
  static void say(Client& c, const json& message) {
    const std::string octets = agents::frame(message);
    for (std::size_t at = 0; at < octets.size();) {
      const ssize_t n = ::write(c.stream.out(), octets.data() + at, octets.size() - at);
      if (n > 0) at += static_cast<std::size_t>(n);
    }
  }
  // What has come, and what is to be done.
  void turn() {
    now_ = now_ + Duration{1'000'000};
    for (Client& c : clients_) {
      if (!c.agent) continue;
      std::array<char, 4096> some;
      for (ssize_t n; (n = ::read(c.stream.in(), some.data(), some.size())) > 0;)
        c.reader.append(std::span(some).first(static_cast<std::size_t>(n)));
      while (const auto message = c.reader.next()) c.agent->on_message(now_, *message);
      c.agent->work(now_);
      for (const json& m : c.agent->take_outgoing()) say(c, m);
    }
    network_.deliver();
  }
  json ask(const std::string& target) const { return api::ask(LabDir("x").socket(), {"GET", target, nullptr}); }
  json collective() const { return ask("/collectives")["collectives"][0]; }
  template <class So>
  void until(So&& so) {
    while (!so())
      for (int i = 0; i < 100; ++i) turn();
  }

  std::filesystem::path folder_;
  std::uint16_t port_ = free_port();
  agent::FakeNetwork network_;
  std::deque<Client> clients_;
  Instant now_{};
  std::atomic<bool> stop_{false}, ready_{false}, ended_{false};
  std::string why_;
  std::thread daemon_;
};

TEST_F(LiveAgentsTest, AnAllReduceAndAFlowAreVerifiedAndInTheReport) {
  up("collectives: [ { name: c, size: 12000B, chunk: 1000B, ranks: [a1, a2], repeats: 3 } ]\n"
     "traffic: [ { name: t, from: a1, to: a2, transport: roce, bytes: 100000B, message: 3000B } ]\n");
  EXPECT_EQ(collective()["state"], "waiting");
  EXPECT_EQ(ask("/agents/a2")["token"], "secret-2");
  join(1);
  join(2);
  until([&] { return collective()["state"] == "done" && !ask("/flows")["flows"][0]["fct_ns"].is_null(); });
  const json c = collective();
  EXPECT_TRUE(c["verified"].get<bool>()) << c.dump(2);
  EXPECT_EQ(c["iterations"].size(), 3u);
  ASSERT_EQ(c["agents"].size(), 2u);
  for (const json& a : c["agents"]) {
    EXPECT_EQ(a["device"], "rxe1");
    EXPECT_GT(a["hw_counters"]["sent_pkts"], 0);
  }
  const json flow = ask("/flows")["flows"][0];
  EXPECT_EQ(flow["delivered_bytes"], 100'000);
  EXPECT_EQ(flow["roce"]["verified"], 34);
  EXPECT_EQ(flow["roce"]["agents"].size(), 2u);
  for (const json& a : ask("/collectives")["agents"]) EXPECT_TRUE(a["joined"].get<bool>());
}

TEST_F(LiveAgentsTest, OneThatIsGoneIsReportedAndTheLabGoesOn) {
  up("collectives: [ { name: c, size: 12000B, ranks: [a1, a2], repeats: 10000 } ]\n");
  join(1);
  Client& gone = join(2);
  until([&] { return collective()["state"] == "running"; });
  gone.agent.reset();
  ::shutdown(gone.stream.out(), SHUT_RDWR);
  until([&] { return collective()["state"] == "failed"; });
  EXPECT_THAT(collective()["stalled"].get<std::string>(), HasSubstr("rank 1 (a2:1)"));
  const json who = ask("/collectives")["agents"];
  EXPECT_TRUE(who[0]["joined"].get<bool>());
  EXPECT_FALSE(who[1]["joined"].get<bool>());
  EXPECT_EQ(ask("/status")["name"], "x");
}

TEST_F(LiveAgentsTest, AWrongTokenIsRefusedOverTcpToo) {
  up("collectives: [ { name: c, size: 12000B, ranks: [a1, a2] } ]\n");
  join(1, "not-the-token");
  try {
    until([] { return false; });
  } catch (const agent::Agent::Refused& refused) {
    EXPECT_STREQ(refused.what(), "wrong token for host 'a1' of lab 'x'");
  }
  EXPECT_FALSE(ask("/collectives")["agents"][0]["joined"].get<bool>());
}

}  // namespace
}  // namespace railyard::daemon
