// Any text as a log of NCCL.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control/jobs/nccl_log.h"
#include "tests/fuzz/trace_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return railyard::fuzz::expect_trace(railyard::jobs::read_nccl_log({reinterpret_cast<const char*>(data), size}));
}
