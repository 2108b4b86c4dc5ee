#include "control/import/fabric_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "control/base/short_quote.h"
#include "control/import/most_common.h"
#include "control/import/qos_text.h"

namespace railyard::importing {
namespace {

constexpr std::size_t kMostSenders = 32;
constexpr int kUsualDscp = 26;  // of RoCE
constexpr int kUsualPathMtu = 4096;
constexpr std::int64_t kRoceHeaders = 60;  // octets of the IP packet that are no payload

// Small letters, digits and '-', as the name of a lab.
std::string lab_name(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class FabricText {
 public:
  FabricText(const SwitchConfig& from, const QosText& qos) : from_(from), qos_(qos) {
    for (const PortConfig& port : from.ports)
      if (port.linked) linked_.push_back(&port);
  }

  std::string text() const {
    return fmt::format("name: {}\n", lab_name(from_.name)) + defaults() + switches() + qos_.profile + nodes() +
           links() + traffic();
  }

  // What the incast is, in words; empty if there is none.
  std::string incast_words() const {
    if (linked_.size() < 2) return "";
    const std::optional<std::size_t> c = lossless_class();
    return fmt::format("{}:1 incast in {}", senders(),
                       c ? fmt::format("lossless class {}", *c) : "a lossy class, since no class has PFC");
  }

 private:
  using LinkKeys = std::tuple<std::int64_t, std::string, std::int64_t>;  // speed, cable, MTU

  LinkKeys usual_link() const {
    std::vector<LinkKeys> all;
    for (const PortConfig* port : linked_) all.emplace_back(port->speed, port->cable, port->mtu);
    return most_common(all);
  }

  static std::string cable_text(const std::string& cable) { return cable.empty() ? "3m" : cable; }

  std::string defaults() const {
    const auto [speed, cable, mtu] = usual_link();
    return fmt::format("defaults: {{ link: {{ rate: {}, cable: {}, mtu: {} }} }}\n", rate_text(speed),
                       cable_text(cable), mtu);
  }

  std::string switches() const {
    std::string out;
    const PacketMemory& memory = from_.buffers.memory;
    if (memory.buffer)
      out += fmt::format("    buffer: {}B  # {}\n", *memory.buffer, printable(memory.arithmetic));
    else if (!memory.arithmetic.empty())
      out += fmt::format("    # buffer: {}\n", memory.arithmetic);
    if (memory.headroom_pool > 0) out += fmt::format("    headroom-pool: {}B\n", memory.headroom_pool);
    for (const std::string& source : from_.sources_of_watchdog) out += fmt::format("    # {}\n", printable(source));
    if (const auto& w = from_.watchdog)
      out += fmt::format("    pfc-watchdog: {{ detect: {}ms, restore: {}ms, poll: {}ms, action: {} }}\n", w->detect,
                         w->restore, from_.watchdog_poll, w->action);
    if (out.empty()) return "";
    return "switches:\n  default:\n" + out;
  }

  std::string nodes() const {
    std::string out = fmt::format("nodes:\n  {}:\n    kind: switch\n", from_.name);
    if (!qos_.ports.empty()) {
      out += "    ports:\n";
      for (const auto& [number, classes] : qos_.ports)
        out += fmt::format("      {}: {{ classes: {{ {} }} }}\n", number, fmt::join(classes, ", "));
    }
    for (const PortConfig* port : linked_)
      out += fmt::format("  {}: {{ kind: host{} }}\n", port->peer, host_ports(*port));
    return out;
  }

  // A host whose switch port has no PFC in a class has none either.
  std::string host_ports(const PortConfig& port) const {
    std::vector<std::string> classes;
    for (std::size_t c = 0; c < kClasses; ++c)
      if (from_.is_lossless(c) && !from_.maps.has_pfc[static_cast<std::size_t>(port.number - 1)][c])
        classes.push_back(fmt::format("{}: {{ pfc: off }}", c));
    if (classes.empty()) return "";
    return fmt::format(", ports: {{ 1: {{ classes: {{ {} }} }} }}", fmt::join(classes, ", "));
  }

  std::string links() const {
    const auto [speed, cable, mtu] = usual_link();
    std::string out = "links:\n";
    for (const PortConfig* port : linked_) {
      std::vector<std::string> own;
      if (port->speed != speed) own.push_back("rate: " + rate_text(port->speed));
      if (cable_text(port->cable) != cable_text(cable)) own.push_back("cable: " + cable_text(port->cable));
      if (port->mtu != mtu) own.push_back(fmt::format("mtu: {}", port->mtu));
      out += fmt::format("  - [{}:1, {}:{}{}]  # {}\n", port->peer, from_.name, port->number,
                         own.empty() ? "" : fmt::format(", {{ {} }}", fmt::join(own, ", ")), printable(port->name));
    }
    return out;
  }

  std::size_t senders() const { return std::min(linked_.size() - 1, kMostSenders); }

  std::optional<std::size_t> lossless_class() const {
    for (std::size_t c = 0; c < kClasses; ++c)
      if (from_.is_lossless(c)) return c;
    return std::nullopt;
  }

  std::string code_point(std::size_t c) const {
    if (from_.maps.trust_pcp) return fmt::format("class: {}", c);
    const auto& map = from_.maps.class_of_dscp;
    if (map[kUsualDscp] == static_cast<int>(c)) return fmt::format("dscp: {}", kUsualDscp);
    const auto first = std::ranges::find(map, static_cast<int>(c));
    return fmt::format("dscp: {}", first == map.end() ? 0 : first - map.begin());
  }

  // Payload that fits into the MTU of all links of the incast; empty if the default does.
  std::string path_mtu() const {
    std::int64_t least = linked_[0]->mtu;
    for (std::size_t i = 1; i <= senders(); ++i) least = std::min(least, linked_[i]->mtu);
    int fits = kUsualPathMtu;
    while (fits > 256 && fits + kRoceHeaders > least) fits /= 2;
    return fits == kUsualPathMtu ? "" : fmt::format("    path-mtu: {}\n", fits);
  }

  std::string traffic() const {
    if (linked_.size() < 2) return "";
    std::vector<std::string> from;
    for (std::size_t i = 1; i <= senders(); ++i) from.push_back(linked_[i]->peer);
    const std::size_t c = lossless_class().value_or(static_cast<std::size_t>(from_.maps.class_of_dscp[0]));
    return fmt::format(
        "traffic:\n  - name: incast\n    pattern: incast\n    from: [{}]\n    to: {}\n    transport: roce\n    {}  # "
        "class {}\n"
        "    message: 1MB\n    bytes: 2MB\n{}",
        wrapped(from, 11, 11), linked_[0]->peer, code_point(c), c, path_mtu());
  }

  const SwitchConfig& from_;
  const QosText& qos_;
  std::vector<const PortConfig*> linked_;
};

std::string list_of(const std::vector<std::string>& left_out, const char* form) {
  if (left_out.empty()) return "# Left out: nothing.\n";
  std::string out = fmt::format("# Left out, as {}:\n", form);
  for (const std::string& line : left_out) out += fmt::format("#   {}\n", line);
  return out;
}

}  // namespace

std::string fabric_text(const SwitchConfig& from, const FabricWords& words, std::vector<std::string> left_out,
                        bool qos_only) {
  const QosText qos = qos_text(from);
  left_out.insert(left_out.end(), qos.notes.begin(), qos.notes.end());
  left_out.insert(left_out.end(), words.more_left_out.begin(), words.more_left_out.end());
  const std::string head = fmt::format(
      "# {} {}{}, from {}. {} lines at the end list what is left out.\n", words.what, printable(from.hostname),
      from.model.empty() ? "" : fmt::format(" ({})", printable(from.model)), printable(words.file), left_out.size());
  const std::string list = list_of(left_out, words.form_of_list);
  if (qos_only) return head + qos.profile + list;
  const FabricText fabric(from, qos);
  const std::string incast = fabric.incast_words();
  return head + (incast.empty() ? "" : fmt::format("# `railyard run` of this file: {}.\n", incast)) + fabric.text() + list;
}

}  // namespace railyard::importing
