// Prints the JSON schema of fabric files: what control/spec/fabric.schema.json is made by. With --keys, prints docs/keys.md
// (key_reference.h). With a file, prints this file with the parts that follow from tables of kinds (reference.h).
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "control/spec/json_schema.h"
#include "control/spec/key_reference.h"
#include "control/spec/load.h"
#include "control/spec/reference.h"

int main(int argc, char** argv) try {
  using namespace railyard::spec;
  const std::string text = argc < 2                                  ? json_schema()
                           : std::string_view(argv[1]) == "--keys" ? key_reference()
                                                                     : with_references(read_file(argv[1]));
  return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
