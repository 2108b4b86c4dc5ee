// Prints the JSON schema of fabric files: what control/spec/fabric.schema.json is made by. With a file, prints this file
// with the parts that follow from tables of kinds (reference.h).
#include <cstdio>
#include <exception>

#include "control/spec/json_schema.h"
#include "control/spec/load.h"
#include "control/spec/reference.h"

int main(int argc, char** argv) try {
  const std::string text =
      argc > 1 ? railyard::spec::with_references(railyard::spec::read_file(argv[1])) : railyard::spec::json_schema();
  return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
