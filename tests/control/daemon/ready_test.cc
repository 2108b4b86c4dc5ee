#include "control/daemon/ready.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace railyard::daemon {
namespace {

TEST(Ready, WhatTheDaemonTellsArrives) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  tell_ready(pipe[1], {.lab = {}, .error = "x.yaml:3: no \xff", .exit_code = 3});
  const auto told = wait_ready(pipe[0]);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->lab, "");
  EXPECT_EQ(told->exit_code, 3);
  EXPECT_EQ(told->error, "x.yaml:3: no \xEF\xBF\xBD") << "what is no UTF-8 is replaced";
  ::close(pipe[0]);
}

TEST(Ready, ADaemonThatDiesTellsNothing) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::write(pipe[1], "{\"lab\":", 7), 7);
  ::close(pipe[1]);
  EXPECT_FALSE(wait_ready(pipe[0]).has_value());
  ::close(pipe[0]);
}

}  // namespace
}  // namespace railyard::daemon
