// What was not measured is null, in JSON, and never 0.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "control/report/percentiles.h"

namespace railyard::report {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// `value` if `known`.
template <class T>
nlohmann::ordered_json known_or_null(bool known, const T& value) {
  return known ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json percentiles_json(const Percentiles& p) {
  if (!p.known()) return nullptr;
  return {{"p50", p.p50}, {"p90", p.p90}, {"p99", p.p99}, {"p999", p.p999}, {"p9999", p.p9999}, {"max", p.max}};
}

}  // namespace railyard::report
