#include "control/guest/qemu_arguments.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::guest {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

VmConfig config() {
  return {.network = {.hostname = "h1",
                      .nics = {{.socket = "/run/lab,1/h1.sock", .mac = {{2, 0, 0, 0, 0, 1}}, .mtu = 9000}}},
          .directory = "/run/h1",
          .image = "/image",
          .memory_mib = 192,
          .accelerator = Accelerator::kTcg};
}

TEST(QemuArguments, ANicIsAClientOfTheFabricThatComesBack) {
  const auto arguments = qemu_arguments(config(), Accelerator::kTcg);
  EXPECT_THAT(arguments, Contains("socket,id=nic0,path=/run/lab,,1/h1.sock,reconnect=1"));
  EXPECT_THAT(arguments, Contains("vhost-user,id=net0,chardev=nic0,queues=1"));
  EXPECT_THAT(arguments, Contains(HasSubstr("netdev=net0,mac=02:00:00:00:00:01")));
  EXPECT_THAT(arguments, Contains("memory-backend-memfd,id=mem,size=192M,share=on"));
}

TEST(QemuArguments, ANicHasTheSpeedOfItsLink) {
  VmConfig fast = config();
  fast.network.nics[0].rate = BitRate{400'000'000'000};
  EXPECT_THAT(qemu_arguments(fast, Accelerator::kTcg), Contains(HasSubstr(",speed=400000,duplex=full")));
  EXPECT_THAT(qemu_arguments(config(), Accelerator::kTcg), Not(Contains(HasSubstr("speed="))));
}

TEST(QemuArguments, WithoutKvmThereIsNoMsiX) {
  const auto with_vectors = [](const std::vector<std::string>& arguments) {
    return std::ranges::count_if(arguments, [](const std::string& a) { return a.contains("vectors=0"); });
  };
  EXPECT_EQ(with_vectors(qemu_arguments(config(), Accelerator::kTcg)), 2) << "the NIC and the serial ports";
  EXPECT_EQ(with_vectors(qemu_arguments(config(), Accelerator::kKvm)), 0);
  EXPECT_THAT(qemu_arguments(config(), Accelerator::kKvm), Contains("kvm"));
}

TEST(QemuArguments, APortForEachSessionAndOneForControl) {
  const auto arguments = qemu_arguments(config(), Accelerator::kTcg);
  EXPECT_EQ(std::ranges::count_if(arguments, [](const std::string& a) { return a.starts_with("virtserialport,"); }), 9);
  EXPECT_THAT(arguments, Contains("socket,id=agent7,path=/run/h1/agent.7.sock,server=on,wait=off"));
  EXPECT_THAT(arguments, Contains("virtserialport,chardev=control,name=railyard.control"));
}

TEST(QemuArguments, ItsMonitorIsASocketOfTheGuest) {
  EXPECT_THAT(qemu_arguments(config(), Accelerator::kTcg), Contains("unix:/run/h1/monitor.sock,server=on,wait=off"));
}

TEST(QemuArguments, RdmaCanBeLeftOut) {
  VmConfig without = config();
  without.rdma = false;
  EXPECT_THAT(qemu_arguments(without, Accelerator::kTcg), Contains(HasSubstr("LAB_RXE=no")));
  EXPECT_THAT(qemu_arguments(config(), Accelerator::kTcg), Not(Contains(HasSubstr("LAB_RXE"))));
}

}  // namespace
}  // namespace railyard::guest
