// By ioctl (linux/ethtool.h), not by the program ethtool: that would run once per interface.
#include "control/hosts/offloads.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

// What PacketSocketPort does in the NIC's place as frames come in.
constexpr std::array kDone{std::string_view("rx-checksum"),           std::string_view("tx-checksum-ipv4"),
                           std::string_view("tx-checksum-ipv6"),      std::string_view("tx-checksum-ip-generic"),
                           std::string_view("tx-tcp-segmentation"),   std::string_view("tx-tcp-ecn-segmentation"),
                           std::string_view("tx-tcp6-segmentation"),  std::string_view("tx-udp-segmentation")};

bool is_done(std::string_view feature) { return std::ranges::find(kDone, feature) != kDone.end(); }

bool is_offload(std::string_view feature) {
  const auto has = [&](std::string_view part) { return feature.find(part) != feature.npos; };
  return has("checksum") || has("segmentation") || feature.starts_with("tx-gso-list") ||
         feature.starts_with("rx-gro") || feature == "rx-lro";
}

// What the kernel reads and writes at SIOCETHTOOL: a header and what follows it.
template <class Header>
class Request {
 public:
  Request(std::uint32_t command, std::size_t behind) : octets_(std::make_unique<char[]>(sizeof(Header) + behind)) {
    header().cmd = command;
  }
  Header& header() { return *reinterpret_cast<Header*>(octets_.get()); }
  char* behind() { return octets_.get() + sizeof(Header); }
  void* data() { return octets_.get(); }

 private:
  std::unique_ptr<char[]> octets_;
};

// The features of one interface. Feature i has bit i % 32 in block i / 32.
class Features {
 public:
  explicit Features(const std::string& interface)
      : interface_(interface), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (!socket_) fail(errno);
    Request<ethtool_sset_info> info(ETHTOOL_GSSET_INFO, sizeof(std::uint32_t));
    info.header().sset_mask = std::uint64_t{1} << ETH_SS_FEATURES;
    call(info);
    std::uint32_t count = 0;
    std::memcpy(&count, info.behind(), sizeof count);

    Request<ethtool_gstrings> strings(ETHTOOL_GSTRINGS, std::size_t{count} * ETH_GSTRING_LEN);
    strings.header().string_set = ETH_SS_FEATURES;
    strings.header().len = count;
    call(strings);
    for (std::uint32_t i = 0; i < count; ++i) {
      const char* name = strings.behind() + std::size_t{i} * ETH_GSTRING_LEN;
      names_.emplace_back(name, ::strnlen(name, ETH_GSTRING_LEN));
    }
  }

  // The offloads that are on.
  std::vector<std::string> on() const {
    const auto blocks = get();
    std::vector<std::string> out;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (is_offload(names_[i]) && (blocks[i / 32].active >> i % 32 & 1) != 0) out.push_back(names_[i]);
    return out;
  }

  void switch_undone_off() const {
    const auto blocks = get();
    std::vector<ethtool_set_features_block> wanted(blocks.size());
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (is_offload(names_[i]) && !is_done(names_[i])) wanted[i / 32].valid |= blocks[i / 32].available & std::uint32_t{1} << i % 32;
    const std::size_t octets = wanted.size() * sizeof wanted[0];
    Request<ethtool_sfeatures> set(ETHTOOL_SFEATURES, octets);
    set.header().size = static_cast<std::uint32_t>(wanted.size());
    std::memcpy(set.behind(), wanted.data(), octets);
    call(set);
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw HostsError(fmt::format("cannot change the offloads of {}: {}", interface_, std::strerror(error)));
  }
  template <class Header>
  void call(Request<Header>& request) const {
    ifreq r{};
    std::copy_n(interface_.data(), std::min<std::size_t>(interface_.size(), IFNAMSIZ - 1), r.ifr_name);
    r.ifr_data = static_cast<char*>(request.data());
    if (::ioctl(socket_.get(), SIOCETHTOOL, &r) < 0) fail(errno);
  }
  std::vector<ethtool_get_features_block> get() const {
    std::vector<ethtool_get_features_block> blocks((names_.size() + 31) / 32);
    const std::size_t octets = blocks.size() * sizeof blocks[0];
    Request<ethtool_gfeatures> request(ETHTOOL_GFEATURES, octets);
    request.header().size = static_cast<std::uint32_t>(blocks.size());
    call(request);
    std::memcpy(blocks.data(), request.behind(), octets);
    return blocks;
  }

  std::string interface_;
  FileDescriptor socket_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> offloads(const std::string& interface) { return Features(interface).on(); }

void leave_offloads(const std::string& interface) {
  const Features features(interface);
  features.switch_undone_off();
  auto left = features.on();
  std::erase_if(left, is_done);
  if (!left.empty()) throw HostsError(fmt::format("{} stay on at {}", fmt::join(left, ", "), interface));
}

}  // namespace railyard::hosts
