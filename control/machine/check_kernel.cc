// What the kernel can, and may do for us.
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "control/machine/checks.h"

namespace railyard::machine {
namespace {

using Version = std::pair<int, int>;

// "6.18.44-...": 6, 18.
Version version_of(std::string_view release) {
  Version v{};
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, v.first);
  if (error == std::errc{} && dot < end && *dot == '.') std::from_chars(dot + 1, end, v.second);
  return v;
}

void check_version(const Files& files, Checks& out) {
  constexpr Version kPacketSockets{4, 20};
  struct Feature {
    Version since;
    const char* what;
  };
  constexpr std::array kFeatures{Feature{{5, 3}, "AF_XDP that need not be polled"},
                                 Feature{{6, 2}, "segmentation of UDP at TAPs"},
                                 Feature{{6, 6}, "AF_XDP above 3,400 bytes"}};
  const std::string release = files.text("/proc/sys/kernel/osrelease").value_or("");
  const Version version = version_of(release);
  Check c{"kernel", version >= kPacketSockets, release.empty() ? "unknown" : release};
  std::string lacks;
  for (const Feature& f : kFeatures)
    if (version < f.since)
      lacks += fmt::format("{}{} ({}.{})", lacks.empty() ? "" : ", ", f.what, f.since.first, f.since.second);
  if (!lacks.empty()) c.found += "; lacks: " + lacks;
  if (!c.ok) c.remedy = "Hosts in namespaces need Linux 4.20 or later";
  out.push_back(std::move(c));
}

void check_clock(const Files& files, Checks& out) {
  constexpr const char* kFolder = "/sys/devices/system/clocksource/clocksource0/";
  const std::string now = files.text(std::string(kFolder) + "current_clocksource").value_or("unknown");
  // These are read without a call to the kernel.
  Check c{"clock-source", now == "tsc" || now == "kvm-clock" || now == "hyperv_clocksource_tsc_page", now};
  if (!c.ok)
    c.remedy = fmt::format("echo tsc > {}current_clocksource, or boot with tsc=reliable: a worker reads the clock each turn, and "
                           "{} costs a call to the kernel or to hardware",
                           kFolder, now);
  out.push_back(std::move(c));
}

bool may(const Files& files, unsigned capability) {
  const std::string status = files.text("/proc/self/status").value_or("");
  const std::size_t at = status.find("CapEff:\t");
  if (at == std::string::npos) return false;
  const char* const from = status.data() + at + 8;
  std::uint64_t mask = 0;
  std::from_chars(from, status.data() + status.size(), mask, 16);
  return (mask >> capability & 1) != 0;
}

void check_rights(const Files& files, const std::optional<Wanted>& wanted, Checks& out) {
  constexpr unsigned kNetAdmin = 12, kSysAdmin = 21;  // capabilities(7)
  const bool all = may(files, kNetAdmin) && may(files, kSysAdmin);
  Check c{"namespaces", all, all ? "CAP_NET_ADMIN, CAP_SYS_ADMIN" : "not permitted"};
  if (!c.ok && wanted && !wanted->interfaces) {
    c.ok = true;
    c.found += ", and not needed by this lab";
  }
  if (!c.ok) c.remedy = "Run as root: hosts with attach: namespace, tap or netdev need CAP_NET_ADMIN and CAP_SYS_ADMIN";
  out.push_back(std::move(c));

  Check tun{"tun", files.exists("/dev/net/tun"), "/dev/net/tun"};
  if (!tun.ok) {
    tun.found += " is missing";
    tun.remedy = "modprobe tun (in a container: --device /dev/net/tun); attach: tap needs it";
  }
  out.push_back(std::move(tun));
}

}  // namespace

void check_kernel(const Files& files, const std::optional<Wanted>& wanted, Checks& out) {
  check_version(files, out);
  check_clock(files, out);
  check_rights(files, wanted, out);
}

}  // namespace railyard::machine
