// The keys of sites: machines that each run a part of a live lab, and the links between them.
#include <string>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr Duration kLeastTrunksTimeout{50'000'000'000};

Form<std::optional<wire::IpAddress>> site_address() {
  Form<wire::IpAddress> form{
      [](const Tree& tree) {
        const auto said = tree.kind == Tree::Kind::kScalar ? wire::IpAddress::parse(tree.text) : std::nullopt;
        if (!said) tree.fail(fmt::format("'{}' is no IP address; expected one of this machine, such as 192.0.2.1", tree.text));
        return *said;
      },
      [](const wire::IpAddress& address) { return Tree::string(to_string(address)); },
      any_of_schemas({ipv4().schema, ipv6().schema})};
  return maybe(std::move(form));
}

// What a remote shell takes as a host: never an option of it.
Form<std::string> ssh_target() {
  return checked<std::string>(text_without_control_characters(255), [](const std::string& text) -> std::optional<std::string> {
    if (text.front() != '-' && text.find_first_of(" \t'\"\\$`;&|<>") == text.npos) return std::nullopt;
    return fmt::format("'{}' is no host of ssh; expected [USER@]HOST", text);
  });
}

Key<SiteSpec> site_ports() {
  const Form<std::vector<Attachment>> list = list_of(port_attachment_form());
  Tree schema = Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                           {"additionalProperties", list.schema}});
  return {"ports",
          "ports that lead to other sites, by the site's name, such as { b: [{ netdev: eth1 }, { dpdk: \"0000:3b:00.0\" }] }: "
          "trunk i between the two sites uses port i of both; further trunks use UDP",
          [list](const Tree& tree, SiteSpec& into) {
            into.ports.clear();
            for (const Tree::Entry& e : tree.as_map("a map of lists of ports by the name of a site"))
              into.ports[e.key] = list.read(e.value);
          },
          [list](const SiteSpec& site) {
            if (site.ports.empty()) return Tree{};
            Tree map = Tree::map();
            for (const auto& [name, attachments] : site.ports) map.add(name, list.write(attachments));
            return map;
          },
          [](const SiteSpec& a, const SiteSpec& b) { return a.ports == b.ports; },
          std::move(schema)};
}

}  // namespace

const Table<SiteSpec>& site_keys() {
  static const Table<SiteSpec> table{
      "site",
      "A machine that runs a part of the lab",
      {key("address", &SiteSpec::address, site_address(),
           "address of this machine for trunks over UDP; default: that of the host of `ssh`"),
       key("port", &SiteSpec::port, integer(1, 65535), "first UDP port of its trunks; each trunk takes the next one"),
       key("ssh", &SiteSpec::ssh, ssh_target(), "how it is reached, [USER@]HOST; localhost: this machine, without ssh; default: its address"),
       key("nodes", &SiteSpec::nodes, one_or_list_of(text_without_control_characters(255)),
           "names of its switches and hosts, with * and ?; nodes that no site names are placed automatically"),
       site_ports()}};
  return table;
}

const Table<TrunksSpec>& trunks_keys() {
  static const Table<TrunksSpec> table{
      "trunks",
      "Links between sites",
      {key("delay", &TrunksSpec::delay, maybe(duration(Duration{1})),
           "one-way delay of links between sites that have a shorter one; use more than half the round trip of the "
           "network between the machines"),
       key("timeout", &TrunksSpec::timeout, duration(kLeastTrunksTimeout, Duration{kPicosecondsPerSecond * 60}),
           "a link goes down when its other site has been silent for this time")}};
  return table;
}

}  // namespace railyard::spec
