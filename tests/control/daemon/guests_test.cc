// Guests with a stand-in for QEMU: a script that runs the agent's program, or does nothing.
#include "control/daemon/guests.h"

#include <csignal>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/guest/guest_error.h"
#include "control/guest/guest_files.h"
#include "control/guest/run_command.h"
#include "tests/control/guest/agent_process.h"

namespace railyard::daemon {
namespace {

using guest::agent_program;
using guest::GuestFiles;
using guest::text_of;
using State = Guests::State;

// Of one that boots as soon as there is a file "may-boot" in the folder.
class GuestsTest : public testing::Test {
 protected:
  GuestsTest() {
    folder_.file("vmlinux", "");
    folder_.file("initrd.cpio", "");
    folder_.file("agent-version", fmt::format("{}\n", static_cast<int>(RY_AGENT_VERSION)));
    folder_.file("qemu",
                 fmt::format("#!/bin/sh\n"
                             "while [ $# -gt 0 ]; do case $1 in -pidfile) pid=$2 ;; esac; shift; done\n"
                             "dir=${{pid%/*}}; echo $$ >$pid\n"
                             "while [ ! -e $dir/../may-boot ]; do sleep 0.01; done\n"
                             "exec {} --listen $dir 2\n",
                             agent_program().string()),
                 0755);
    log_.emplace(folder_.path() / "log");
    guests_.emplace(*log_);
    for (const char* name : {"h1", "h2"})
      guests_->add({.network = {.hostname = name},
                    .directory = folder_.path() / name,
                    .image = folder_.path(),
                    .accelerator = guest::Accelerator::kTcg,
                    .qemu = folder_.path() / "qemu"});
  }
  void may_boot(bool yes) {
    if (yes)
      folder_.file("may-boot", "");
    else
      std::filesystem::remove(folder_.path() / "may-boot");
  }
  void boot() {
    may_boot(true);
    guests_->boot(stop_);
  }
  pid_t qemu(std::size_t i) const {
    pid_t pid = -1;
    std::ifstream(GuestFiles{guests_->config(i).directory}.pid_file()) >> pid;
    return pid;
  }
  State after_boot(std::size_t i) {
    Guests::Look look;
    while ((look = guests_->look(i)).state == State::kBooting) std::this_thread::yield();
    return look.state;
  }
  bool answers(std::size_t i) const {
    return guest::run_captured({guests_->config(i).directory, "x"}, {.arguments = {"echo", "hello"}}).output ==
           "hello\n";
  }

  guest::TemporaryFolder folder_;
  std::optional<Log> log_;
  std::optional<Guests> guests_;
  std::atomic<bool> stop_{false};
};

TEST_F(GuestsTest, TheyBootTogether) {
  EXPECT_EQ(guests_->look(0).state, State::kBooting);
  boot();
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(guests_->look(i).state, State::kUp);
    EXPECT_TRUE(guests_->look(i).emulated) << "by TCG, which bounds what it sends";
    EXPECT_TRUE(answers(i));
  }
}

TEST_F(GuestsTest, WhoeverStopsTheBootDoesNotWaitForIt) {
  std::thread stopper([&] {
    while (qemu(1) < 0) std::this_thread::yield();  // both have been started
    stop_ = true;
  });
  guests_->boot(stop_);
  stopper.join();
  const pid_t first = qemu(0);
  const pid_t second = qemu(1);
  guests_.reset();
  EXPECT_EQ(::kill(second, 0), -1);
  EXPECT_TRUE(first < 0 || ::kill(first, 0) == -1);
}

TEST_F(GuestsTest, OneThatEndsIsDownAndBootedAnewWithoutTheOthers) {
  boot();
  ::kill(qemu(0), SIGKILL);
  while (guests_->look(0).state == State::kUp) std::this_thread::yield();
  EXPECT_THAT(guests_->look(0).why, testing::HasSubstr("its QEMU has exited; see "));
  EXPECT_EQ(guests_->look(1).state, State::kUp);

  may_boot(false);
  EXPECT_TRUE(guests_->restart(0));
  EXPECT_EQ(guests_->look(0).state, State::kBooting) << "nobody waits for it";
  EXPECT_FALSE(guests_->restart(0)) << "that goes on already";
  EXPECT_TRUE(answers(1));
  may_boot(true);
  EXPECT_EQ(after_boot(0), State::kUp);
  EXPECT_TRUE(answers(0));
  EXPECT_THAT(text_of(folder_.path() / "log"), testing::HasSubstr("h1 is down: its QEMU has exited"));
}

TEST_F(GuestsTest, OneThatRunsIsAnotherAfterwards) {
  boot();
  const pid_t before = qemu(1);
  EXPECT_TRUE(guests_->restart(1));
  EXPECT_EQ(after_boot(1), State::kUp);
  EXPECT_NE(qemu(1), before);
  EXPECT_EQ(::kill(before, 0), -1);
  EXPECT_TRUE(answers(1));
}

TEST_F(GuestsTest, WhatKeepsOneFromBootingIsSaidAndItMayBeTriedAgain) {
  boot();
  ::kill(qemu(0), SIGKILL);
  std::filesystem::rename(folder_.path() / "qemu", folder_.path() / "away");
  EXPECT_TRUE(guests_->restart(0));
  EXPECT_EQ(after_boot(0), State::kDown);
  EXPECT_THAT(guests_->look(0).why, testing::HasSubstr("cannot start "));
  std::filesystem::rename(folder_.path() / "away", folder_.path() / "qemu");
  EXPECT_TRUE(guests_->restart(0));
  EXPECT_EQ(after_boot(0), State::kUp);
}

TEST_F(GuestsTest, TheEndComesInTheMiddleOfABoot) {
  boot();
  may_boot(false);
  ::kill(qemu(0), SIGKILL);
  while (guests_->look(0).state == State::kUp) std::this_thread::yield();
  std::filesystem::remove(GuestFiles{guests_->config(0).directory}.pid_file());
  guests_->restart(0);
  while (qemu(0) < 0) std::this_thread::yield();
  const pid_t booting = qemu(0);
  guests_.reset();
  EXPECT_EQ(::kill(booting, 0), -1);
}

}  // namespace
}  // namespace railyard::daemon
