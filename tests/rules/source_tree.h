// The sources of the project as text, for tests of what may stand in them.
#pragma once

#include <string>
#include <vector>

namespace railyard::rules {

struct SourceFile {
  std::string path;  // from the project's folder: "dataplane/base/time.h"
  std::string text;
};

// Every .h and .cc under the folders `tops` of the project.
std::vector<SourceFile> read_sources(const std::vector<std::string>& tops);

// `text` with every character of comments, strings and character literals replaced by a blank; lines stay where they
// are.
std::string without_comments_and_strings(const std::string& text);

}  // namespace railyard::rules
