#include "control/spec/collective_spec.h"

#include "control/collectives/registry.h"

namespace railyard::spec {

CollectiveAlgorithm CollectiveSpec::used_algorithm() const {
  return algorithm.value_or(collectives::algorithms(collective).front());
}

}  // namespace railyard::spec
