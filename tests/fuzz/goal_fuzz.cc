// Any text as a trace in GOAL.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control/jobs/goal.h"
#include "tests/fuzz/trace_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return railyard::fuzz::expect_trace(railyard::jobs::read_goal({reinterpret_cast<const char*>(data), size}));
}
