// The keys of nodes: switches with their VLANs, hosts with their NICs and what stands behind these.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kLongestSocket = 107;  // sockaddr_un holds 108 with the final zero
constexpr std::size_t kLongestDevice = 256;

Key<NodeSpec> kind(NodeSpec::Kind only, const char* word) {
  return key("kind", &NodeSpec::kind, choice<NodeSpec::Kind>({{word, only}}),
             "switch, host or trunk; optional where a preset has created the node")
      .show()
      .without_default();
}
Key<NodeSpec> profile(const char* of) {
  return key("profile", &NodeSpec::profile, name_form(), fmt::format("name of a profile in {}", of));
}
Key<NodeSpec> agent() {
  return key("agent", &NodeSpec::agent, map_of(agent_keys()),
             "an agent (railyard-agent) drives the RDMA devices of this attached host; its NICs can be ranks of "
             "collectives");
}
Key<NodeSpec> role() {
  return key("role", &NodeSpec::role, text_without_control_characters(63), "leaf, spine, ...; shown in diagrams");
}
Key<NodeSpec> reduces() {
  return key("reduces", &NodeSpec::reduces, boolean(),
             "the host is the reducer of the switch that it is linked to, for collectives with algorithm: in-network. Selectors "
             "do not mean it. `reduction` of a switch profile makes such hosts");
}
Key<NodeSpec> rack() {
  return key("rack", &NodeSpec::rack, text_without_control_characters(63),
             "name of its rack; presets set it. `railyard blast --kinds rack` switches racks off");
}

// all, none, or a list of VLANs.
Key<VlanSpec> tagged() {
  Tree list = Tree::map(
      {{"type", Tree::string("array")}, {"items", integer(1, 4094).schema}, {"uniqueItems", Tree::plain("true")}});
  return {"tagged",
          "VLANs carried with a tag: all others, none, or a list",
          [form = integer(1, 4094)](const Tree& tree, VlanSpec& into) {
            into.tagged.clear();
            into.all_tagged = tree.kind == Tree::Kind::kScalar && tree.text == "all";
            if (into.all_tagged || (tree.kind == Tree::Kind::kScalar && tree.text == "none")) return;
            for (const Tree& item : tree.as_list("all, none or a list of VLANs such as [5, 6]")) {
              const int vlan = form.read(item);
              if (std::ranges::find(into.tagged, vlan) != into.tagged.end())
                item.fail(fmt::format("{} is given twice", vlan));
              into.tagged.push_back(vlan);
            }
          },
          [](const VlanSpec& vlan) {
            if (vlan.all_tagged || vlan.tagged.empty()) return Tree::plain(vlan.all_tagged ? "all" : "none");
            Tree some = Tree::list({});
            for (const int v : vlan.tagged) some.items.push_back(Tree::plain(std::to_string(v)));
            return some;
          },
          [](const VlanSpec& a, const VlanSpec& b) { return a.all_tagged == b.all_tagged && a.tagged == b.tagged; },
          any_of_schemas({choice_schema({"all", "none"}), std::move(list)})};
}

void check_vlan(const Tree& map, const VlanSpec& vlan) {
  if (std::ranges::find(vlan.tagged, vlan.native) != vlan.tagged.end())
    map.at_or_self("tagged").fail(fmt::format("{} is the native VLAN here, which has no tag", vlan.native));
}

Key<NodeSpec> vlans() {
  Tree schema = Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                           {"patternProperties", Tree::map({{"^[1-9][0-9]{0,3}$", reference(vlan_keys().name())}})},
                           {"additionalProperties", Tree::plain("false")}});
  return {"vlans",
          "VLANs by port number; a port without an entry has native VLAN 1 and carries all others tagged",
          [](const Tree& tree, NodeSpec& into) {
            into.vlans.clear();
            for (const Tree::Entry& e : tree.as_map("a map of VLANs by port number")) {
              const Parsed<std::int64_t> port = parse_integer(e.key, 1, 8191);
              if (!port) fail_at(e.place, tree.path, "port: " + port.error());
              vlan_keys().read(e.value, into.vlans[static_cast<int>(*port)]);
            }
          },
          [](const NodeSpec& node) {
            Tree map = Tree::map();
            for (const auto& [port, vlan] : node.vlans) map.add(std::to_string(port), vlan_keys().write(vlan));
            return map;
          },
          [](const NodeSpec& a, const NodeSpec& b) { return a.vlans == b.vlans; },
          std::move(schema)};
}

