#include "control/front/site_plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include "control/spec/load.h"
#include "control/spec/reducers.h"
#include "control/spec/spec_error.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"

namespace railyard::front {
namespace {

std::string host_of(const std::string& target) { return target.substr(target.rfind('@') + 1); }

// The name of a site that the file does not have: the first part of its host's name, or the address with '-'.
std::string name_of(const std::string& target) {
  std::string name = host_of(target);
  if (!wire::IpAddress::parse(name)) name = name.substr(0, name.find('.'));
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '-');
  return name;
}

// `place`: of the site in the file; a site of the command line has none.
wire::IpAddress address_of(const std::string& site, const std::string& host, const spec::Place& place) {
  if (const auto said = wire::IpAddress::parse(host)) return *said;
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  if (error == 0 && ::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
    if (const auto address = wire::IpAddress::parse(text.data())) return *address;
  const std::string what = fmt::format("site {}: no address for '{}'{}; expected `sites.{}.address` in the file", site, host,
                                       error != 0 ? fmt::format(" ({})", ::gai_strerror(error)) : "", site);
  if (place.line > 0) throw spec::SpecError(place, what);
  throw std::invalid_argument(what);
}

}  // namespace

SitePlan plan_sites(const std::string& spec_file, const std::vector<std::string>& overrides,
                    const std::vector<std::string>& sites) {
  std::vector<std::string> all{"run.clock=wall"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  spec::Lab lab = spec::load(spec_file, all);
  SitePlan plan;
  for (const std::string& said : sites) {
    if (said.empty() || said.front() == '-')
      throw std::invalid_argument(fmt::format("--site: '{}' is no site; expected names of the file's sites, or [USER@]HOST", said));
    const std::string name = lab.sites.contains(said) ? said : name_of(said);
    plan.sites.push_back(name);
    const auto [site, is_new] = lab.sites.try_emplace(name);
    if (is_new) site->second.ssh = said;
  }
  std::erase_if(lab.sites, [&](const auto& s) { return std::ranges::find(plan.sites, s.first) == plan.sites.end(); });
  for (auto& [name, site] : lab.sites) {
    if (!site.address) site.address = address_of(name, site.ssh.empty() ? name : host_of(site.ssh), site.place);
    if (site.ssh.empty()) site.ssh = wire::to_string(*site.address);
  }
  const sites::Placement placement = sites::place(lab, plan.sites);
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) plan.site_of[lab.nodes[n].name] = placement[n];
  // What a site cannot run is refused here.
  for (const std::string& site : plan.sites) {
    const spec::Lab part = sites::part_of(lab, placement, site);
    std::map<spec::PortName, spec::PortName> far_end;  // by its own end
    for (const std::size_t i : sites::crossing_links(lab, placement)) {
      far_end[lab.links[i].a] = lab.links[i].b;
      far_end[lab.links[i].b] = lab.links[i].a;
    }
    plan.trunks[site];
    for (const spec::LinkSpec& link : part.links)
      for (const auto& [trunk, own] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        if (!plan.site_of.contains(trunk.node)) plan.trunks[site][trunk.node] = {site, plan.site_of.at(far_end.at(own).node), spec::format(far_end.at(own))};
  }
  plan.lab = sites::with_placement(lab, placement);
  plan.file = spec::to_yaml(spec::without_reducers(plan.lab), spec::Defaults::kWritten);
  return plan;
}

}  // namespace railyard::front
