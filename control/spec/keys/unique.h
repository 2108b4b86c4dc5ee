// What must not be defined twice: keys of a table, tables of the schema, kinds of a list. Such a mistake of the program is
// found when a table is made, or at the latest when the schema is (json_schema.h): std::logic_error names both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/yaml/tree.h"
#include "dataplane/switch/path/policy.h"

namespace railyard::spec {

struct FaultKind;

// Throws "two <what> are called '<name>'" for the first name that is there again.
void require_unique(std::string_view what, std::span<const std::string> names);

// The tables and values that a schema defines.
void require_unique_definitions(const Tree& definitions);
// Names; of kinds that share a key, each but the first must say which values mean it.
void check_fault_kinds(std::span<const FaultKind> kinds);
// Names; a key that several policies have must set the same in all of them.
void check_path_policies(std::span<const PathPolicyInfo> policies);
// All lists of kinds: faults, path policies, congestion controls, collective algorithms, presets.
void check_kinds();

}  // namespace railyard::spec
