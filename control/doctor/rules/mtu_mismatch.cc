// A link whose MTU is smaller than that of the rest of the path.
#include <algorithm>

#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_mtu_mismatch(const Case& c) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports())
    if (const auto n = p.dropped("giant"); n > 0)
      out.push_back(
          {p.link(), 0.97, {fmt::format("{} dropped {} frames as longer than its MTU (giant)", p.name(), n)}});
  // A switch counts what it may not send on where it came in: with giants on a link the link is known.
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("too_big");
    if (n == 0) continue;
    const std::string line = fmt::format("{} dropped {} packets as too long for the next link (too_big)", p.name(), n);
    const auto near = std::ranges::find_if(out, [&](const Diagnosis& d) {
      return d.element.find(p.node + ":") != std::string::npos || d.element == p.node;
    });
    if (near != out.end())
      near->evidence.push_back(line);
    else
      out.push_back({p.node, 0.9, {line}});
  }
  return out;
}

}  // namespace

const Rule rules::kMtuMismatch{"mtu-mismatch", "A link takes shorter packets than the path before it.",
                               "Set the same MTU at both ends of every link: path MTU and headers, 9216 is usual.",
                               "The drops stop with a smaller path MTU at the sender.", find_mtu_mismatch, {Input::kPorts}};

}  // namespace railyard::doctor
