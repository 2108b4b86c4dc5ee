// Whether text is well-formed XML, as far as our writer makes it: elements, attributes, text, the five entities.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace railyard::picture {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;  // as they stand there
  std::string text;                               // as it stands there, without that of elements inside
  std::size_t depth = 0;
};

struct Document {
  std::string error;              // empty: it is well-formed
  std::vector<Element> elements;  // in the order of their start tags
};

Document read_xml(const std::string& text);

}  // namespace railyard::picture
