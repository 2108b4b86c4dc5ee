#include "control/hosts/namespaces.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/hosts/batch.h"
#include "control/hosts/command.h"
#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"
#include "control/hosts/hosts_file.h"
#include "control/hosts/kernel_settings.h"
#include "control/hosts/network_namespace.h"
#include "control/hosts/offloads.h"
#include "control/hosts/routes.h"

namespace railyard::hosts {
namespace {

using namespace literals;

constexpr std::size_t kMostInterfaceName = IFNAMSIZ - 1;
constexpr std::size_t kMostNamespaceName = 255;  // it is a file's
constexpr int kLeastIpv6Mtu = 1280;              // RFC 8200 §5

// One sender's kernel makes no more than this: a shaper would cost cycles and hold nobody back.
constexpr BitRate kMostShapedRate = 100_Gbps;
// A token bucket is refilled by a timer, which may be late by this: with less the rate would not be reached.
constexpr Duration kBurst{250'000'000};
// Of the queue in front of the token bucket: what twenty UDP sockets may have in it (net.core.wmem_default), so that
// senders are held back and nothing is lost here.
constexpr Bytes kQueue = 4_MiB;
// On the wire, not in a packet's length.
constexpr int kFcs = 4;

// Routing tables and priorities of rules: 1000 + port.
constexpr int kFirstTable = 1000;

const std::string kHostsFolder = "/etc/netns";

// ---- Names ---------------------------------------------------------------------------------------------------------

bool is_plain(const std::string& name) {
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

void check_names(const LabHosts& lab) {
  const auto check = [](const char* what, const std::string& name, const std::string& netns) {
    if (!is_plain(name))
      throw HostsError(
          fmt::format("{} '{}' is not valid in the name of a network namespace; expected letters, "
                      "digits, '-', '_' and '.'",
                      what, name));
    if (netns.size() > kMostNamespaceName)
      throw HostsError(fmt::format(
          "the network namespace's name {} has {} characters; expected at most {}: shorten the name of the lab or host",
          netns, netns.size(), kMostNamespaceName));
  };
  check("lab", lab.name, fabric_namespace(lab.name));
  std::set<std::string> names;
  for (const NamespaceHost& host : lab.hosts) {
    check("host", host.name, host_namespace(lab.name, host.name));
    if (!names.insert(host.name).second) throw HostsError(fmt::format("there are two hosts '{}'", host.name));
  }
}

// What is made of a lab: some of its hosts, with or without the lab's own namespace.
struct Part {
  const LabHosts& lab;
  std::vector<std::size_t> hosts;
  bool fabric = true;

  std::vector<std::string> namespaces() const {
    std::vector<std::string> all;
    if (fabric) all.push_back(fabric_namespace(lab.name));
    for (const std::size_t h : hosts) all.push_back(host_namespace(lab.name, lab.hosts[h].name));
    return all;
  }
};

Part whole(const LabHosts& lab) {
  Part part{.lab = lab, .hosts = {}};
  for (std::size_t h = 0; h < lab.hosts.size(); ++h) part.hosts.push_back(h);
  return part;
}

std::string hosts_folder(const std::string& netns) { return kHostsFolder + "/" + netns; }
std::string hosts_path(const std::string& netns) { return hosts_folder(netns) + "/hosts"; }

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Everything that is made, in order; folders that are there already are used and not recorded.
std::vector<Thing> things(const Part& part) {
  std::vector<Thing> all{Directory{kHostsFolder}};
  for (const std::string& netns : part.namespaces()) {
    all.emplace_back(Directory{hosts_folder(netns)});
    all.emplace_back(File{hosts_path(netns)});
    all.emplace_back(Namespace{netns});
  }
  return all;
}

// ---- What the machine must have ------------------------------------------------------------------------------------

void check_privileges() {
  std::uint64_t effective = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) effective = std::strtoull(line.c_str() + 7, nullptr, 16);
  const std::uint64_t needed = std::uint64_t{1} << CAP_NET_ADMIN | std::uint64_t{1} << CAP_SYS_ADMIN;
  if ((effective & needed) != needed)
    throw HostsError(
        "network namespaces need root (CAP_NET_ADMIN and CAP_SYS_ADMIN): use sudo, or give these hosts another "
        "attachment");
}

void check_free(const Part& part) {
  for (const std::string& netns : part.namespaces()) {
    if (namespace_exists(netns))
      throw HostsError(
          fmt::format("the network namespace {0} exists already and is not this lab's: is a lab '{1}' running "
                      "elsewhere? If it is unused: ip netns delete {0}",
                      netns, part.lab.name));
    if (exists(hosts_path(netns)))
      throw HostsError(
          fmt::format("the file {0} exists already and is not this lab's; if it is unused: rm {0}", hosts_path(netns)));
  }
}

// ---- Settings of a namespace ---------------------------------------------------------------------------------------

// Before there are interfaces, which take over `default`. What a new namespace begins with may come from the machine's
// own settings.
void set_up_fabric_namespace() {
  set_kernel({{"net/ipv4/ip_forward", "0"}});
  // The kernel says nothing of its own on the fabric's ends.
  if (kernel_has_ipv6()) set_kernel({{"net/ipv6/conf/all/disable_ipv6", "1"}, {"net/ipv6/conf/default/disable_ipv6", "1"}});
}

void set_up_host_namespace() {
  set_kernel({
      {"net/ipv4/ip_forward", "0"},  // first: it resets others
      // A packet between rails comes in where its answer does not leave.
      {"net/ipv4/conf/all/rp_filter", "0"},
      {"net/ipv4/conf/default/rp_filter", "0"},
      // A NIC speaks for its own address only.
      {"net/ipv4/conf/all/arp_ignore", "1"},
      {"net/ipv4/conf/all/arp_announce", "2"},
      // TCP asks for ECN, not only if asked.
      {"net/ipv4/tcp_ecn", "1"},
      // ping and low ports for every user.
      {"net/ipv4/ping_group_range", "0 2147483647"},
      {"net/ipv4/ip_unprivileged_port_start", "0"},
  });
  if (!kernel_has_ipv6()) return;
  for (const std::string_view scope : {"all", "default"}) {
    const auto conf = [&](std::string_view name) { return fmt::format("net/ipv6/conf/{}/{}", scope, name); };
    set_kernel({
        {conf("disable_ipv6"), "0"},
        {conf("forwarding"), "0"},
        // No multicast that nobody asked for: duplicate address detection, router solicitations.
        {conf("accept_dad"), "0"},
        {conf("dad_transmits"), "0"},
        {conf("accept_ra"), "0"},
        {conf("router_solicitations"), "0"},
    });
  }
}

// ---- Links, addresses, routes --------------------------------------------------------------------------------------

// The fabric's end of NIC `nic` (from 0).
std::string fabric_interface(const NamespaceHost& host, std::size_t nic) {
  std::string name = fmt::format("{}-{}", host.name, nic + 1);
  if (name.size() > kMostInterfaceName) name = fmt::format("v{}", host.first_nic + nic + 1);
  return name;
}

// The pairs are born where they belong.
Batch links(const Part& part) {
  const LabHosts& lab = part.lab;
  Batch ip("ip", fabric_namespace(lab.name));
  if (part.fabric) ip.add("link set lo up");
  for (const std::size_t h : part.hosts) {
    const NamespaceHost& host = lab.hosts[h];
    for (std::size_t n = 0; n < host.nics.size(); ++n) {
      const HostNic& nic = host.nics[n];
      const std::string end = fabric_interface(host, n);
      ip.add(
          "link add name {} mtu {} numtxqueues 1 numrxqueues 1 type veth peer name {} netns {} address {} mtu {} "
          "numtxqueues 1 numrxqueues 1",
          end, nic.mtu, nic.interface, host_namespace(lab.name, host.name), to_string(nic.mac), nic.mtu);
      ip.add("link set {} up", end);
    }
  }
  return ip;
}

class HostSetUp {
 public:
  HostSetUp(const LabHosts& lab, std::size_t host)
      : lab_(lab),
        index_(host),
        host_(lab.hosts[host]),
        ip_("ip", host_namespace(lab.name, host_.name)),
        ip6_("ip", host_namespace(lab.name, host_.name), "-6") {
    ip_.add("link set lo up");
    for (std::size_t n = 0; n < host_.nics.size(); ++n) add_nic(n);
    for (const HostRoute& route : host_routes(lab_, index_)) add_route(route);
  }

