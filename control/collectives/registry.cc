#include "control/collectives/registry.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace railyard::collectives {

bool Algorithm::does(Operation operation) const noexcept {
  switch (operation) {
    case Operation::kAllReduce:
      return all_reduce != nullptr;
    case Operation::kReduceScatter:
      return reduce_scatter != nullptr;
    case Operation::kAllGather:
      return all_gather != nullptr;
    case Operation::kBroadcast:
      return broadcast != nullptr;
    case Operation::kReduce:
      return reduce != nullptr;
    case Operation::kGather:
      return gather != nullptr;
    case Operation::kScatter:
      return scatter != nullptr;
    case Operation::kAllToAll:
      return all_to_all != nullptr;
    case Operation::kSendRecv:
      return send_recv != nullptr;
    case Operation::kBarrier:
      return barrier != nullptr;
  }
  return false;
}

constinit const Algorithm kOfTrace{
    .name = "trace",
    .help = "what a trace says",
    .transfers = [](const Layout&, double) { return 0.0; },
};

const std::vector<const Algorithm*>& algorithms(Operation operation) {
  static const auto all = [] {
    std::map<Operation, std::vector<const Algorithm*>> by_operation;
    for (const Operation o : kOperations) {
      std::vector<const Algorithm*>& list = by_operation[o];
      std::ranges::copy_if(kAlgorithms, std::back_inserter(list), [&](const Algorithm* a) { return a->does(o); });
      std::ranges::stable_partition(list, [&](const Algorithm* a) { return a->usual_for == o; });
    }
    return by_operation;
  }();
  return all.at(operation);
}

std::string algorithms_help() {
  std::vector<std::string> by_operation;
  for (const Operation o : kOperations) {
    std::vector<std::string_view> names;
    for (const Algorithm* a : algorithms(o)) names.push_back(a->name);
    by_operation.push_back(fmt::format("{}: {}", name(o), fmt::join(names, ", ")));
  }
  std::vector<std::string> meanings;
  for (const Algorithm* a : kAlgorithms)
    meanings.push_back(fmt::format("{}: {}", a->name, a->help));
  return fmt::format("{}. The default is the first. {}", fmt::join(by_operation, "; "), fmt::join(meanings, "; "));
}

}  // namespace railyard::collectives
