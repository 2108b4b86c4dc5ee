#include "control/import/from_lldp.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/base/short_quote.h"
#include "control/import/port_list.h"
#include "control/spec/spec.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

using LldpJson = nlohmann::ordered_json;

struct LinkEnd {
  std::string node;
  std::string interface;
  auto operator<=>(const LinkEnd&) const = default;
};

const LldpJson* member(const LldpJson& json, const char* key) {
  return json.is_object() && json.contains(key) ? &json[key] : nullptr;
}

std::string text_of(const LldpJson* json) {
  if (json == nullptr) return "";
  return json->is_string() ? json->get<std::string>() : json_text(*json);
}

// lldpcli prints one thing as an object and several as a list.
std::vector<const LldpJson*> each(const LldpJson& json) {
  std::vector<const LldpJson*> out;
  if (json.is_array())
    for (const LldpJson& item : json) out.push_back(&item);
  else
    out.push_back(&json);
  return out;
}

class LldpReader {
 public:
  explicit LldpReader(const std::vector<LldpOutput>& outputs) {
    for (const LldpOutput& output : outputs)
      if (!switches_.insert(output.node).second)
        fail(output, fmt::format("found a duplicate of {}, expected one file for each switch", output.node));
    for (const LldpOutput& output : outputs) read(output);
  }

  std::string text() const {
    std::map<std::string, std::vector<std::string>> interfaces;
    for (const auto& [a, b] : peer_of_) interfaces[a.node].push_back(a.interface);
    std::map<LinkEnd, std::size_t> ports;
    for (auto& [node, names] : interfaces) {
      std::ranges::stable_sort(names, {}, [](const std::string& name) { return std::pair(digits_of(name), name); });
      for (std::size_t i = 0; i < names.size(); ++i) ports[{node, names[i]}] = i + 1;
    }
    std::string out =
        "# From LLDP. It does not say the rates of links: set them in defaults.link.\nname: imported\nnodes:\n";
    for (const auto& [node, names] : interfaces) {
      if (is_switch(node))
        out += fmt::format("  {}: {{ kind: switch }}\n", node);
      else
        out += fmt::format("  {}: {{ kind: host, nics: {} }}\n", node, names.size());
    }
    out += "links:\n";
    for (const auto& [a, b] : peer_of_)
      if (a < b)
        out += fmt::format("  - [{}:{}, {}:{}]  # {} to {}\n", a.node, ports.at(a), b.node, ports.at(b),
                           printable(a.interface), printable(b.interface));
    return out + notes_;
  }

 private:
  [[noreturn]] static void fail(const LldpOutput& output, const std::string& what) {
    throw spec::SpecError({}, fmt::format("{}: {}", output.file, what));
  }

  void read(const LldpOutput& output) {
    const LldpJson json = LldpJson::parse(output.text, nullptr, false);
    const LldpJson* const lldp = json.is_discarded() ? nullptr : member(json, "lldp");
    if (lldp == nullptr) fail(output, "found no key lldp, expected the output of lldpcli show neighbors -f json");
    const LldpJson* const interfaces = member(*lldp, "interface");
    if (interfaces == nullptr) fail(output, "lldp: found no key interface, expected a neighbour or more");
    for (const LldpJson* item : each(*interfaces)) {
      if (!item->is_object())
        fail(output, fmt::format("lldp.interface: found {}, expected an object", item->type_name()));
      for (const auto& [name, neighbour] : item->items()) read(output, name, neighbour);
    }
  }

  void read(const LldpOutput& output, const std::string& interface, const LldpJson& neighbour) {
    const LldpJson* const chassis = member(neighbour, "chassis");
    const LldpJson* const port = member(neighbour, "port");
    if (chassis == nullptr || !chassis->is_object() || port == nullptr)
      fail(output, fmt::format("lldp.interface.{}: found no {}, expected chassis and port", interface,
                               port == nullptr ? "port" : "chassis"));
    // Keyed by the neighbour's name, if it has one.
    const std::string name = chassis->empty() || chassis->contains("id") ? "" : chassis->begin().key();
    const LldpJson* const id = member(*port, "id");
    const std::string other = id != nullptr ? text_of(member(*id, "value")) : "";
    if (node_name(name).empty() || other.empty()) {
      notes_ += fmt::format("# left out, since the neighbour says no {}: {} {}\n", other.empty() ? "port" : "name",
                            output.node, printable(interface));
      return;
    }
    const std::string node = node_name(name);
    if (bridges(chassis->begin().value())) switches_.insert(node);
    join(output, {output.node, interface}, {node, other});
  }

  static bool bridges(const LldpJson& chassis) {
    const LldpJson* const capabilities = member(chassis, "capability");
    if (capabilities == nullptr) return false;
    return std::ranges::any_of(each(*capabilities), [](const LldpJson* c) {
      const std::string type = text_of(member(*c, "type"));
      return (type == "Bridge" || type == "Router") && text_of(member(*c, "enabled")) == "true";
    });
  }

  void join(const LldpOutput& output, const LinkEnd& a, const LinkEnd& b) {
    for (const auto& [end, peer] : {std::pair{a, b}, std::pair{b, a}})
      if (const auto known = peer_of_.find(end); known != peer_of_.end() && known->second != peer)
        fail(output, fmt::format("lldp.interface.{}: found {} {} at {} {}, expected {} {}, as another entry says",
                                 a.interface, peer.node, peer.interface, end.node, end.interface, known->second.node,
                                 known->second.interface));
    peer_of_.emplace(a, b);
    peer_of_.emplace(b, a);
  }

  bool is_switch(const std::string& node) const { return switches_.contains(node); }

  std::set<std::string> switches_;
  std::map<LinkEnd, LinkEnd> peer_of_;
  std::string notes_;
};

}  // namespace

bool is_lldp(const std::string& text) {
  const LldpJson json = LldpJson::parse(text, nullptr, false);
  return !json.is_discarded() && json.is_object() && json.contains("lldp");
}

std::string node_of_file(const std::string& file) {
  const std::string stem = node_name(std::filesystem::path(file).stem().string());
  return stem.empty() ? "switch" : stem;
}

std::string from_lldp(const std::vector<LldpOutput>& outputs) { return LldpReader(outputs).text(); }

}  // namespace railyard::importing
