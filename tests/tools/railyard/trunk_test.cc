// Two daemons in two network namespaces, one fabric:
//
//   [netns a: daemon a: h1 - leaf-a - trunk] -- veth pair -- [netns b: daemon b: trunk - leaf-b - h3]
#include <cstdlib>
#include <functional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

// What the thread starts while it lives is in the namespace.
class Inside {
 public:
  explicit Inside(const std::string& netns) : home_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    const int there = ::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(::setns(there, CLONE_NEWNET), 0);
    ::close(there);
  }
  ~Inside() {
    EXPECT_EQ(::setns(home_, CLONE_NEWNET), 0);
    ::close(home_);
  }

 private:
  int home_;
};

class TwoServers : public CommandLine {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    if (!run("ip netns add " + a_)) GTEST_SKIP() << "no network namespace can be made here";
    ASSERT_TRUE(run("ip netns add " + b_));
    if (!run("ip -n " + a_ + " link add t0 mtu 9500 type veth peer name t0 mtu 9500 netns " + b_))
      GTEST_SKIP() << "no veth between network namespaces here";
    for (const auto& [netns, address] : {std::pair(a_, "192.0.2.1/24"), std::pair(b_, "192.0.2.2/24")}) {
      ASSERT_TRUE(run("ip -n " + netns + " addr add " + address + " dev t0"));
      ASSERT_TRUE(run("ip -n " + netns + " link set t0 up"));
    }
    ::setenv("RAILYARD_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override {
    railyard({"down", "--all"});
    ::unsetenv("RAILYARD_STATE_DIR");
    run("ip netns del " + a_);
    run("ip netns del " + b_);
  }

  void up(const std::string& lab, const std::string& trunk, const std::string& local, const std::string& remote) {
    const Inside inside(lab == "two-servers-a" ? a_ : b_);
    const Outcome o = railyard({"up", topology("labs/" + lab + ".yaml"), "--detach", "--set",
                                "nodes." + trunk + ".udp.local=" + local, "--set",
                                "nodes." + trunk + ".udp.remote=" + remote, "--set", "run.memory=256MiB"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
  }
  void up_a() { up("two-servers-a", "to-b", "192.0.2.1:4800", "192.0.2.2:4800"); }
  void up_b() { up("two-servers-b", "to-a", "192.0.2.2:4800", "192.0.2.1:4800"); }

  json trunk(const std::string& lab) const {
    return json::parse(railyard({"status", "--lab", lab, "--json"}).out)["trunks"][0];
  }
  json port(const std::string& lab, const std::string& node, int number) const {
    const json status = json::parse(railyard({"status", "--lab", lab, "--json"}).out);
    for (const json& p : status["ports"])
      if (p["node"] == node && p["port"] == number) return p;
    return {};
  }
  // For as long as it takes; the test's time limit is the end of it.
  static void wait_for(const std::function<bool()>& true_at_last) {
    while (!true_at_last()) ::usleep(10'000);
  }
  void wait_until_up(bool is_up) {
    for (const char* lab : {"two-servers-a", "two-servers-b"})
      wait_for([&] { return trunk(lab)["up"].get<bool>() == is_up; });
  }
  int ping(const std::string& lab, const std::string& from, const std::string& to) const {
    return railyard({"exec", "--lab", lab, from, "--", "ping", "-c", "3", "-i", "0.05", "-W", "2", to}).exit_code;
  }
  void expect_books_balance() {
    for (const char* lab : {"two-servers-a", "two-servers-b"})
      EXPECT_THAT(railyard({"status", "--audit", "--lab", lab}).out, HasSubstr("the books balance at "));
  }

  const std::string a_ = "rytest-a-" + std::to_string(::getpid());
  const std::string b_ = "rytest-b-" + std::to_string(::getpid());
};

TEST_F(TwoServers, TrafficGoesBothWaysAndAnOutageIsSeenAndSurvived) {
  up_a();
  EXPECT_FALSE(trunk("two-servers-a")["up"].get<bool>());
  EXPECT_FALSE(port("two-servers-a", "leaf-a", 9)["up"].get<bool>());
  up_b();
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  EXPECT_EQ(ping("two-servers-b", "h4", "10.1.0.2"), kOk);
  EXPECT_EQ(ping("two-servers-a", "h2", "fd00:0:0:b::4"), kOk);
  const json healthy = trunk("two-servers-a");
  EXPECT_GE(healthy["sent"].get<int>(), 9);
  EXPECT_GE(healthy["received"].get<int>(), 9);
  EXPECT_GT(healthy["round_trip_ns"].get<int>(), 0);
  expect_books_balance();

  ASSERT_TRUE(run("ip -n " + a_ + " link set t0 down"));
  wait_until_up(false);
  EXPECT_EQ(trunk("two-servers-a")["state"], "nothing heard from the far end");
  EXPECT_FALSE(port("two-servers-b", "leaf-b", 9)["up"].get<bool>());
  EXPECT_NE(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  EXPECT_GE(port("two-servers-a", "leaf-a", 9)["drops"]["link_down"].get<int>(), 3);

  ASSERT_TRUE(run("ip -n " + a_ + " link set t0 up"));
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  EXPECT_EQ(trunk("two-servers-a")["downs"], 2) << "before b was there, and now";
  expect_books_balance();
  // What one has sent the other has, or has missed.
  for (const auto& [from, to] :
       {std::pair("two-servers-a", "two-servers-b"), std::pair("two-servers-b", "two-servers-a")})
    wait_for([&] {
      const json far = trunk(to);
      return trunk(from)["sent"] == far["received"].get<int>() + far["lost"].get<int>();
    });
}

TEST_F(TwoServers, ARestartOfOneIsSurvived) {
  up_a();
  up_b();
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  EXPECT_EQ(railyard({"down", "two-servers-b"}).exit_code, kOk);
  wait_for([&] { return !trunk("two-servers-a")["up"].get<bool>(); });
  up_b();
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  EXPECT_EQ(trunk("two-servers-b")["lost"], 0);
  expect_books_balance();
}

TEST_F(TwoServers, AnAddressThatIsNotHereIsRefusedAndNothingIsLeft) {
  const Inside inside(a_);
  const Outcome o = railyard(
      {"up", topology("labs/two-servers-a.yaml"), "--detach", "--set", "nodes.to-b.udp.local=198.51.100.1:4800"});
  EXPECT_EQ(o.exit_code, kSpec);
  EXPECT_THAT(o.err, HasSubstr("trunk over UDP: 198.51.100.1:4800 is not an address of this machine"));
  EXPECT_EQ(railyard({"ls"}).out, "no lab is up\n");
}

}  // namespace
}  // namespace railyard::tools