// A map by number, each a map of `table`.
template <class T>
Tree by_number_schema(const char* numbers, const Table<T>& table) {
  return Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                    {"patternProperties", Tree::map({{numbers, reference(table.name())}})},
                    {"additionalProperties", Tree::plain("false")}});
}

Key<PortSpec> port_classes() {
  return {"classes",
          "class settings that differ at this port from the QoS profile, by class number (0..7)",
          [](const Tree& tree, PortSpec& into) {
            into.classes.clear();
            for (const Tree::Entry& e : tree.as_map("a map of classes by number, 0..7")) {
              const Parsed<std::int64_t> number = parse_integer(e.key, 0, 7);
              if (!number) fail_at(e.place, tree.path, "class: " + number.error());
              class_override_keys().read(e.value, into.classes[static_cast<int>(*number)]);
            }
          },
          [](const PortSpec& port) {
            if (port.classes.empty()) return Tree{};
            Tree map = Tree::map();
            for (const auto& [k, over] : port.classes) map.add(std::to_string(k), class_override_keys().write(over));
            return map;
          },
          [](const PortSpec& a, const PortSpec& b) { return a.classes == b.classes; },
          by_number_schema("^[0-7]$", class_override_keys())};
}

Key<NodeSpec> ports() {
  return {"ports",
          "settings that differ at one port from the profiles, by port number",
          [](const Tree& tree, NodeSpec& into) {
            into.ports.clear();
            for (const Tree::Entry& e : tree.as_map("a map by port number")) {
              const Parsed<std::int64_t> port = parse_integer(e.key, 1, 8191);
              if (!port) fail_at(e.place, tree.path, "port: " + port.error());
              port_keys().read(e.value, into.ports[static_cast<int>(*port)]);
            }
          },
          [](const NodeSpec& node) {
            if (node.ports.empty()) return Tree{};
            Tree map = Tree::map();
            for (const auto& [port, said] : node.ports) map.add(std::to_string(port), port_keys().write(said));
            return map;
          },
          [](const NodeSpec& a, const NodeSpec& b) { return a.ports == b.ports; },
          by_number_schema("^[1-9][0-9]{0,3}$", port_keys())};
}

constexpr int kMostCoordinate = 1'000'000;
constexpr std::size_t kMostDimensions = 8;

Form<std::vector<int>> coordinates() {
  return checked<std::vector<int>>(list_of(integer(0, kMostCoordinate)),
                                   [](const std::vector<int>& at) -> std::optional<std::string> {
                                     if (!at.empty() && at.size() <= kMostDimensions) return {};
                                     return fmt::format("found {} numbers; expected 1..{}", at.size(), kMostDimensions);
                                   });
}

Key<NodeSpec> switch_control() {
  return key("control", &NodeSpec::control, maybe(control_form()),
             "who decides what the switch of a live lab forwards by, see control of a switch profile (default: what the "
             "profile says)");
}

// A number of NICs, or a list that says what each is like.
Key<NodeSpec> nics() {
  Tree list = Tree::map({{"type", Tree::string("array")},
                         {"items", reference(nic_keys().name())},
                         {"minItems", Tree::plain("1")},
                         {"maxItems", Tree::plain(std::to_string(kMostNics))}});
  return {"nics",
          fmt::format("number of NICs, 1..{}, or a list with the keys of each NIC", kMostNics),
          [](const Tree& tree, NodeSpec& into) {
            if (tree.kind == Tree::Kind::kScalar) {
              NicSpec nic;
              nic.place = tree.place;
              into.nics.assign(static_cast<std::size_t>(integer(1, kMostNics).read(tree)), nic);
              return;
            }
            const std::vector<Tree>& items = tree.as_list("a number or a list of NICs");
            if (items.empty() || items.size() > kMostNics)
              tree.fail(fmt::format("found {} NICs; expected 1..{}", items.size(), kMostNics));
            into.nics.clear();
            for (const Tree& item : items) {
              NicSpec nic;
              nic.place = item.place;
              nic_keys().read(item, nic);
              into.nics.push_back(std::move(nic));
            }
          },
          [](const NodeSpec& node) {
            Tree made = Tree::list({});
            if (node.nics.size() != 1)
              for (const NicSpec& nic : node.nics) made.items.push_back(nic_keys().write(nic));
            return node.nics.size() == 1 ? Tree{} : made;
          },
          [](const NodeSpec& a, const NodeSpec& b) { return a.nics == b.nics; },
          any_of_schemas({integer(1, kMostNics).schema, std::move(list)})};
}