  void run(const Journal& journal) const {
    ip_.run_or_throw(journal);
    ip6_.run_or_throw(journal);
  }

 private:
  // A family of addresses at one NIC.
  struct Side {
    const std::optional<wire::IpAddress>& own;
    const std::optional<wire::IpAddress>& neighbour;
  };
  Side side(const HostNic& nic, bool v4) const {
    static const std::optional<wire::IpAddress> kNone;
    if (!v4 && (nic.mtu < kLeastIpv6Mtu || !has_ipv6_)) return {kNone, kNone};
    const auto& own = v4 ? nic.address_v4 : nic.address_v6;
    if (!own || !nic.neighbour) return {own, kNone};
    return {own, v4 ? nic.neighbour->address_v4 : nic.neighbour->address_v6};
  }

  void add_nic(std::size_t n) {
    const HostNic& nic = host_.nics[n];
    const std::size_t port = n + 1;
    ip_.add("link set {} up", nic.interface);
    for (const bool v4 : {true, false}) {
      const auto [own, neighbour] = side(nic, v4);
      if (!own) continue;
      ip_.add("address add {}/{} dev {}{}", to_string(*own), v4 ? 32 : 128, nic.interface, v4 ? "" : " nodad");
      if (!neighbour) continue;
      const std::string to = to_string(*neighbour);
      ip_.add("neighbour replace {} lladdr {} dev {} nud permanent", to, to_string(nic.neighbour->mac), nic.interface);
      // What is sent from a NIC's address leaves by that NIC.
      const std::size_t table = kFirstTable + port;
      const bool ruled = host_.nics.size() > 1;
      if (ruled) (v4 ? ip_ : ip6_).add("rule add from {} lookup {} priority {}", to_string(*own), table, table);
      if (nic.neighbour->is_switch) {
        ip_.add("route add default via {} dev {} onlink metric {}", to, nic.interface, port);
        if (ruled) ip_.add("route add default via {} dev {} onlink table {}", to, nic.interface, table);
      } else if (ruled) {
        ip_.add("route add {}/{} dev {} table {}", to, v4 ? 32 : 128, nic.interface, table);
      }
    }
  }

