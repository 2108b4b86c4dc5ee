#include "control/export/from_containerlab.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/spec/select.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "control/spec/yaml/tree.h"

namespace railyard::exporting {
namespace {

using spec::Tree;


// The numbers in a name, so that eth2 comes before eth10 and e1-1 before e1-2.
std::vector<unsigned long> numbers_in(const std::string& name) {
  std::vector<unsigned long> out;
  for (std::size_t i = 0; i < name.size();) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      ++i;
      continue;
    }
    unsigned long number = 0;
    const auto end = std::from_chars(name.data() + i, name.data() + name.size(), number).ptr;
    out.push_back(number);
    i = static_cast<std::size_t>(end - name.data());
  }
  return out;
}

struct End {
  std::string node;
  std::string interface;
};
struct Link {
  End a;
  End b;
  const Tree* mtu;
};

class Reader {
 public:
  Reader(const Tree& document, const std::vector<std::string>& switches)
      : document_(document), topology_(document.at_or_self("topology")), switches_(switches) {
    if (document.find("topology") == nullptr) document.fail("key 'topology' is missing: a topology file of containerlab");
    if (topology_.find("nodes") == nullptr) topology_.fail("key 'nodes' is missing");
    for (const Tree::Entry& node : topology_.find("nodes")->as_map()) interfaces_[node.key];
    if (const Tree* links = topology_.find("links"); links != nullptr)
      for (const Tree& link : links->as_list()) read(link);
  }

  std::string text() {
    std::map<std::string, std::map<std::string, std::size_t>> ports;
    for (const auto& [node, names] : interfaces_) {
      std::vector<std::string> sorted(names.begin(), names.end());
      std::ranges::stable_sort(sorted, {}, numbers_in);
      for (std::size_t i = 0; i < sorted.size(); ++i) ports[node][sorted[i]] = i + 1;
    }
    Tree nodes = Tree::map();
    nodes.spread = true;
    for (const Tree::Entry& node : topology_.find("nodes")->entries) {
      Tree said = Tree::map({{"kind", Tree::plain(is_host(node) ? "host" : "switch")}});
      if (is_host(node)) said.add("nics", Tree::plain(std::to_string(interfaces_[node.key].size())));
      nodes.add(node.key, std::move(said));
    }
    Tree links = Tree::list({});
    links.spread = true;
    for (const Link& link : links_) {
      Tree out = Tree::list({});
      for (const End& end : {link.a, link.b})
        out.items.push_back(Tree::plain(fmt::format("{}:{}", end.node, ports[end.node][end.interface])));
      if (link.mtu != nullptr) out.items.push_back(Tree::map({{"mtu", Tree::plain(link.mtu->text)}}));
      links.items.push_back(std::move(out));
    }
    Tree lab = Tree::map();
    const Tree* name = document_.find("name");
    lab.add("name", Tree::string(name != nullptr ? name->as_text("a name") : "imported"));
    lab.add("nodes", std::move(nodes));
    lab.add("links", std::move(links));
    return comments_ + spec::print_yaml(lab);
  }

 private:
  void read(const Tree& link) {
    const Tree* const ends = link.find("endpoints");
    if (ends == nullptr) link.fail("key 'endpoints' is missing: two of NODE:INTERFACE");
    if (ends->as_list().size() != 2) ends->fail(fmt::format("found {} ends; expected two", ends->items.size()));
    const std::optional<End> a = end_of(ends->items[0]);
    const std::optional<End> b = end_of(ends->items[1]);
    if (!a || !b) {
      comments_ += fmt::format("# left out, since one end is outside: {} to {}\n", spec::print_yaml_line(ends->items[0]),
                               spec::print_yaml_line(ends->items[1]));
      return;
    }
    links_.push_back({*a, *b, link.find("mtu")});
    for (const End& end : {*a, *b}) interfaces_[end.node].insert(end.interface);
  }

  // "leaf1:eth1", or a map as of the extended form; nothing: outside the lab.
  std::optional<End> end_of(const Tree& said) const {
    End end;
    if (said.kind == Tree::Kind::kMap) {
      end = {said.at_or_self("node").as_text("a node"), said.at_or_self("interface").as_text("an interface")};
    } else {
      const std::string& text = said.as_text("NODE:INTERFACE");
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
        said.fail(fmt::format("'{}' is no end of a link; expected NODE:INTERFACE", text));
      end = {text.substr(0, colon), text.substr(colon + 1)};
    }
    if (end.node == "host" || end.node == "mgmt-net" || end.node == "macvlan") return std::nullopt;
    if (!interfaces_.contains(end.node)) said.fail(fmt::format("there is no node '{}'", end.node));
    return end;
  }

  bool is_host(const Tree::Entry& node) const {
    const auto as_said = [&](const std::string& pattern) { return spec::matches(pattern, node.key); };
    return kind_of(node.value) == "linux" && interfaces_.at(node.key).size() <= static_cast<std::size_t>(spec::kMostNics) &&
           !interfaces_.at(node.key).empty() && std::ranges::none_of(switches_, as_said);
  }

  std::string kind_of(const Tree& node) const {
    const auto kind_in = [](const Tree* map) { return map != nullptr ? map->find("kind") : nullptr; };
    if (const Tree* kind = kind_in(&node)) return kind->text;
    if (const Tree* group = node.find("group"))
      if (const Tree* groups = topology_.find("groups"))
        if (const Tree* kind = kind_in(groups->find(group->text))) return kind->text;
    const Tree* const kind = kind_in(topology_.find("defaults"));
    return kind != nullptr ? kind->text : "";
  }

  const Tree& document_;
  const Tree& topology_;
  const std::vector<std::string>& switches_;
  std::map<std::string, std::set<std::string>> interfaces_;  // by node
  std::vector<Link> links_;
  std::string comments_;
};

}  // namespace

std::string from_containerlab(const std::string& text, const std::string& file,
                              const std::vector<std::string>& switches) {
  Tree document = spec::parse_yaml(text, file);
  spec::finish(document, "");
  return Reader(document, switches).text();
}

}  // namespace railyard::exporting
