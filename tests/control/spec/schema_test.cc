#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "control/spec/json_schema.h"
#include "control/spec/yaml/parse.h"

namespace railyard::spec {
namespace {

TEST(JsonSchema, IsTheFileThatIsShipped) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/control/spec/fabric.schema.json");
  std::ostringstream shipped;
  shipped << in.rdbuf();
  EXPECT_TRUE(shipped.str() == json_schema()) << "The keys have changed. Write the schema anew:\n"
                                                 "  cmake --build " RAILYARD_BINARY_DIR " --target fabric-schema";
}

// Every "$ref" of a tree.
void collect_references(const Tree& tree, std::vector<std::string>& out) {
  if (const Tree* ref = tree.find("$ref")) out.push_back(ref->text);
  for (const Tree& item : tree.items) collect_references(item, out);
  for (const Tree::Entry& entry : tree.entries) collect_references(entry.value, out);
}

TEST(JsonSchema, DefinesWhatItRefersTo) {
  const Tree schema = parse_yaml(json_schema(), "schema");  // JSON is YAML
  std::vector<std::string> references;
  collect_references(schema, references);
  EXPECT_GT(references.size(), 50u);
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with("#/$defs/")) << reference;
    EXPECT_NE(schema.find("$defs")->find(reference.substr(8)), nullptr) << reference;
  }
}

TEST(JsonSchema, DescribesEveryKey) {
  const Tree schema = parse_yaml(json_schema(), "schema");
  std::size_t keys = 0;
  for (const Tree::Entry& definition : schema.find("$defs")->entries) {
    EXPECT_NE(definition.value.find("description"), nullptr) << definition.key;
    const Tree* properties = definition.value.find("properties");
    if (properties == nullptr) continue;
    for (const Tree::Entry& key : properties->entries) {
      ++keys;
      EXPECT_NE(key.value.find("description"), nullptr) << definition.key << "." << key.key;
    }
  }
  EXPECT_GT(keys, 100u);
}

}  // namespace
}  // namespace railyard::spec
