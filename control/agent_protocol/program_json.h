// A rank's program as JSON: what an agent carries out.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "transports/base/rank_program.h"

namespace railyard::agents {

// The most steps of a program that is sent.
inline constexpr std::uint32_t kMostSteps = 500'000;

nlohmann::json to_json(const RankProgram& program);

// Whole and consistent: whatever is carried out of it stays within the rank's memory, and names nothing that is not
// there. What only elided payload needs (identities, cuts) is not in it. Throws ProtocolError.
RankProgram program_from_json(const nlohmann::json& json);

}  // namespace railyard::agents
