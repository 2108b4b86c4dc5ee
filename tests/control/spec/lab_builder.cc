#include "tests/control/spec/lab_builder.h"

#include <gtest/gtest.h>

#include "control/spec/value.h"

namespace railyard::spec {

const std::string kSmall = R"(name: small
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
run: { duration: 1ms }
)";

std::string error_of(const std::string& yaml, const std::vector<std::string>& overrides) {
  try {
    parse(yaml, "x.yaml", overrides);
  } catch (const SpecError& e) {
    return e.what();
  }
  return "(no error)";
}

std::string small_with(const std::string& more) { return kSmall + more; }

void expect_errors(const std::vector<ErrorCase>& cases) {
  for (const ErrorCase& c : cases) EXPECT_EQ(error_of(small_with(c.more)), c.error) << c.more;
}

Lab parse_small_with(const std::string& more, const std::vector<std::string>& overrides) {
  return parse(small_with(more), "x.yaml", overrides);
}

std::string peer(const Lab& lab, const PortName& port) {
  for (const LinkSpec& link : lab.links) {
    if (link.a == port) return format(link.b);
    if (link.b == port) return format(link.a);
  }
  return "nothing";
}

}  // namespace railyard::spec
