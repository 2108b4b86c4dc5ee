// Two daemons in two network namespaces, one fabric, over UDP and over the cable itself:
//
//   [netns a: daemon a: h1 - leaf-a - trunk] -- veth pair -- [netns b: daemon b: trunk - leaf-b - h3]
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include "tests/tools/railyard/live_command_line.h"

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

class TwoServers : public LiveCommandLine {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    if (!run("ip netns add " + a_)) GTEST_SKIP() << "no network namespace can be made here";
    ASSERT_TRUE(run("ip netns add " + b_));
    if (!make_cable()) GTEST_SKIP() << "no veth between network namespaces here";
    for (const std::string& netns : {a_, b_}) ASSERT_TRUE(run("ip -n " + netns + " link set t0 up"));
  }
  // Between the two servers, t0 in both; what an end of the trunk is to be told, each with its value.
  virtual bool make_cable() const = 0;
  using Settings = std::vector<std::string>;
  virtual Settings settings_of_a() const = 0;
  virtual Settings settings_of_b() const = 0;

  void TearDown() override {
    railyard({"down", "--all"});
    run("ip netns del " + a_);
    run("ip netns del " + b_);
  }

  Outcome try_up(const std::string& lab, Settings settings) const {
    const Inside inside(lab == "two-servers-a" ? a_ : b_);
    Settings arguments{"up", topology("labs/" + lab + ".yaml"), "--detach"};
    settings.push_back("run.memory=256MiB");
    for (std::string& s : settings) arguments.insert(arguments.end(), {"--set", std::move(s)});
    return railyard(arguments);
  }
  void up_a(const Settings& more = {}) { up("two-servers-a", settings_of_a(), more); }
  void up_b(const Settings& more = {}) { up("two-servers-b", settings_of_b(), more); }
  void up(const std::string& lab, Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    const Outcome o = try_up(lab, std::move(settings));
    ASSERT_EQ(o.exit_code, kOk) << o.err;
  }

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
  int ping(const std::string& lab, const std::string& from, const std::string& to, const std::string& size = "56",
           const std::string& tos = "0") const {
    return railyard({"exec", "--lab", lab, from, "--", "ping", "-c", "3", "-i", "0.05", "-W", "2", "-M", "do", "-s",
                     size, "-Q", tos, to})
        .exit_code;
  }
  void expect_books_balance() {
    for (const char* lab : {"two-servers-a", "two-servers-b"})
      EXPECT_THAT(railyard({"status", "--audit", "--lab", lab}).out, HasSubstr("packet accounting balances at "));
  }

  void expect_traffic_and_to_survive_an_outage();
  void expect_to_survive_a_restart();

  const std::string a_ = "rytest-a-" + std::to_string(::getpid());
  const std::string b_ = "rytest-b-" + std::to_string(::getpid());
};

