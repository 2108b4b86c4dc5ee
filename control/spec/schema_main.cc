// Prints the JSON schema of fabric files: what control/spec/fabric.schema.json is made by.
#include <cstdio>

#include "control/spec/json_schema.h"

int main() { return std::fputs(railyard::spec::json_schema().c_str(), stdout) < 0 ? 1 : 0; }
