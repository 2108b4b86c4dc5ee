// What the readers of definitions have in common.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "control/spec/yaml/tree.h"

namespace railyard::bench {

// All throw spec::SpecError with the place.
void refuse_others(const spec::Tree& map, const std::vector<std::string>& known);
const spec::Tree& required(const spec::Tree& map, const char* key);
std::string text_of(const spec::Tree& map, const char* key);
std::string text_or(const spec::Tree& map, const char* key, std::string otherwise);
// Maps are values too: they are written as --set has them. nullptr: none.
std::vector<std::string> texts(const spec::Tree* list);

// What a parser of the command line says against a value is said at the value.
template <class F>
auto checked(const spec::Tree& at, F parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    at.fail(error.what());
  }
}

}  // namespace railyard::bench