  void add_route(const HostRoute& route) {
    const bool v4 = route.to.is_v4();
    const HostNic& nic = host_.nics[route.nic];
    const auto [own, neighbour] = side(nic, v4);
    if (!own || !neighbour) return;
    if (route.direct)
      ip_.add("route add {} dev {}", to_string(route.to), nic.interface);
    else
      ip_.add("route add {} via {} dev {} onlink", to_string(route.to), to_string(*neighbour), nic.interface);
  }

  const LabHosts& lab_;
  std::size_t index_;
  const NamespaceHost& host_;
  Batch ip_;
  Batch ip6_;  // rules: the only lines whose family ip does not see from an address
  bool has_ipv6_ = kernel_has_ipv6();
};

bool is_shaped(const HostNic& nic) { return nic.rate.bps > 0 && nic.rate <= kMostShapedRate; }

// Shapes a NIC to its rate, whatever it was before.
void add_shaper(Batch& tc, const HostNic& nic) {
  // At least two frames; larger packets of TCP are cut.
  const Bytes burst = std::max(nic.rate * kBurst, Bytes{2 * (nic.mtu + 64)});
  // Its inner queue drops and marks nothing before it is full: marks come from the fabric only.
  tc.add("qdisc replace dev {} root tbf rate {}bit burst {} limit {} overhead {}", nic.interface, nic.rate.bps,
         burst.n, kQueue.n, kFcs + nic.framing.around());
}

Batch shapers(const LabHosts& lab, const NamespaceHost& host) {
  Batch tc("tc", host_namespace(lab.name, host.name));
  for (const HostNic& nic : host.nics)
    if (is_shaped(nic)) add_shaper(tc, nic);
  return tc;
}

// From the rates of `was` to those of `host`.
Batch changed_shapers(const LabHosts& lab, const NamespaceHost& was, const NamespaceHost& host) {
  Batch tc("tc", host_namespace(lab.name, host.name));
  for (std::size_t n = 0; n < host.nics.size(); ++n) {
    const HostNic& nic = host.nics[n];
    if (nic.rate == was.nics[n].rate) continue;
    if (is_shaped(nic))
      add_shaper(tc, nic);
    else
      tc.add("qdisc replace dev {} root noqueue", nic.interface);
  }
  return tc;
}

// ---- Making it -----------------------------------------------------------------------------------------------------

void make_folder(const std::string& path, Journal& journal) {
  if (::mkdir(path.c_str(), 0755) == 0) return;
  if (errno != EEXIST) throw HostsError(fmt::format("cannot create the directory {}: {}", path, std::strerror(errno)));
  journal.done(Directory{path});  // somebody else's
}

void make_file(const std::string& path, const std::string& text, Journal& journal) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  const int error = errno;
  if (!file && error == EEXIST) journal.done(File{path});  // somebody else's
  if (!file) throw HostsError(fmt::format("cannot create {}: {}", path, std::strerror(error)));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw HostsError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

void make_hosts_files(const Part& part, Journal& journal) {
  const std::string text = hosts_file(part.lab);
  make_folder(kHostsFolder, journal);
  for (const std::string& netns : part.namespaces()) {
    make_folder(hosts_folder(netns), journal);
    make_file(hosts_path(netns), text, journal);
  }
}

void make_namespaces(const Part& part, Journal& journal) {
  const std::vector<std::string> all = part.namespaces();
  Batch ip("ip", "");
  for (const std::string& netns : all) ip.add("netns add {}", netns);
  const Batch::Outcome outcome = ip.run(journal);
  if (outcome.failed == all.size()) return;
  // What came between the check and here is somebody else's, and what comes from here on, too.
  const bool taken = outcome.output.find("File exists") != outcome.output.npos;
  for (std::size_t i = outcome.failed + (taken ? 0 : 1); i < all.size(); ++i) journal.done(Namespace{all[i]});
  ip.fail(outcome);
}

void make(const Part& part, Journal& journal) {
  const LabHosts& lab = part.lab;
  make_hosts_files(part, journal);
  make_namespaces(part, journal);
  if (part.fabric) in_namespace(fabric_namespace(lab.name), set_up_fabric_namespace);
  for (const std::size_t h : part.hosts)
    in_namespace(host_namespace(lab.name, lab.hosts[h].name), set_up_host_namespace);
  links(part).run_or_throw(journal);
  for (const std::size_t h : part.hosts) {
    const NamespaceHost& host = lab.hosts[h];
    in_namespace(host_namespace(lab.name, host.name), [&] {
      for (const HostNic& nic : host.nics) leave_offloads(nic.interface);
    });
    shapers(lab, host).run_or_throw(journal);
    HostSetUp(lab, h).run(journal);
  }
}

void create(const Part& part, Journal& journal) {
  check_names(part.lab);
  check_privileges();
  for (const char* program : {"ip", "tc"}) find_program(program);
  check_free(part);

  std::vector<Thing> made = things(part);
  std::erase_if(made, [](const Thing& thing) {
    const auto* folder = std::get_if<Directory>(&thing);
    return folder != nullptr && exists(folder->path);
  });
  journal.record(made);
  try {
    make(part, journal);
  } catch (const std::exception& error) {
    const std::vector<std::string> left = journal.remove(made);
    if (left.empty()) throw;
    throw HostsError(fmt::format("{}; and then: {}", error.what(), fmt::join(left, "; ")));
  }
}

}  // namespace

std::string fabric_namespace(const std::string& lab) { return "ry-" + lab; }

std::string host_namespace(const std::string& lab, const std::string& host) { return "ry-" + lab + "-" + host; }

std::vector<FabricEnd> fabric_ends(const LabHosts& lab) {
  std::vector<FabricEnd> ends;
  for (const NamespaceHost& host : lab.hosts)
    for (std::size_t n = 0; n < host.nics.size(); ++n)
      ends.push_back({host.name, static_cast<int>(n) + 1, fabric_namespace(lab.name), fabric_interface(host, n)});
  return ends;
}

void create_namespaces(const LabHosts& lab, Journal& journal) { create(whole(lab), journal); }

void create_namespace(const LabHosts& lab, std::size_t host, Journal& journal) {
  create({.lab = lab, .hosts = {host}, .fabric = !journal.holds(Namespace{fabric_namespace(lab.name)})}, journal);
}

std::vector<std::string> remove_namespace(const LabHosts& lab, const std::string& host, Journal& journal) {
  const std::string netns = host_namespace(lab.name, host);
  const std::vector<Thing> made{Directory{hosts_folder(netns)}, File{hosts_path(netns)}, Namespace{netns}};
  return journal.remove(made);
}

void change_rates(const LabHosts& from, const LabHosts& to, const Journal& journal) {
  for (const NamespaceHost& host : to.hosts)
    if (const auto was = std::ranges::find(from.hosts, host.name, &NamespaceHost::name); was != from.hosts.end())
      changed_shapers(to, *was, host).run_or_throw(journal);
}

std::vector<std::string> remove_namespaces(const LabHosts& lab, Journal& journal) {
  return journal.remove(things(whole(lab)));
}

}  // namespace railyard::hosts
