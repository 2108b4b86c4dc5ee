// Guests' links with a stand-in for QEMU's monitor.
#include "control/daemon/guest_links.h"

#include <atomic>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/guest/agent_process.h"
#include "tests/control/guest/monitor_process.h"

namespace railyard::daemon {
namespace {

using guest::MonitorProcess;
using testing::ElementsAre;

std::string set_link(int nic, bool up) {
  return std::string(R"({"execute": "set_link", "arguments": {"name": "net)") + std::to_string(nic) + R"(", "up": )" +
         (up ? "true" : "false") + "}}";
}

class GuestLinksTest : public testing::Test {
 protected:
  GuestLinksTest() { log_.emplace(folder_.path() / "log"); }
  GuestLinks::Guest guest() {
    return {.name = "h1",
            .directory = folder_.path() / "h1",
            .is_up = {[this] { return first_.load(); }, [this] { return second_.load(); }}};
  }

  guest::TemporaryFolder folder_;
  std::optional<Log> log_;
  std::atomic<bool> first_{true};
  std::atomic<bool> second_{true};
};

TEST_F(GuestLinksTest, ALinkThatFailsAndComesBackDoesSoInTheGuest) {
  MonitorProcess qemu(folder_.path() / "h1");
  const GuestLinks links({guest()}, *log_);
  second_ = false;
  EXPECT_THAT(qemu.commands(1), ElementsAre(set_link(1, false)));
  second_ = true;
  EXPECT_THAT(qemu.commands(2), ElementsAre(set_link(1, false), set_link(1, true)));
}

TEST_F(GuestLinksTest, AGuestThatBootsIsToldOfLinksThatAreDown) {
  first_ = false;
  const GuestLinks links({guest()}, *log_);
  MonitorProcess qemu(folder_.path() / "h1");
  EXPECT_THAT(qemu.commands(1), ElementsAre(set_link(0, false)));
}

TEST_F(GuestLinksTest, SoIsOneThatBootsAnew) {
  std::optional<MonitorProcess> qemu(folder_.path() / "h1");
  const GuestLinks links({guest()}, *log_);
  first_ = false;
  EXPECT_THAT(qemu->commands(1), ElementsAre(set_link(0, false)));
  qemu.reset();
  qemu.emplace(folder_.path() / "h1");
  EXPECT_THAT(qemu->commands(1), ElementsAre(set_link(0, false)));
}

}  // namespace
}  // namespace railyard::daemon