// A NIC's key that stands in its host directly, for a host with one NIC.
Key<NodeSpec> of_the_only_nic(const Key<NicSpec>& nic_key) {
  return {
      nic_key.name,
      nic_key.description + " (of a host with one NIC)",
      [nic_key](const Tree& tree, NodeSpec& into) {
        if (nic_key.name == "attach" && tree.kind == Tree::Kind::kScalar) {  // the whole host is of that kind
          for (NicSpec& nic : into.nics) nic_key.read(tree, nic);
          return;
        }
        if (into.nics.size() != 1)
          tree.fail(fmt::format("{} has {} NICs; expected this key in the list 'nics'", into.name, into.nics.size()));
        nic_key.read(tree, into.nics[0]);
      },
      [nic_key](const NodeSpec& node) {
        return node.nics.size() == 1 && !nic_key.same(node.nics[0], NicSpec{}) ? nic_key.write(node.nics[0]) : Tree{};
      },
      [](const NodeSpec& a, const NodeSpec& b) { return a.nics == b.nics; },
      nic_key.schema};
}

void check_host(const Tree& map, const NodeSpec&) {
  const Tree* nics = map.find("nics");
  if (nics == nullptr || nics->kind != Tree::Kind::kList) return;
  for (const Key<NicSpec>& key : nic_keys().keys())
    if (const Tree* direct = map.find(key.name))
      direct->fail("found with a list of nics; expected this key in the list");
}

void check_pcap(const Tree& map, const AttachPcap& pcap) {
  if (pcap.in.empty() && pcap.out.empty()) map.fail("neither in nor out; expected a file to replay or to write");
}

constexpr const char* kAttachExpected =
    "namespace, vm, application, or a map with one of pcap, vhost-user, vhost-user-client, memif, "
    "tap, netdev, dpdk";

// A host that `railyard up` makes.
Form<Attachment> made_host() { 
  return choice<Attachment>(
      {{"namespace", AttachNamespace{}}, {"vm", AttachVm{}}, {"application", AttachApplication{}}});
}

constexpr const char* kPortExpected = "a map with one of vhost-user, vhost-user-client, memif, tap, netdev, dpdk";

// A map with one of `kinds`.
Attachment read_outside(const Tree& tree, const std::vector<std::string>& kinds, const char* expected) {
  tree.as_map(expected);
  refuse_unknown_keys(tree, kinds);
  if (tree.entries.size() != 1) tree.fail(fmt::format("found {} keys; expected {}", tree.entries.size(), expected));
  const Tree& value = tree.entries[0].value;
  if (tree.entries[0].key == "pcap") return map_of(pcap_keys()).read(value);
  const std::string& kind = tree.entries[0].key;
  if (kind == "vhost-user") return AttachVhostUser{file_path(kLongestSocket).read(value)};
  if (kind == "vhost-user-client") return AttachVhostUser{file_path(kLongestSocket).read(value), true};
  if (kind == "memif") return map_of(memif_keys()).read(value);
  if (kind == "tap") return AttachTap{interface_name().read(value)};
  if (kind == "netdev") return AttachNetdev{interface_name().read(value)};
  return AttachDpdk{text_without_control_characters(kLongestDevice).read(value)};
}

Attachment read_attachment(const Tree& tree) {
  static const std::vector<std::string> kKinds{"pcap",   "vhost-user", "vhost-user-client", "memif", "tap",
                                               "netdev", "dpdk"};
  if (tree.kind == Tree::Kind::kScalar) {
    if (tree.text == "namespace") return AttachNamespace{};
    if (tree.text == "vm") return AttachVm{};
    if (tree.text == "application") return AttachApplication{};
  }
  return read_outside(tree, kKinds, kAttachExpected);
}

