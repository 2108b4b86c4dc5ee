// What a fabric file says of the failure that it shows; of those that are shipped, that their fixes can be set.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

std::string lab_diagnosed(const std::string& diagnosis) {
  return "name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\ndiagnosis:\n" + diagnosis;
}

TEST(Diagnosis, IsReadAndShown) {
  const Lab l = parse(lab_diagnosed("  signature: [\"drops > 0\", \"xoff_sent at leaf1/3 == 0\"]\n  symptom: >-\n    it is\n    slow\n  cause: \"a cause: marks\"\n  fix: thresholds\n"
                               "  set: \"run.seed=2\"\n"),
                      "x.yaml");
  ASSERT_EQ(l.diagnosis.signature.size(), 2u);
  EXPECT_EQ(l.diagnosis.signature[1].text, "xoff_sent at leaf1/3 == 0");
  EXPECT_EQ(l.diagnosis.symptom, "it is slow");
  EXPECT_EQ(l.diagnosis.cause, "a cause: marks");
  EXPECT_EQ(l.diagnosis.fix, "thresholds");
  EXPECT_EQ(l.diagnosis.set, std::vector<std::string>{"run.seed=2"});
  EXPECT_EQ(parse(to_yaml(l), "shown"), l);
  EXPECT_TRUE(parse("name: x\ntopology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 2 }\n", "x.yaml")
                  .diagnosis.empty());
}

TEST(Diagnosis, SaysAllFour) {
  EXPECT_EQ(error_of(lab_diagnosed("  symptom: slow\n  cause: a\n  fix: faster\n")).substr(0, 53),
            "x.yaml:4:3: diagnosis: key 'signature' is missing: co");
  EXPECT_EQ(error_of(lab_diagnosed("  signature: drops > 0\n  symptom: slow\n  fix: faster\n")).substr(0, 49),
            "x.yaml:4:3: diagnosis: key 'cause' is missing: wh");
  EXPECT_EQ(error_of(lab_diagnosed("  signature: drops\n  symptom: slow\n  cause: a\n  fix: b\n")).substr(0, 63),
            "x.yaml:4:14: diagnosis.signature: 'drops': no comparison; expec");
  EXPECT_EQ(error_of(lab_diagnosed("  signature: drops > 0\n  symptom: slow\n  cause: a\n  fix: b\n  sets: c\n")).substr(0, 75),
            "x.yaml:8:3: diagnosis: unknown key 'sets'; did you mean 'set'? Known here: ");
}

TEST(Diagnosis, OfWhatIsShippedNamesValuesThatAreTaken) {
  std::size_t diagnosed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/topologies/scenarios")) {
    const Lab l = load(entry.path());
    if (l.diagnosis.empty()) continue;
    SCOPED_TRACE(entry.path());
    ++diagnosed;
    EXPECT_FALSE(l.diagnosis.signature.empty());
    EXPECT_FALSE(l.diagnosis.set.empty());
    EXPECT_FALSE(load(entry.path(), l.diagnosis.set) == l) << "and change something";
  }
  EXPECT_GE(diagnosed, 11u);
}

}  // namespace
}  // namespace railyard::spec
