#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"
#include "control/spec/reference.h"

namespace railyard::spec {
namespace {

struct Heading {
  std::vector<FaultScope> scopes;
  const char* text;
};

}  // namespace

std::string fault_reference() {
  using enum FaultScope;
  static const std::array<Heading, 4> kHeadings{
      {{{kLink}, "Of links. `in` or `out` after the place: one direction only (not down, flap):"},
       {{kPort}, "Of ports:"},
       {{kSwitch, kSwitchPort, kQueue}, "Of switches, their ports or queues:"},
       {{kHost, kNic}, "Of hosts, or their NICs:"}}};
  std::string text;
  for (const Heading& heading : kHeadings) {
    text += fmt::format("  # {}\n", heading.text);
    for (const FaultKind& kind : fault_kinds())
      if (std::ranges::count(heading.scopes, kind.scope) != 0)
        for (const ReferenceLine& line : kind.reference)
          text += reference_line(fmt::format("{}: {}", kind.key, line.value), line.text);
  }
  return text;
}

}  // namespace railyard::spec
