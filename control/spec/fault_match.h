// What a fault says of frames: header fields by name, with the values that are meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/value.h"
#include "dataplane/wire/header_field.h"

namespace railyard::spec {

// The tests of which one must hold: of fields of IP headers, one per version that the value can be of. Numbers are
// decimal or 0x and hexadecimal; addresses may be prefixes.
Parsed<std::vector<wire::FieldTest>> parse_field_tests(const wire::HeaderField& field, std::string_view text);

// The sizes of frames, with FCS: "1024B", ">1000B", "<100B".
struct FrameSizes {
  std::uint32_t least = 0;
  std::uint32_t most = ~std::uint32_t{0};
};
Parsed<FrameSizes> parse_frame_sizes(std::string_view text);

// The words that can stand in `match`, but for `nth`.
std::vector<std::string> match_words();
// What is wrong with a term, if anything. Whether there is a flow of that name is not looked at.
Parsed<void> check_match_term(const MatchTerm& term);

}  // namespace railyard::spec