Attachment read_port_attachment(const Tree& tree) {
  static const std::vector<std::string> kKinds{"vhost-user", "vhost-user-client", "memif", "tap", "netdev", "dpdk"};
  return read_outside(tree, kKinds, kPortExpected);
}

Tree write_attachment(const Attachment& attachment) {
  if (is_made_host(attachment)) return made_host().write(attachment);
  Tree map = Tree::map();
  if (const auto* pcap = std::get_if<AttachPcap>(&attachment)) map.add("pcap", pcap_keys().write(*pcap));
  if (const auto* vhost = std::get_if<AttachVhostUser>(&attachment))
    map.add(vhost->is_client ? "vhost-user-client" : "vhost-user", Tree::string(vhost->socket));
  if (const auto* memif = std::get_if<AttachMemif>(&attachment)) map.add("memif", memif_keys().write(*memif));
  if (const auto* dpdk = std::get_if<AttachDpdk>(&attachment)) map.add("dpdk", Tree::string(dpdk->device));
  if (const auto* tap = std::get_if<AttachTap>(&attachment)) map.add("tap", Tree::string(tap->name));
  if (const auto* netdev = std::get_if<AttachNetdev>(&attachment)) map.add("netdev", Tree::string(netdev->name));
  return map.entries.empty() ? Tree{} : map;
}

Tree outside_schema(bool with_captures) {
  const Tree text = Tree::map({{"type", Tree::string("string")}});
  Tree properties = Tree::map();
  properties.spread = true;
  if (with_captures)
    properties.add("pcap",
                 with_description("replay frames from a capture file, or write frames to one",
                                  reference(pcap_keys().name())));
  properties.add("vhost-user", with_description("path of a vhost-user socket; Railyard is the server", text));
  properties.add("vhost-user-client",
                 with_description("path of a vhost-user socket; the peer is the server", text));
  properties.add("memif", with_description("memory shared with VPP, DPDK, ...", reference(memif_keys().name())));
  properties.add("dpdk", with_description("a DPDK device: net_memif0,... or a PCI address", text));
  properties.add("tap", with_description("name of a TAP interface; Railyard creates it", text));
  properties.add("netdev", with_description("name of an existing network interface", text));
  return Tree::map({{"type", Tree::string("object")},
                    {"properties", std::move(properties)},
                    {"minProperties", Tree::plain("1")},
                    {"maxProperties", Tree::plain("1")},
                    {"additionalProperties", Tree::plain("false")}});
}

Tree attachment_schema() { return any_of_schemas({made_host().schema, outside_schema(true)}); }

}  // namespace

Form<std::string> file_path(std::size_t longest) {
  Form<std::string> form = text_without_control_characters(longest);
  form.read = [text = form](const Tree& tree) -> std::string {
    const std::filesystem::path said = text.read(tree);
    const std::filesystem::path folder = std::filesystem::path(tree.place.file).parent_path();
    if (said.is_absolute() || tree.place.line == 0 || folder.empty()) return said;
    return std::filesystem::absolute(folder / said).lexically_normal();
  };
  return form;
}

Form<Attachment> made_host_form() { return made_host(); }
Form<Attachment> attachment_form() { return {read_attachment, write_attachment, attachment_schema()}; }
Form<Attachment> port_attachment_form() { return {read_port_attachment, write_attachment, outside_schema(false)}; }

const Table<AttachPcap>& pcap_keys() {
  static const Table<AttachPcap> table{
      "pcap",
      "Capture files instead of a host",
      {key("in", &AttachPcap::in, file_path(kLongestPath), "send the frames of this file"),
       key("out", &AttachPcap::out, file_path(kLongestPath), "write received frames to this file"),
       key("times", &AttachPcap::as_fast_as_possible, choice<bool>({{"file", false}, {"asap", true}}),
           "send frames at the times in the file, or at link rate")},
      check_pcap};
  return table;
}

const Table<AttachMemif>& memif_keys() {
  static const Table<AttachMemif> table{
      "memif",
      "Memory shared with another process by the memif protocol",
      {key("socket", &AttachMemif::socket, file_path(kLongestSocket), "path of the socket").show(),
       key("role", &AttachMemif::is_client, choice<bool>({{"server", false}, {"client", true}}),
           "who creates the socket and the memory: Railyard (server) or the peer (client)"),
       key("id", &AttachMemif::id, integer(0, 65535), "interface number on that socket; the same at both ends")},
      [](const Tree& map, const AttachMemif& memif) {
        if (memif.socket.empty()) map.fail("no socket; expected its path");
      }};
  return table;
}

