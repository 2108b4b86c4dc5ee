#include "control/spec/collective_spec.h"

namespace railyard::spec {

std::string_view name(CollectiveOperation operation) noexcept {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return "all-reduce";
    case CollectiveOperation::kReduceScatter:
      return "reduce-scatter";
    case CollectiveOperation::kAllGather:
      return "all-gather";
    case CollectiveOperation::kBroadcast:
      return "broadcast";
    case CollectiveOperation::kAllToAll:
      return "all-to-all";
  }
  return "";
}

std::string_view name(CollectiveAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case CollectiveAlgorithm::kRing:
      return "ring";
    case CollectiveAlgorithm::kTree:
      return "tree";
    case CollectiveAlgorithm::kHalvingDoubling:
      return "halving-doubling";
    case CollectiveAlgorithm::kHierarchical:
      return "hierarchical";
    case CollectiveAlgorithm::kHalving:
      return "halving";
    case CollectiveAlgorithm::kDoubling:
      return "doubling";
    case CollectiveAlgorithm::kDirect:
      return "direct";
  }
  return "";
}

const std::vector<CollectiveAlgorithm>& algorithms(CollectiveOperation operation) {
  using enum CollectiveAlgorithm;
  static const std::vector<CollectiveAlgorithm> all_reduce{kRing, kTree, kHalvingDoubling, kHierarchical};
  static const std::vector<CollectiveAlgorithm> reduce_scatter{kRing, kHalving};
  static const std::vector<CollectiveAlgorithm> all_gather{kRing, kDoubling};
  static const std::vector<CollectiveAlgorithm> broadcast{kTree, kRing};
  static const std::vector<CollectiveAlgorithm> all_to_all{kDirect};
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return all_reduce;
    case CollectiveOperation::kReduceScatter:
      return reduce_scatter;
    case CollectiveOperation::kAllGather:
      return all_gather;
    case CollectiveOperation::kBroadcast:
      return broadcast;
    case CollectiveOperation::kAllToAll:
      break;
  }
  return all_to_all;
}

}  // namespace railyard::spec
