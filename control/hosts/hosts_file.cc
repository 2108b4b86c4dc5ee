#include "control/hosts/hosts_file.h"

#include <optional>

#include <fmt/format.h>

namespace railyard::hosts {
namespace {

void add(std::string& text, const std::string& name, int port, const std::string& interface,
         const std::optional<wire::IpAddress>& v4, const std::optional<wire::IpAddress>& v6) {
  std::string names;
  if (port <= 1) names += " " + name;
  if (port >= 1) names += fmt::format(" {}.{}", name, interface);
  for (const auto& address : {v4, v6})
    if (address) text += to_string(*address) + names + "\n";
}

void add_lab(std::string& text, const LabHosts& lab) {
  for (const NamespaceHost& host : lab.hosts)
    for (std::size_t n = 0; n < host.nics.size(); ++n)
      add(text, host.name, static_cast<int>(n) + 1, host.nics[n].interface, host.nics[n].address_v4,
          host.nics[n].address_v6);
  for (const OtherAddress& other : lab.others) 
    add(text, other.name, other.port, other.interface, other.address_v4, other.address_v6);
}

std::string heading(const LabHosts& lab) { return fmt::format("# lab {}\n", lab.name); }

}  // namespace

std::string hosts_file(const LabHosts& lab) {
  std::string text = heading(lab) +
                     "127.0.0.1 localhost\n"
                     "::1 localhost ip6-localhost ip6-loopback\n";
  add_lab(text, lab);
  return text;
}

std::string hosts_lines(const LabHosts& lab) {
  std::string text = heading(lab);
  add_lab(text, lab);
  return text;
}

}  // namespace railyard::hosts
