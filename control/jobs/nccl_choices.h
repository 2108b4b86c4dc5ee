// What a log of NCCL says of the algorithm and protocol of its collectives (NCCL_DEBUG_SUBSYS=TUNING).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "control/collectives/protocol.h"
#include "control/jobs/job_graph.h"

namespace railyard::jobs {

class NcclChoices {
 public:
  struct Choice {
    const collectives::Algorithm* algorithm =
        nullptr;  // nullptr: one that is not modelled (NVLSTree, PAT): the usual one
    collectives::Protocol protocol = collectives::Protocol::kNone;
  };

  // Whether a line, from behind "NCCL INFO ", is of such a choice.
  static bool is_one(std::string_view text) noexcept { return text.contains(" Bytes -> Algo "); }
  // "4096 Bytes -> Algo 1 proto 2 time 12.3" (to 2.23: NCCL_ALGO_* and NCCL_PROTO_* of nccl_common.h), or "AllReduce:
  // 4096 Bytes
  // -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}".
  std::expected<void, TraceError> add(std::size_t process, std::string_view text, int line);
  // Of a collective that begins in this line: what its process says of its size next, or else said before.
  std::optional<Choice> of(std::size_t process, std::string_view function, std::uint64_t octets, int line) const;

 private:
  // By process, function (empty: it was not said) and octets: by line.
  std::map<std::tuple<std::size_t, std::string, std::uint64_t>, std::map<int, Choice>> said_;
};

}  // namespace railyard::jobs
