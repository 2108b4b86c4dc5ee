// Network namespaces for hosts, for real: needs root, iproute2 and veth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "control/hosts/command.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/namespaces.h"
#include "control/hosts/network_namespace.h"

namespace railyard::hosts {

inline wire::MacAddress nic_mac(int host, int port) {
  return {{2, 0, 0, 1, static_cast<std::uint8_t>(host), static_cast<std::uint8_t>(port)}};
}
inline wire::MacAddress leaf_mac(int host, int port) {
  return {{2, 0, 0, 9, static_cast<std::uint8_t>(host), static_cast<std::uint8_t>(port)}};
}
inline std::string address_text(int host, int port) { return fmt::format("10.99.{}.{}", port - 1, host); }

class NamespacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    try {
      const std::string probe = "ry-" + name_ + "-probe";
      const CommandResult added = run_command({"ip", "netns", "add", probe});
      const CommandResult linked = run_command({"ip", "-n", probe, "link", "add", "a0", "type", "veth"});
      remove_namespace(probe);
      if (added.status != 0) GTEST_SKIP() << "no network namespaces here: " << added.output;
      if (linked.status != 0) GTEST_SKIP() << "no veth here: " << linked.output;
    } catch (const HostsError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    Journal::remove_all(journal_path());
    std::filesystem::remove(journal_path());
  }

  std::filesystem::path journal_path() const {
    return std::filesystem::path(testing::TempDir()) / (name_ + ".journal");
  }

  // Hosts h1, h2, ... with one NIC at the leaf of each rail.
  LabHosts lab(int hosts, int rails) const {
    LabHosts lab{.name = name_, .hosts = {}, .others = {}};
    for (int h = 1; h <= hosts; ++h) {
      NamespaceHost& host = lab.hosts.emplace_back(NamespaceHost{fmt::format("h{}", h), {}});
      for (int port = 1; port <= rails; ++port)
        host.nics.push_back(
            {.interface = fmt::format("eth{}", port),
             .mac = nic_mac(h, port),
             .address_v4 = wire::IpAddress::parse(address_text(h, port)),
             .address_v6 = wire::IpAddress::parse(fmt::format("fd99:0:0:{}::{}", port - 1, h)),
             .mtu = 9000,
             .rate = BitRate{10'000'000'000},
             .neighbour = Neighbour{.is_switch = true,
                                    .mac = leaf_mac(h, port),
                                    .address_v4 = wire::IpAddress::parse(fmt::format("10.255.0.{}", port)),
                                    .address_v6 = wire::IpAddress::parse(fmt::format("fd99:ffff::{}", port))}});
    }
    return lab;
  }

  // Everything on this machine that has the lab's name.
  std::vector<std::string> traces() const {
    std::vector<std::string> out;
    for (const char* folder : {"/var/run/netns", "/etc/netns"}) {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        if (entry.path().filename().string().find(name_) != std::string::npos) out.push_back(entry.path());
    }
    if (std::filesystem::exists(journal_path())) out.push_back(journal_path());
    return out;
  }

  std::string netns(const std::string& host) const { return host_namespace(name_, host); }
  static std::string output(std::vector<std::string> command) {
    const CommandResult result = run_command(command, {.most_output = 1 << 20});
    EXPECT_EQ(result.status, 0) << fmt::format("{}", command.front()) << ": " << result.output;
    return result.output;
  }
  static nlohmann::json ip(const std::string& netns, std::vector<std::string> arguments) {
    std::vector<std::string> command{"ip", "-j", "-d", "-n", netns};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return nlohmann::json::parse(output(command));
  }
  static std::string setting(const std::string& netns, const std::string& name) {
    std::string value;
    in_namespace(netns, [&] { std::getline(std::ifstream("/proc/sys/net/" + name), value); });
    return value;
  }
  static std::string error_of(const LabHosts& lab, Journal& journal) {
    try {
      create_namespaces(lab, journal);
    } catch (const HostsError& error) {
      return error.what();
    }
    return {};
  }

  const std::string name_ = fmt::format("t{}", ::getpid());
};

}  // namespace railyard::hosts
