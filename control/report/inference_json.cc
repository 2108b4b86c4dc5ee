#include "control/report/inference_json.h"

#include <string>

#include "control/report/json_values.h"

namespace railyard::report {

nlohmann::ordered_json inference_json(const InferenceFigures& f) {
  nlohmann::ordered_json out{{"parallelism", f.parallelism},
                             {"requests", f.asked},
                             {"completed", f.requests.size()},
                             {"duration_ns", f.duration_ns},
                             {"requests_per_second", or_null(f.requests_per_second)},
                             {"tokens_per_second", or_null(f.tokens_per_second)}};
  for (const NamedSpread& s : spreads(f))
    out[std::string(s.name) + "_ns"] =
        s.ns.count == 0 ? nlohmann::ordered_json(nullptr)
                        : nlohmann::ordered_json{{"mean", s.ns.mean}, {"p50", s.ns.p50}, {"p90", s.ns.p90}, {"p99", s.ns.p99}, {"max", s.ns.max}};
  return out;
}

}  // namespace railyard::report
