// Labs for tests, and what is said of bad ones.
#pragma once

#include <string>
#include <vector>

#include "control/spec/load.h"
#include "control/spec/spec.h"

namespace railyard::spec {

// what() of the error that parse() throws for a file "x.yaml"; "(no error)" if it throws none.
std::string error_of(const std::string& yaml, const std::vector<std::string>& overrides = {});

// A small good lab on its first lines: h1 and h2 at leaf1, one flow, 1 ms.
//
//   1  name: small
//   2  nodes:
//   3    leaf1: { kind: switch }
//   4    h1: { kind: host }
//   5    h2: { kind: host }
//   6  links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
//   7  run: { duration: 1ms }
extern const std::string kSmall;

// kSmall and more; the first line of `more` is line 8.
std::string small_with(const std::string& more);
Lab parse_small_with(const std::string& more, const std::vector<std::string>& overrides = {});

// The far end of a port, as text; "nothing".
std::string peer(const Lab& lab, const PortName& port);

// "a, b or c": names of kinds, in the order of their list.
template <class Names>
std::string in_words(const Names& names, const std::string& last = " or ") {
  std::string text;
  std::size_t i = 0;
  for (const auto& name : names)
    text += (i++ == 0 ? "" : i == names.size() ? last : ", ") + std::string(name);
  return text;
}

// What is said of kSmall with `more`, word for word.
struct ErrorCase {
  std::string more;
  std::string error;
};
void expect_errors(const std::vector<ErrorCase>& cases);

}  // namespace railyard::spec
