// Any text as a trace in GOAL. What is read fits together, or one line says what does not; a program of each rank follows,
// with both ends of each message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control/jobs/compile.h"
#include "control/jobs/goal.h"
#include "tests/fuzz/expect.h"

using namespace railyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = jobs::read_goal({reinterpret_cast<const char*>(data), size});
  if (!graph) {
    FUZZ_EXPECT(!graph.error().text.empty());
    return 0;
  }
  const auto matches = jobs::check(*graph);
  if (!matches) {
    FUZZ_EXPECT(!matches.error().text.empty());
    return 0;
  }
  // Larger ones are refused by the number of their messages.
  if (graph->octets() > (1u << 24)) return 0;
  const auto programs = jobs::compile(*graph, *matches, {.chunk = 65'536});
  FUZZ_EXPECT(programs.size() == graph->ranks.size());
  std::size_t sends = 0, receives = 0;
  for (const RankProgram& p : programs)
    for (const CollectiveStep& s : p.steps) {
      sends += s.kind == CollectiveStep::Kind::kSend ? 1u : 0u;
      receives += s.receives() ? 1u : 0u;
      if (s.kind != CollectiveStep::Kind::kCompute) FUZZ_EXPECT(s.connection < p.connections.size());
    }
  FUZZ_EXPECT(sends == receives);
  return 0;
}
