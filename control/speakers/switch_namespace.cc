#include "control/speakers/switch_namespace.h"

#include <string_view>

#include <fmt/format.h>

#include "control/hosts/batch.h"
#include "control/hosts/kernel_settings.h"
#include "control/hosts/network_namespace.h"
#include "control/spec/value.h"

namespace railyard::speakers {
namespace {

void set_up_kernel() {
  using hosts::set_kernel;
  set_kernel({
      {"net/ipv4/ip_forward", "1"},  // first: it resets others
      // Ports have no addresses of their own: lo's are asked for and spoken for at each.
      {"net/ipv4/conf/all/arp_ignore", "0"},
      {"net/ipv4/conf/all/arp_announce", "0"},
      {"net/ipv4/conf/default/ignore_routes_with_linkdown", "1"},
  });
  if (!hosts::kernel_has_ipv6()) return;
  for (const std::string_view scope : {"all", "default"}) {
    const auto conf = [&](std::string_view name) { return fmt::format("net/ipv6/conf/{}/{}", scope, name); };
    set_kernel({{conf("forwarding"), "1"}, {conf("ignore_routes_with_linkdown"), "1"}});
  }
}

}  // namespace

void set_up_switch_namespace(const Speaker& speaker, const std::string& netns, const hosts::Journal& journal) {
  hosts::in_namespace(netns, set_up_kernel);
  hosts::Batch ip("ip", netns);
  if (speaker.loopback_v4) ip.add("address add {}/32 dev lo", to_string(*speaker.loopback_v4));
  if (speaker.loopback_v6 && hosts::kernel_has_ipv6())
    ip.add("address add {}/128 dev lo nodad", to_string(*speaker.loopback_v6));
  ip.run_or_throw(journal);
}

void name_peers(const Speaker& speaker, const std::string& netns, const hosts::Journal& journal) {
  hosts::Batch ip("ip", netns);
  for (const SpeakerPort& p : speaker.ports) ip.add("link set {} alias {}", interface_of(p.port), spec::format(p.peer));
  ip.run_or_throw(journal);
}

}  // namespace railyard::speakers
