#include "control/telemetry/int_exchange.h"

#include <algorithm>
#include <span>
#include <utility>

#include "dataplane/base/state_archive.h"

namespace railyard::telemetry {

void IntExchange::take_home(std::vector<StateArchive> out, const std::function<void(const IntStack&)>& see) {
  PeerOctets octets;
  for (const StateArchive& to : out) octets.emplace_back(to.written());
  const auto given = parts_.peers->exchange(octets);
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (p == parts_.peers->self()) continue;
    StateArchive in{std::span(given[p])};
    visiting_.take_home(in, see);
  }
}

void IntExchange::bring_ended_home() {
  std::vector<StateArchive> out(parts_.peers->count());
  visiting_.give_ended(out);
  take_home(std::move(out), [](const IntStack&) {});
}

void IntExchange::bring_all_home(std::unordered_set<const IntStack*>& held) {
  std::vector<StateArchive> out(parts_.peers->count());
  visiting_.give_all(out, held);
  take_home(std::move(out), [&](const IntStack& stack) { held.insert(&stack); });
}

std::vector<const IntStack*> IntExchange::gather(std::vector<const IntStack*> mine) {
  StateArchive told;
  std::uint64_t count = mine.size();
  told(count);
  if (parts_.peers->self() != 0)
    for (const IntStack* s : mine) {
      IntStack copy = *s;
      copy.exchange(told, visiting_.nodes());
    }
  const auto given = parts_.peers->give_first(told.take());
  if (parts_.peers->self() != 0) return {};
  gathered_.clear();
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    for (in(count); count > 0; --count) gathered_.emplace_back().exchange(in, visiting_.nodes());
  }
  for (const IntStack& s : gathered_) mine.push_back(&s);
  // A device is in one process, and that has its stacks in their order.
  std::ranges::stable_sort(mine, {}, [&](const IntStack* s) { return visiting_.nodes().number_of(*s->hops().front().node); });
  return mine;
}

IntExchange::Counted IntExchange::of_others(Counted mine) {
  StateArchive told;
  told(mine);
  const auto given = parts_.peers->give_first(told.take());
  Counted sum;
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    Counted its;
    in(its);
    sum.sampled += its.sampled;
    sum.not_kept += its.not_kept;
  }
  return sum;
}

}  // namespace railyard::telemetry
