// What faults have really done: one line of JSON per event, to be read by people and replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/fault/activity.h"

namespace railyard::fault {

struct LoggedEvent {
  enum class Kind { kAdded, kBegin, kEnd, kRemoved };
  Kind kind = Kind::kAdded;
  std::string fault;  // its name
  std::string what;
  std::string where;
  // When it was asked for: of faults and removals that come live, when the engine was told; of a fault that begins with
  // a state, when that came true; of others, when it is to be.
  Instant requested{};
  Instant effective{};
  // Touched in this occurrence; of removals: in all. Nothing: what this fault does to frames is not counted.
  std::optional<std::uint64_t> frames = 0;
  std::string text;  // of kAdded: the fault as in a fabric file
};

// {"event":"begin","fault":"flap-1","what":"down","on":"leaf1:1","requested_ps":...,"effective_ps":...,"frames":0};
// frames are null where they are not counted.
std::string line_of(const LoggedEvent& event);

// A fault as a log tells of it.
struct LoggedFault {
  std::string text;   // as in a fabric file
  std::string place;  // "faults.log:3", for messages
  Instant added{};
  std::optional<Instant> removed;
  std::vector<Interval> happened;
};
// Reads what line_of() wrote, line by line. Throws spec::SpecError with file and line for anything else.
std::vector<LoggedFault> read_log(const std::string& text, const std::string& file_name);

}  // namespace railyard::fault
