// What the steps of a rank's program are for: the operations of a trace or job, or the computing and communicating of a
// plain collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/spec/spec.h"
#include "transports/base/rank_program.h"

namespace railyard::timeline {

struct Work {
  struct Operation {
    enum class Kind : std::uint8_t { kCompute, kSend, kReceive, kCollective };
    Kind kind = Kind::kCompute;
    std::uint8_t stream = 0;   // kCompute
    std::uint32_t name = 0;    // Work::names
    std::vector<std::uint32_t> after{}, with{};  // as jobs::Operation has them
  };
  std::vector<std::string> names{};
  // By rank: its operations; and by step the operation that it belongs to (CollectiveStep::kNone: none).
  std::vector<std::vector<Operation>> operations{};
  std::vector<std::vector<std::uint32_t>> of_step{};
};

// `nics`, `programs`: by rank, as spec::ranks() and spec::programs_of() say them.
Work work_of(const spec::Lab& lab, const spec::CollectiveSpec& collective, const std::vector<spec::PortName>& nics,
             const std::vector<const RankProgram*>& programs);

}  // namespace railyard::timeline
