#include "control/hosts/routes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace railyard::hosts {
namespace {

using wire::IpAddress;
using wire::IpPrefix;

struct Way {
  std::size_t nic = 0;
  bool direct = false;

  bool operator==(const Way&) const = default;
};
using Ways = std::map<IpAddress, Way>;

class HostRoutes {
 public:
  HostRoutes(const LabHosts& lab, std::size_t host) : nics_(lab.hosts[host].nics) {
    for (std::size_t n = nics_.size(); n-- > 0;)
      if (has_switch(n)) first_ = n;
    for (std::size_t h = 0; h < lab.hosts.size(); ++h) {
      if (h == host) continue;
      for (std::size_t n = 0; n < lab.hosts[h].nics.size(); ++n)
        add(lab.hosts[h].nics[n].address_v4, lab.hosts[h].nics[n].address_v6, n);
    }
    for (const OtherAddress& other : lab.others)
      if (other.port > 0) add(other.address_v4, other.address_v6, static_cast<std::size_t>(other.port) - 1);
    // The first of several links to one neighbour counts.
    for (std::size_t n = nics_.size(); n-- > 0;)
      if (const auto& neighbour = nics_[n].neighbour) {
        set(neighbour->address_v4, {n, !neighbour->is_switch});
        set(neighbour->address_v6, {n, !neighbour->is_switch});
      }
  }

  std::vector<HostRoute> routes() const {
    std::vector<HostRoute> out;
    for (const Ways* ways : {&v4_, &v6_}) {
      const std::vector<std::pair<IpAddress, Way>> sorted(ways->begin(), ways->end());
      const std::uint8_t family = ways == &v4_ ? 96 : 0;  // bits that all addresses of it share
      divide(sorted, family, family, out);
    }
    return out;
  }

 private:
  bool has_switch(std::size_t n) const { return nics_[n].neighbour && nics_[n].neighbour->is_switch; }

  void set(const std::optional<IpAddress>& address, Way way) {
    if (address) (address->is_v4() ? v4_ : v6_)[*address] = way;
  }
  void add(const std::optional<IpAddress>& v4, const std::optional<IpAddress>& v6, std::size_t rail) {
    const std::optional<std::size_t> nic = rail < nics_.size() && has_switch(rail) ? rail : first_;
    if (!nic) return;  // only neighbours can be reached
    set(v4, {*nic, false});
    set(v6, {*nic, false});
  }

  // Routes for `ways`, which share their first `length` bits.
  void divide(std::span<const std::pair<IpAddress, Way>> ways, std::uint8_t length, std::uint8_t family,
              std::vector<HostRoute>& out) const {
    if (ways.empty()) return;
    const Way& way = ways.front().second;
    const bool alike = std::ranges::all_of(ways, [&](const auto& w) { return w.second == way; });
    if (alike && !way.direct) {
      if (length > family || way.nic != first_)  // else it is the default route
        out.push_back({IpPrefix::of(ways.front().first, length), way.nic, false});
      return;
    }
    if (length == 128) return out.push_back({IpPrefix::of(ways.front().first, length), way.nic, way.direct});
    const std::size_t octet = length / 8;
    const unsigned bit = 0x80u >> length % 8;
    const auto ones = std::ranges::find_if(ways, [&](const auto& w) { return (w.first.octets[octet] & bit) != 0; });
    const auto zeros = static_cast<std::size_t>(ones - ways.begin());
    divide(ways.first(zeros), static_cast<std::uint8_t>(length + 1), family, out);
    divide(ways.subspan(zeros), static_cast<std::uint8_t>(length + 1), family, out);
  }

  const std::vector<HostNic>& nics_;
  std::optional<std::size_t> first_;  // with a switch
  Ways v4_;
  Ways v6_;
};

}  // namespace

std::vector<HostRoute> host_routes(const LabHosts& lab, std::size_t host) { return HostRoutes(lab, host).routes(); }

}  // namespace railyard::hosts
