#include "control/report/storage_json.h"

namespace railyard::report {

nlohmann::ordered_json eras_json(const StorageFigures& figures) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const StorageFigures::Era& e : figures.eras)
    all.push_back({{"first_step", e.first_step}, {"steps", e.steps}, {"copies", e.copies},
                   {"step_ns", e.step_ns ? Json(*e.step_ns) : Json(nullptr)},
                   {"tokens_per_second", e.tokens_per_second ? Json(*e.tokens_per_second) : Json(nullptr)}});
  return all;
}

}  // namespace railyard::report
