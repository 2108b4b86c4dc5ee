// A request by its keys, as tests say it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/plan/plan.h"

namespace railyard::plan {

using Said = std::vector<std::pair<std::string, std::string>>;

inline Request requested(const Said& said) { return read_request("", said); }
inline Plan planned(const Said& said, const Prices& prices = {}) { return make_plan(requested(said), prices); }
inline Shape shaped(const Said& said) {
  const Request r = requested(said);
  return size(r, choose_switch(r));
}

// What is wrong with it: the message of the error; empty: nothing.
inline std::string problem(const Said& said) {
  try {
    static_cast<void>(planned(said));
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace railyard::plan
