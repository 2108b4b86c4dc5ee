#include "dataplane/port/network_namespace.h"

#include <filesystem>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include "tests/dataplane/port/host_namespace.h"
#include "tests/dataplane/port/without_capabilities.h"
#include "tests/support/temporary_file.h"

namespace railyard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string current() { return std::filesystem::read_symlink("/proc/thread-self/ns/net"); }

TEST(NetworkNamespace, IsEnteredByOneThreadForAWhile) {
  if (const auto why = test::why_no_namespaces()) GTEST_SKIP() << *why;
  const test::HostNamespace host;
  const std::string home = current();
  {
    const NetworkNamespace inside(host.name());
    EXPECT_NE(current(), home);
    std::thread([&] { EXPECT_NE(current(), home) << "a new thread is where its maker is"; }).join();
    const NetworkNamespace again(host.name());
    const NetworkNamespace nowhere("");
    EXPECT_NE(current(), home);
  }
  EXPECT_EQ(current(), home);
  {
    const FileDescriptor fd(open(("/run/netns/" + host.name()).c_str(), O_RDONLY));
    const NetworkNamespace by_descriptor(fd);
    EXPECT_NE(current(), home);
  }
  {
    const NetworkNamespace by_path("/run/netns/" + host.name());
    EXPECT_NE(current(), home);
  }
  EXPECT_EQ(current(), home);
}

TEST(NetworkNamespace, WhatCannotBeEnteredIsNamedWithWhatWouldHelp) {
  EXPECT_THAT([] { NetworkNamespace("railyard-nonesuch"); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("'railyard-nonesuch'"), HasSubstr("ip netns add railyard-nonesuch"))));
  EXPECT_THAT([] { NetworkNamespace("/proc/nonesuch/ns/net"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("no such file")));
  if (const auto why = test::why_no_namespaces()) GTEST_SKIP() << *why;
  const test::TemporaryFile file("file");
  file.put("x");
  EXPECT_THAT([&] { NetworkNamespace{file.name()}; },
              ThrowsMessage<std::runtime_error>(HasSubstr("is not a network namespace")));
  const test::HostNamespace host;
  test::without_capabilities([&] {
    EXPECT_THAT([&] { NetworkNamespace{host.name()}; }, ThrowsMessage<std::runtime_error>(HasSubstr("CAP_SYS_ADMIN")));
  });
}

}  // namespace
}  // namespace railyard