const Table<NicSpec>& nic_keys() {
  static const Table<NicSpec> table{
      "nic",
      "A NIC of a host: port n of the host is the n-th NIC",
      {key("mac", &NicSpec::mac, mac(), "MAC address; default: 02:.., from the number of the node and the port"),
       key("address", &NicSpec::address_v4, ipv4(),
           "IPv4 address; default: 10.i.i.j for NIC j at the i-th switch that has hosts"),
       key("address6", &NicSpec::address_v6, ipv6(), "IPv6 address; default: fd00:0:0:i::j"),
       key("attach", &NicSpec::attach, attachment_form(),
           "endpoint behind the NIC, instead of built-in traffic")}};
  return table;
}

const Table<AgentSpec>& agent_keys() {
  static constexpr std::size_t kShortestToken = 8;
  static constexpr std::size_t kLongestToken = 256;
  static const Table<AgentSpec> table{
      "agent",
      "The agent of a host, on libibverbs",
      {key("token", &AgentSpec::token,
           checked<std::string>(text_without_control_characters(kLongestToken),
                                [](const std::string& token) -> std::optional<std::string> {
                                  if (token.size() >= kShortestToken) return {};
                                  return fmt::format("{} bytes; expected at least {}", token.size(), kShortestToken);
                                }),
           "token that the agent must present; default: drawn when the lab starts, for `railyard agent`")}};
  return table;
}

const Table<VlanSpec>& vlan_keys() {
  static const Table<VlanSpec> table{
      "vlan",
      "VLANs of a switch port",
      {key("native", &VlanSpec::native, integer(1, 4094), "VLAN of untagged frames").show(), tagged()},
      check_vlan};
  return table;
}

const Table<NodeSpec>& switch_node_keys() {
  static const Table<NodeSpec> table{
      "switch",
      "A switch",
      {kind(NodeSpec::Kind::kSwitch, "switch"), profile("switches"), role(), rack(),
       key("at", &NodeSpec::at, coordinates(),
           "coordinates, one per dimension, or the group first: [x, y, z]. See order in routing"),
       key("loopback", &NodeSpec::loopback_v4, ipv4(),
           "IPv4 loopback address; default: 10.255.x.y, from the switch number"),
       key("loopback6", &NodeSpec::loopback_v6, ipv6(),
           "IPv6 loopback address; default: fd00:ffff::n"), switch_control(), vlans(), ports()}};
  return table;
}

bool is_pattern(const std::string& name) noexcept { return name.find_first_of("*?,") != name.npos; }

const Table<NodeSpec>& switch_pattern_keys() {
  static const Table<NodeSpec> table{
      "switch-pattern", "Settings of all switches whose names fit", {profile("switches"), switch_control()}};
  return table;
}

const Table<PortSpec>& port_keys() {
  static const Table<PortSpec> table{
      "node-port",
      "Settings that differ at one port from the profiles",
      {key("pfc", &PortSpec::pfc, pfc_form(),
           "PFC of all classes at this port: off, on (obeys pauses of every class, sends them for lossless ones), rx "
           "or tx"),
       port_classes()}};
  return table;
}

const Table<NodeSpec>& node_keys(NodeSpec::Kind kind) {
  if (kind == NodeSpec::Kind::kTrunk) return trunk_node_keys();
  return kind == NodeSpec::Kind::kSwitch ? switch_node_keys() : host_node_keys();
}

const Table<NodeSpec>& host_node_keys() {
  static const Table<NodeSpec> table = [] {
    std::vector<Key<NodeSpec>> keys{kind(NodeSpec::Kind::kHost, "host"), profile("hosts"), role(), rack(), nics(), ports(), agent(), reduces()};
    for (const Key<NicSpec>& nic_key : nic_keys().keys()) keys.push_back(of_the_only_nic(nic_key));
    return Table<NodeSpec>{"host", "A host", std::move(keys), check_host};
  }();
  return table;
}

}  // namespace railyard::spec
