// Guests with a stand-in for QEMU: a script that runs the agent's program in the guest's directory, or does not.
#include "control/guest/vm.h"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"
#include "control/guest/memory_file.h"
#include "tests/control/guest/agent_process.h"

namespace railyard::guest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Guest : public testing::Test {
 protected:
  Guest() {
    folder_.file("vmlinux", "");
    folder_.file("initrd.cpio", "");
    folder_.file("agent-version", fmt::format("{}\n", static_cast<int>(RY_AGENT_VERSION)));
  }

  // `body` is what the script does; $dir is the guest's directory, $accel kvm or tcg. Without KVM here, a test with
  // kKvm in it is about nothing.
  VmConfig config(const std::string& body) {
    const auto qemu =
        folder_.file("qemu",
                     "#!/bin/sh\n"
                     "while [ $# -gt 0 ]; do case $1 in -pidfile) pid=$2 ;; -accel) accel=$2 ;; esac; shift; done\n"
                     "dir=${pid%/*}; echo $$ >$pid\n" +
                         body + "\n",
                     0755);
    return {.network = {.hostname = "h1"},
            .directory = folder_.path() / "vm",
            .image = folder_.path(),
            .accelerator = Accelerator::kTcg,
            .qemu = qemu};
  }
  const std::string agent_ = "exec " + agent_program().string() + " --listen $dir 8";
  TemporaryFolder folder_;
};

TEST_F(Guest, BootsRunsCommandsAndPowersOff) {
  Vm vm(config(agent_));
  vm.start();
  vm.wait_ready();
  EXPECT_TRUE(vm.running());
  EXPECT_EQ(run_captured(vm.address(), {.arguments = {"echo", "hello"}}).output, "hello\n");
  vm.stop();
  EXPECT_FALSE(vm.running());
  EXPECT_FALSE(std::filesystem::exists(GuestFiles{vm.config().directory}.agent_socket(0)));
  EXPECT_FALSE(std::filesystem::exists(GuestFiles{vm.config().directory}.pid_file()));
}

TEST_F(Guest, CanBeStartedAgainAfterAStop) {
  Vm vm(config(agent_));
  for (int i = 0; i < 2; ++i) {
    vm.start();
    vm.wait_ready();
    EXPECT_EQ(run_captured(vm.address(), {.arguments = {"true"}}).exit.status(), 0);
    vm.stop();
  }
}

