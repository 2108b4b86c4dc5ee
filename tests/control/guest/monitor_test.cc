#include "control/guest/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/control/guest/agent_process.h"
#include "tests/control/guest/monitor_process.h"

namespace railyard::guest {
namespace {

using testing::ElementsAre;

constexpr const char* kDown = R"({"execute": "set_link", "arguments": {"name": "net1", "up": false}})";
constexpr const char* kUp = R"({"execute": "set_link", "arguments": {"name": "net1", "up": true}})";

TEST(QemuMonitor, TakesTheLinkOfANicDownAndBringsItUp) {
  const TemporaryFolder folder;
  MonitorProcess qemu(folder.path());
  std::optional<Monitor> monitor = Monitor::open(folder.path());
  ASSERT_TRUE(monitor);
  EXPECT_TRUE(monitor->set_link(1, false));
  EXPECT_TRUE(monitor->set_link(1, true));
  EXPECT_THAT(qemu.commands(2), ElementsAre(kDown, kUp));
}

TEST(QemuMonitor, SaysWhyQemuRefuses) {
  const TemporaryFolder folder;
  const MonitorProcess qemu(folder.path(), R"({"error": {"class": "DeviceNotFound", "desc": "Device 'net9' not found"}})");
  std::optional<Monitor> monitor = Monitor::open(folder.path());
  ASSERT_TRUE(monitor);
  EXPECT_FALSE(monitor->set_link(9, false));
  EXPECT_EQ(monitor->error(), "Device 'net9' not found");
}

TEST(QemuMonitor, NobodyThereIsNoMonitor) {
  const TemporaryFolder folder;
  EXPECT_FALSE(Monitor::open(folder.path()));
}

TEST(QemuMonitor, NoticesThatQemuIsGone) {
  const TemporaryFolder folder;
  std::optional<MonitorProcess> qemu(folder.path());
  std::optional<Monitor> monitor = Monitor::open(folder.path());
  ASSERT_TRUE(monitor);
  EXPECT_TRUE(monitor->is_open());
  qemu.reset();
  EXPECT_FALSE(monitor->is_open());
  EXPECT_FALSE(monitor->set_link(0, true));
  EXPECT_EQ(monitor->error(), "");
}

TEST(QemuMonitor, OneThatSaysNothingIsNotWaitedForLong) {
  const TemporaryFolder folder;
  const MonitorProcess qemu(folder.path(), R"({"event": "RESUME"})");
  std::optional<Monitor> monitor = Monitor::open(folder.path());
  ASSERT_TRUE(monitor);
  EXPECT_FALSE(monitor->set_link(0, false, std::chrono::milliseconds(50)));
}

}  // namespace
}  // namespace railyard::guest
