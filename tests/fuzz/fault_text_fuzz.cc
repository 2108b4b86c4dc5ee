// Any text as a fault, as `railyard fault add` takes it, and as each of its values: a place, a state, a match, a
// duration, a probability. What is accepted reads the same once written; what is not has an error that says where and
// why, in one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/spec/fault_match.h"
#include "control/spec/fault_place.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "tests/fuzz/expect.h"

using namespace railyard;
using namespace railyard::spec;

namespace {

// With what the seeds name.
const Lab& lab() {
  static const Lab made = parse(R"(
name: fuzz
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
traffic:
  - { name: both, pattern: permutation, bytes: 1MB }
run: { clock: virtual, duration: 1ms }
)",
                                "lab");
  return made;
}

bool is_one_line(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

// A value: what is wrong with it, which SpecError makes one line of; or the same again once written.
template <class T>
void value(const Parsed<T>& parsed, Parsed<T> (*again)(std::string_view)) {
  if (parsed)
    FUZZ_EXPECT(again(format(*parsed)) == *parsed);
  else
    FUZZ_EXPECT(!parsed.error().empty());
}

void values(std::string_view text) {
  value(parse_fault_place(text), &parse_fault_place);
  value(parse_fault_trigger(text), &parse_fault_trigger);
  value(parse_duration(text), &parse_duration);
  value(parse_probability(text), &parse_probability);
  if (const auto sizes = parse_frame_sizes(text))
    FUZZ_EXPECT(sizes->least <= sizes->most);
  else
    FUZZ_EXPECT(!sizes.error().empty());
  // "bth.psn: 7"
  const std::size_t colon = text.find(": ");
  const MatchTerm term{std::string(text.substr(0, colon)),
                       std::string(colon == text.npos ? std::string_view() : text.substr(colon + 2))};
  if (const auto good = check_match_term(term); !good) FUZZ_EXPECT(!good.error().empty());
}

void whole(const std::string& text) {
  try {
    const FaultSpec fault = parse_fault(lab(), text, "fault");
    FUZZ_EXPECT(!fault.name.empty() && !fault.on.empty());
    FUZZ_EXPECT(parse_fault(lab(), to_text(fault), "again") == fault);
  } catch (const SpecError& error) {
    FUZZ_EXPECT(error.place().file == "fault");
    FUZZ_EXPECT(is_one_line(error.message()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static_cast<void>(lab());  // is good
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  values(text);
  whole(text);
  return 0;
}
