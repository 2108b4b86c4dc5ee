#include "tests/control/lint/lint_lab.h"

#include "control/lint/rule.h"
#include "control/spec/load.h"

namespace railyard::lint {

std::vector<Finding> findings_in(const std::string& yaml, const std::vector<std::string>& overrides) {
  std::vector<std::string> sets{"run.duration=1ms"};  // flows without an end need one
  sets.insert(sets.end(), overrides.begin(), overrides.end());
  spec::LabAndDocument parsed = spec::parse_with_document("name: x\n" + yaml, "x.yaml", sets);
  build::BuiltLab lab(std::move(parsed.lab), build::Outputs::kLeaveAlone);
  return lint(lab, parsed.document);
}

std::vector<std::string> rules_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& f : findings) names.push_back(f.rule);
  return names;
}

std::string pair_lab(const std::string& traffic, const std::string& rest) {
  return "topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }\n"
         "traffic: [ { name: t, from: h1, to: h2, transport: roce" +
         traffic + " } ]\n" + rest;
}

}  // namespace railyard::lint
