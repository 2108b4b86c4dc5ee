#include "control/spec/fault_spec.h"

#include <set>

#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec {

std::string word(const FaultAction& action) {
  return std::holds_alternative<std::monostate>(action) ? "nothing" : fault_kind(action).key;
}

void name_faults(std::vector<FaultSpec>& faults) {
  std::set<std::string> taken;
  for (const FaultSpec& f : faults) taken.insert(f.name);
  for (FaultSpec& f : faults)
    for (int n = 1; f.name.empty(); ++n)
      if (std::string name = fmt::format("{}-{}", word(f.action), n); taken.insert(name).second) f.name = name;
}

bool acts_on_frames(const FaultAction& action) noexcept {
  return std::visit([]<class A>(const A&) { return requires { &A::stage; }; }, action);
}

}  // namespace railyard::spec
