#include "control/speakers/frr_config.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::speakers {
namespace {

// bfdd(8): detect-multiplier 1..255 here, intervals 10..4294967 ms.
constexpr std::int64_t kLeastBfdMs = 10;
constexpr std::int64_t kPicosecondsPerMs = 1'000'000'000;

class Config {
 public:
  Config(const Speaker& speaker, const spec::RoutingSpec& routing) : speaker_(speaker), routing_(routing) {}

  std::string text() {
    line("frr defaults datacenter");
    line("hostname {}", speaker_.name);
    // Next hops that the kernel drops with a carrier stay out of zebra's groups after it is back (seen with FRR 8.4).
    line("no zebra nexthop kernel enable");
    host_routes();  // first: staticd, which knows no interfaces, would leave with the "exit" of one
    interfaces();
    bgp();
    return std::move(out_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
    out_ += '\n';
  }

  void interfaces() {
    for (const SpeakerPort& p : speaker_.ports) {
      line("interface {}", interface_of(p.port));
      line(" description {}", spec::format(p.peer));
      line("exit");
    }
  }

  void host_routes() {
    for (const SpeakerPort& p : speaker_.ports)
      for (const wire::IpAddress& host : p.hosts)
        line("{} route {}/{} {}", host.is_v4() ? "ip" : "ipv6", to_string(host), host.is_v4() ? 32 : 128,
             interface_of(p.port));
  }

  std::string router_id() const {
    if (speaker_.loopback_v4) return to_string(*speaker_.loopback_v4);
    const std::uint32_t n = speaker_.as & 0xFFFF;
    return fmt::format("10.255.{}.{}", n >> 8, n & 0xFF);
  }

  std::string bfd() const {
    if (!routing_.bfd) return "bfd";
    const std::int64_t ms =
        std::max(kLeastBfdMs, (routing_.bfd->interval.ps + kPicosecondsPerMs - 1) / kPicosecondsPerMs);
    return fmt::format("bfd {} {} {}", routing_.bfd->multiplier, ms, ms);
  }

  void bgp() {
    line("router bgp {}", speaker_.as);
    line(" bgp router-id {}", router_id());
    line(" no bgp ebgp-requires-policy");
    line(" bgp bestpath as-path multipath-relax");
    for (const SpeakerPort& p : speaker_.ports) {
      if (!p.to_switch) continue;
      line(" neighbor {} interface remote-as external", interface_of(p.port));
      line(" neighbor {} {}", interface_of(p.port), bfd());
    }
    family(true);
    family(false);
    line("exit");
  }

  void family(bool v4) {
    const auto& loopback = v4 ? speaker_.loopback_v4 : speaker_.loopback_v6;
    line(" address-family ipv{} unicast", v4 ? 4 : 6);
    if (loopback) line("  network {}/{}", to_string(*loopback), v4 ? 32 : 128);
    line("  redistribute static");
    line("  maximum-paths 64");
    for (const SpeakerPort& p : speaker_.ports)
      if (p.to_switch) line("  neighbor {} activate", interface_of(p.port));
    line(" exit-address-family");
  }

  const Speaker& speaker_;
  const spec::RoutingSpec& routing_;
  std::string out_;
};

}  // namespace

std::string frr_config(const Speaker& speaker, const spec::RoutingSpec& routing) {
  return Config(speaker, routing).text();
}

}  // namespace railyard::speakers
