// Parts of topologies/explicit.yaml that follow from tables of kinds. They stand between the lines "# [reference: NAME]"
// and "# [end of reference]"; the target fabric-schema writes them, and a test compares.
#pragma once

#include <cstddef>
#include <string>

namespace railyard::spec {

// A line of the reference: `value` as one may write it, and what it does.
struct ReferenceLine {
  std::string value;
  std::string text;
};

// `text` with all such parts as they should be. Throws std::runtime_error for a name that is unknown, or a part without
// an end.
std::string with_references(const std::string& text);

// A comment line: an example of a key and its value, and what it does, wrapped to 120 columns.
std::string reference_line(const std::string& example, const std::string& what, std::size_t indent = 2);

// A key with its value as the file has it, and what it does as a comment behind it, wrapped as well.
std::string setting_line(const std::string& setting, const std::string& what, std::size_t indent);

}  // namespace railyard::spec
