#include <fmt/format.h>

#include "control/export/export.h"
#include "control/spec/value.h"

namespace railyard::exporting {
namespace {

// An identifier in quotes; only the quote itself has a meaning there.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string graphviz(const spec::Lab& lab) {
  std::string out = fmt::format("graph {} {{\n  node [fontname=\"sans-serif\"];\n", quoted(lab.name));
  for (const spec::NodeSpec& node : lab.nodes)
    out += fmt::format("  {} [shape={}];\n", quoted(node.name),
                       node.kind == spec::NodeSpec::Kind::kSwitch ? "box"
                       : node.kind == spec::NodeSpec::Kind::kHost ? "ellipse"
                                                                  : "cds");
  for (const spec::LinkSpec& link : lab.links)
    out += fmt::format("  {} -- {} [label={}, taillabel=\"{}\", headlabel=\"{}\"];\n", quoted(link.a.node),
                       quoted(link.b.node), quoted(spec::format(link.rate)), link.a.port, link.b.port);
  return out + "}\n";
}

}  // namespace railyard::exporting
