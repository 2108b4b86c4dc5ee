// What a fabric file should say otherwise, though it can be read: keys that have a new name.
#pragma once

#include <functional>
#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

// Who is told: "x.yaml:12:5: warning: hosts.default.least-frame: ...". Nobody until a program says so; from any thread.
void on_warning(std::function<void(const std::string& line)> handler);

// Each line is told once per process, however often a file is read.
void warn(const Place& place, const std::string& message);

}  // namespace railyard::spec
