// What is defined twice is found, and named.
#include "control/spec/keys/unique.h"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "control/spec/faults/fault_kind.h"
#include "control/spec/keys/keys.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::spec {
namespace {

template <class F>
std::string error(F f) {
  try {
    f();
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "(none)";
}

TEST(Unique, AllThatIsListedIs) {
  EXPECT_EQ(error([] { check_kinds(); }), "(none)");
}

TEST(Unique, AKeyOfATable) {
  struct Two {
    int a = 0;
    int b = 0;
  };
  const auto made = [](std::string name, std::string old) {
    return error([&] {
      Table<Two>("two", "Two numbers",
                 {key("a", &Two::a, integer(0, 1), "one"),
                  key(name, &Two::b, integer(0, 1), "the other").alias(old)});
    });
  };
  EXPECT_EQ(made("b", "c"), "(none)");
  EXPECT_EQ(made("a", "c"), "two keys of 'two' are called 'a'");
  EXPECT_EQ(made("b", "a"), "two keys of 'two' are called 'a'") << "an old name is still read";
}

TEST(Unique, ATableOfTheSchema) {
  Tree definitions = Tree::map();
  definitions.add(link_keys().name(), link_keys().schema());
  EXPECT_EQ(error([&] { require_unique_definitions(definitions); }), "(none)");
  definitions.add(link_keys().name(), ecn_keys().schema());
  EXPECT_EQ(error([&] { require_unique_definitions(definitions); }),
            "two tables of keys, or values, of the schema are called 'link'");
}

TEST(Unique, AKindOfFault) {
  std::vector<FaultKind> kinds = fault_kinds();
  FaultKind another = kinds.front();
  another.key = "of-its-own";
  kinds.push_back(another);
  EXPECT_EQ(error([&] { check_fault_kinds(kinds); }), "two kinds of faults are called '" + another.name + "'");
  kinds.back().name = "another";
  EXPECT_EQ(error([&] { check_fault_kinds(kinds); }), "(none)");
  kinds.back().key = kinds.front().key;
  EXPECT_EQ(error([&] { check_fault_kinds(kinds); }), "two kinds of faults have the key '" + kinds.front().key +
                                                          "'; expected is_meant_by in the descriptor of another");
  kinds.back().is_meant_by = [](const Tree&) { return false; };
  EXPECT_EQ(error([&] { check_fault_kinds(kinds); }), "(none)");
}

TEST(Unique, APathPolicyAndItsKeys) {
  using namespace path_parameter;
  constexpr std::array kOne{number<&PathConfig::choices>("n", {1, 8}, {1, 8}, "a number")};
  constexpr std::array kSame = kOne;
  constexpr std::array kOtherMember{number<&PathConfig::memory>("n", {1, 8}, {1, 8}, "a number")};
  constexpr std::array kOtherRange{number<&PathConfig::choices>("n", {1, 9}, {1, 8}, "a number")};
  const auto made = [&](std::string_view name, std::span<const PathParameter> parameters) {
    const PathPolicyInfo one{.policy = PathPolicy::kDrill, .name = "one", .help = "", .parameters = kOne,
                             .basis = always<PathBasis::kLoads>, .unit = always<PathUnit::kPacket>};
    PathPolicyInfo two = one;
    two.name = name;
    two.parameters = parameters;
    return error([&] { check_path_policies(std::array{one, two}); });
  };
  EXPECT_EQ(made("two", kSame), "(none)");
  EXPECT_EQ(made("one", kSame), "two path policies are called 'one'");
  EXPECT_EQ(made("two", kOtherMember),
            "path policies two and one have the key 'n' with different settings or ranges behind it");
  EXPECT_EQ(made("two", kOtherRange),
            "path policies two and one have the key 'n' with different settings or ranges behind it");
}

}  // namespace
}  // namespace railyard::spec
