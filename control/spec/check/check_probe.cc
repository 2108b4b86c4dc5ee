#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/probe_pairs.h"
#include "control/spec/value.h"

namespace railyard::spec {

void check_probe(const Draft& draft) {
  const Lab& lab = draft.lab;
  if (!lab.probe) return;
  const Tree& said = *draft.sections.probe;
  const std::vector<ProbedPair> pairs = probed_pairs(lab);
  if (pairs.empty()) said.fail("there is no pair to probe; expected two hosts without `attach` at switches");
  constexpr std::size_t kMostPairs = 20'000;
  if (pairs.size() > kMostPairs)
    said.fail(fmt::format("{} pairs are too many to probe; expected at most {}", pairs.size(), kMostPairs));
  const Duration takes = probe_slot(lab) * static_cast<std::int64_t>(pairs.size());
  if (lab.probe->every < takes * 2)
    said.at_or_self("every").fail(fmt::format("a round of {} pairs takes {}; expected at least twice that, {}",
                                              pairs.size(), format(takes), format(takes * 2)));
  constexpr int kHeaders = 100;  // IPv4, UDP, BTH, ICRC: no MTU is between them and this
  for (const ProbedPair& pair : pairs)
    for (const LinkSpec& link : lab.links)
      if ((link.a == pair.from || link.b == pair.from) && static_cast<int>(lab.probe->payload) + kHeaders > link.mtu)
        said.at_or_self("payload").fail(fmt::format("{} bytes and headers exceed the MTU of the link at {}, {}",
                                                    lab.probe->payload, format(pair.from), link.mtu));
  if (lab.run.clock == Clock::kVirtual && !lab.run.duration)
    said.fail("probes never end; expected `run: { duration: ... }`, or a live lab (run.clock: wall)");
}

}  // namespace railyard::spec