TEST_F(Guest, EndsWithItsObjectUnlessReleased) {
  pid_t pid = -1;
  {
    Vm vm(config(agent_));
    vm.start();
    vm.wait_ready();
    pid = vm.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(Guest, HoldsNothingOfOursOpen) {
  int ours[2];
  ASSERT_EQ(pipe(ours), 0);  // would be inherited
  Vm vm(config(agent_));
  vm.start();
  vm.wait_ready();
  close(ours[1]);
  char octet = 0;
  EXPECT_EQ(read(ours[0], &octet, 1), 0) << "the end, because nobody else can write";
  close(ours[0]);
}

TEST_F(Guest, OneThatQemuDoesNotStartIsSaidWithQemusOwnWords) {
  Vm vm(config("echo 'qemu: no such machine' >&2; exit 1"));
  vm.start();
  EXPECT_THAT(error_of([&] { vm.wait_ready(); }),
              testing::AllOf(StartsWith("h1: QEMU has exited; "), HasSubstr("qemu: no such machine")));
  EXPECT_FALSE(std::filesystem::exists(GuestFiles{vm.config().directory}.pid_file()));
}

TEST_F(Guest, OneThatDoesNotComeUpIsKilledAndTheEndOfItsConsoleShown) {
  Vm vm(config("echo 'Kernel panic - not syncing' >$dir/console.log; exec sleep 1000"));
  vm.start();
  const pid_t pid = vm.pid();
  while (!text_of(GuestFiles{vm.config().directory}.console()).contains("panic")) usleep(1000);
  EXPECT_THAT(
      error_of([&] { vm.wait_ready(std::chrono::milliseconds(1)); }),
      testing::AllOf(StartsWith("h1: the guest did not boot within 0 s; "), HasSubstr("Kernel panic - not syncing")));
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(Guest, OneThatIsGivenUpIsNotWaitedForAnyLonger) {
  for (const bool listens : {false, true}) {
    Vm vm(config("exec sleep 1000"));
    vm.start();
    const pid_t pid = vm.pid();
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    GuestFiles{vm.config().directory}.control_socket().string().copy(address.sun_path, sizeof address.sun_path - 1);
    const FileDescriptor silent(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));  // takes a greeting, and no more
    if (listens) {
      ASSERT_EQ(bind(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      ASSERT_EQ(listen(silent.get(), 1), 0);
    }
    int asked = 0;
    EXPECT_EQ(error_of([&] { vm.wait_ready(std::chrono::hours(1), [&] { return ++asked > 5; }); }), "h1: timed out");
    EXPECT_EQ(kill(pid, 0), -1);
  }
}

TEST_F(Guest, WhereKvmDoesNotWorkItContinuesWithTcgAndSaysSo) {
  if (access("/dev/kvm", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/kvm, readable and writable";
  VmConfig c = config("[ $accel = tcg ] || { echo 'failed to set MSR' >&2; exit 134; }\n" + agent_);
  c.accelerator = Accelerator::kAuto;
  Vm vm(std::move(c));
  vm.start();
  EXPECT_EQ(vm.accelerator(), Accelerator::kKvm);
  vm.wait_ready();
  EXPECT_EQ(vm.accelerator(), Accelerator::kTcg);
  EXPECT_THAT(vm.notes(), ElementsAre(HasSubstr("KVM does not work (QEMU ends: failed to set MSR): using TCG")));
}

TEST_F(Guest, ADirectoryIsOneGuests) {
  Vm first(config(agent_));
  first.start();
  first.wait_ready();
  Vm second(first.config());
  EXPECT_THAT(error_of([&] { second.start(); }), StartsWith("h1: a guest already runs in "));
  EXPECT_EQ(run_captured(first.address(), {.arguments = {"true"}}).exit.status(), 0);
}

TEST_F(Guest, OnlyAGuestIsALeftover) {
  std::filesystem::create_directory(folder_.path() / "vm");
  folder_.file("vm/qemu.pid", std::to_string(getpid()));  // a number that belongs to somebody else by now
  EXPECT_FALSE(Vm::stop_leftover(folder_.path() / "vm"));
  EXPECT_FALSE(Vm::stop_leftover(folder_.path() / "nowhere"));
}

TEST_F(Guest, WhatCannotWorkIsRefusedBeforeAnythingStarts) {
  const VmConfig good = config(agent_);
  const auto refusal = [&](const std::function<void(VmConfig&)>& change) {
    VmConfig c = good;
    change(c);
    return error_of([&] { Vm vm(c); });
  };
  EXPECT_EQ(refusal([](VmConfig& c) { c.qemu = "no-such-qemu"; }),
            "h1: no-such-qemu is not installed (Debian: qemu-system-x86)");
  EXPECT_EQ(refusal([](VmConfig& c) { c.image = "/nowhere"; }),
            "there is no guest image in /nowhere (no vmlinux): run tools/softroce/build-image.sh");
  EXPECT_THAT(refusal([](VmConfig& c) { c.directory = "/tmp/" + std::string(100, 'x'); }),
              HasSubstr(" characters, the limit is 107"));
  EXPECT_THAT(refusal([](VmConfig& c) { c.network.nics.push_back({.socket = std::string(108, 'x'), .mac = {}}); }),
              HasSubstr("has 108 characters, the limit is 107"));
  EXPECT_EQ(refusal([](VmConfig& c) { c.memory_mib = 64; }), "h1: 64 MiB of memory; a guest needs 128");
  EXPECT_EQ(refusal([](VmConfig& c) { c.network.nics.push_back({.mac = {}, .mtu = 500}); }),
            "h1: an MTU of 500; a guest's NIC takes 1280 to 65535");
  EXPECT_EQ(refusal([](VmConfig& c) { c.network.nics.resize(30); }), "h1: 30 NICs; a guest has 29 at most");
  folder_.file("agent-version", "99");
  EXPECT_THAT(refusal([](VmConfig&) {}),
              HasSubstr(fmt::format("has agent version 99, expected {}: run tools/softroce/build-image.sh",
                                    static_cast<int>(RY_AGENT_VERSION))));
  std::filesystem::remove(folder_.path() / "agent-version");
  EXPECT_THAT(refusal([](VmConfig&) {}), HasSubstr("has no agent: install gcc and run tools/softroce/build-image.sh"));
  EXPECT_FALSE(std::filesystem::exists(good.directory));
}

}  // namespace
}  // namespace railyard::guest