void TwoServers::expect_traffic_and_to_survive_an_outage() {
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
  EXPECT_EQ(trunk("two-servers-a")["state"], "no message from the remote end");
  EXPECT_FALSE(port("two-servers-b", "leaf-b", 9)["up"].get<bool>());
  EXPECT_NE(ping("two-servers-a", "h1", "10.2.0.3"), kOk);
  // Until routing has noticed, what goes to the trunk is lost there; then there is no route.
  const auto dropped = [&](int at, const char* reason) {
    return port("two-servers-a", "leaf-a", at)["drops"].value(reason, 0);
  };
  EXPECT_GE(dropped(9, "link_down") + dropped(1, "no_route"), 3);

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

void TwoServers::expect_to_survive_a_restart() {
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

class TwoServersOverUdp : public TwoServers {
 protected:
  bool make_cable() const override {
    return run("ip -n " + a_ + " link add t0 mtu 9500 type veth peer name t0 mtu 9500 netns " + b_) &&
           run("ip -n " + a_ + " addr add 192.0.2.1/24 dev t0") && run("ip -n " + b_ + " addr add 192.0.2.2/24 dev t0");
  }
  Settings settings_of_a() const override {
    return {"nodes.to-b.udp.local=192.0.2.1:4800", "nodes.to-b.udp.remote=192.0.2.2:4800"};
  }
  Settings settings_of_b() const override {
    return {"nodes.to-a.udp.local=192.0.2.2:4800", "nodes.to-a.udp.remote=192.0.2.1:4800"};
  }
};

TEST_F(TwoServersOverUdp, TrafficGoesBothWaysAndAnOutageIsSeenAndSurvived) {
  expect_traffic_and_to_survive_an_outage();
}

TEST_F(TwoServersOverUdp, ARestartOfOneIsSurvived) { expect_to_survive_a_restart(); }

TEST_F(TwoServersOverUdp, AnAddressThatIsNotHereIsRefusedAndNothingIsLeft) {
  const Outcome o = try_up("two-servers-a", {"nodes.to-b.udp.local=198.51.100.1:4800"});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_THAT(o.err, HasSubstr("trunk over UDP: 198.51.100.1:4800 is not an address of this machine"));
  EXPECT_EQ(railyard({"ls"}).out, "no running labs\n");
}

// The nodes of the ready labs, with another carrier.
std::string to_b_by(const std::string& attach) {
  return "nodes.to-b={kind: trunk, attach: {" + attach +
         "}, networks: [10.2.0.0/24, 10.255.2.0/24, \"fd00:0:0:b::/64\", \"fd00:ffff::b/128\"]}";
}
std::string to_a_by(const std::string& attach) {
  return "nodes.to-a={kind: trunk, attach: {" + attach +
         "}, networks: [10.1.0.0/24, 10.255.1.0/24, \"fd00:0:0:a::/64\", \"fd00:ffff::a/128\"]}";
}

// No addresses, and frames of the fabric (MTU 9000) are longer than those of the cable.
class TwoServersOverACable : public TwoServers {
 protected:
  bool make_cable() const override {
    return run("ip -n " + a_ + " link add t0 mtu 1500 type veth peer name t0 mtu 1500 netns " + b_);
  }
  Settings settings_of_a() const override { return {to_b_by("netdev: t0")}; }
  Settings settings_of_b() const override { return {to_a_by("netdev: t0")}; }
};

TEST_F(TwoServersOverACable, TrafficGoesBothWaysAndAnOutageIsSeenAndSurvived) {
  expect_traffic_and_to_survive_an_outage();
}

TEST_F(TwoServersOverACable, ARestartOfOneIsSurvived) { expect_to_survive_a_restart(); }

TEST_F(TwoServersOverACable, LongFramesGoInFragmentsAndTheCarrierIsTold) {
  up_a();
  up_b();
  wait_until_up(true);
  EXPECT_EQ(trunk("two-servers-a")["wire"], "netdev t0, 1500 octets per frame");
  EXPECT_TRUE(trunk("two-servers-a")["carrier"].get<bool>());
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3", "8972"), kOk) << "an IP packet of 9000 octets in one piece";
  for (const char* lab : {"two-servers-a", "two-servers-b"}) {
    EXPECT_GE(trunk(lab)["fragmented"].get<int>(), 3);
    EXPECT_EQ(trunk(lab)["incomplete"], 0);
    EXPECT_EQ(trunk(lab)["lost"], 0);
  }
  ASSERT_TRUE(run("ip -n " + b_ + " link set t0 down"));
  wait_until_up(false);
  EXPECT_THAT(railyard({"status", "--lab", "two-servers-a"}).out,
              HasSubstr("trunk to-b at leaf-a:9 (netdev t0, 1500 octets per frame): no message from the remote end, no "
                        "carrier; "));
  // Gone for good, and another of its name comes.
  ASSERT_TRUE(run("ip -n " + a_ + " link del t0"));
  ASSERT_TRUE(make_cable());
  for (const std::string& netns : {a_, b_}) ASSERT_TRUE(run("ip -n " + netns + " link set t0 up"));
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-b", "h3", "10.1.0.1", "8972"), kOk);
  expect_books_balance();
}

// The far leaf cannot get rid of class 3: it pauses the trunk, and so the near leaf. Class 0 goes on.
TEST_F(TwoServersOverACable, PausesAndClassesCross) {
  const Settings small{"qos={default: {classes: {3: {lossless: true, xoff: 64KiB}}}}"};
  up_a(small);
  up_b(small);
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk) << "addresses are known";
  ASSERT_EQ(railyard({"fault", "add", "--lab", "two-servers-b", "{name: storm, on: h3, pfc-storm: 3}"}).exit_code, kOk);
  const std::string kClass3 = "104";  // DSCP 26
  wait_for([&] {
    EXPECT_NE(ping("two-servers-a", "h1", "10.2.0.3", "8972", kClass3), kOk);
    return port("two-servers-a", "leaf-a", 9)["pfc_received"].get<int>() > 0;
  });
  EXPECT_GE(port("two-servers-b", "leaf-b", 9)["pfc_sent"].get<int>(), 1);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3"), kOk) << "class 0 is not paused";
  ASSERT_EQ(railyard({"fault", "rm", "--lab", "two-servers-b", "storm"}).exit_code, kOk);
  wait_for([&] { return ping("two-servers-a", "h1", "10.2.0.3", "8972", kClass3) == kOk; });
  EXPECT_TRUE(port("two-servers-b", "leaf-b", 9)["drops"].empty()) << "nothing of the lossless class is lost";
  EXPECT_TRUE(port("two-servers-a", "leaf-a", 9)["drops"].empty());
  expect_books_balance();
}

TEST_F(TwoServersOverACable, AnInterfaceThatCannotCarryItIsRefusedAndNothingIsLeft) {
  Outcome o = try_up("two-servers-a", {to_b_by("netdev: t7")});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_THAT(o.err, HasSubstr("interface 't7': no such interface; create it first"));
  o = try_up("two-servers-a", {to_b_by("netdev: t0"), "nodes.to-b.port-mtu=9000"});
  EXPECT_EQ(o.exit_code, kInput);
  EXPECT_THAT(o.err, HasSubstr("interface 't0': its MTU is 1500, but port-mtu is 9000; raise it (ip link set t0 mtu "
                               "9000), or set port-mtu: 1500"));
  EXPECT_EQ(railyard({"ls"}).out, "no running labs\n");
}

// Memory that the two daemons share, as between two processes of one server.
class TwoServersByMemif : public TwoServersOverACable {
 protected:
  Settings settings_of_a() const override { return {to_b_by("memif: {socket: " + socket() + "}")}; }
  Settings settings_of_b() const override { return {to_a_by("memif: {socket: " + socket() + ", role: client}")}; }
  std::string socket() const { return (folder_ / "trunk.sock").string(); }
};

TEST_F(TwoServersByMemif, TrafficGoesBothWaysAndARestartOfOneIsSurvived) {
  up_a();
  EXPECT_FALSE(trunk("two-servers-a")["carrier"].get<bool>());
  up_b();
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3", "8972"), kOk);
  EXPECT_EQ(ping("two-servers-b", "h4", "10.1.0.2", "8972"), kOk);
  EXPECT_EQ(trunk("two-servers-a")["fragmented"], 0) << "it is made for what the link carries";
  EXPECT_EQ(railyard({"down", "two-servers-b"}).exit_code, kOk);
  wait_for([&] { return !trunk("two-servers-a")["up"].get<bool>(); });
  up_b();
  wait_until_up(true);
  EXPECT_EQ(ping("two-servers-a", "h1", "10.2.0.3", "8972"), kOk);
  expect_books_balance();
  EXPECT_EQ(railyard({"down", "two-servers-a"}).exit_code, kOk);
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

}  // namespace
}  // namespace railyard::tools
