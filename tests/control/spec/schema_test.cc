#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/json_schema.h"
#include "control/spec/key_reference.h"
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

TEST(KeyReference, IsThePageThatIsShipped) {
  std::ifstream in(RAILYARD_SOURCE_DIR "/docs/keys.md");
  std::ostringstream shipped;
  shipped << in.rdbuf();
  EXPECT_TRUE(shipped.str() == key_reference()) << "The keys have changed. Write docs/keys.md anew:\n"
                                                   "  cmake --build " RAILYARD_BINARY_DIR " --target fabric-schema";
}

// The part below "## heading", to the next heading.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\n## " + heading + "\n");
  return begin == page.npos ? "" : page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

TEST(KeyReference, HasEveryKeyInTheTableOfItsMap) {
  const Tree schema = parse_yaml(json_schema(), "schema");
  const std::string page = key_reference();
  for (const Tree::Entry& key : schema.find("properties")->entries)
    EXPECT_NE(section(page, "The file").find("\n| `" + key.key + "` | "), std::string::npos) << key.key;
  std::size_t keys = 0;
  for (const Tree::Entry& definition : schema.find("$defs")->entries) {
    const Tree* properties = definition.value.find("properties");
    if (properties == nullptr) continue;
    const std::string map = section(page, definition.key);
    ASSERT_NE(map, "") << definition.key;
    EXPECT_NE(map.find("\nAt: `"), std::string::npos) << definition.key << " stands nowhere";
    for (const Tree::Entry& key : properties->entries) {
      ++keys;
      EXPECT_NE(map.find("\n| `" + key.key + "` | "), std::string::npos) << definition.key << "." << key.key;
    }
  }
  EXPECT_GT(keys, 100u);
}

// A row has the value, the default and the meaning: each form of value once.
TEST(KeyReference, SaysWhatAKeyTakes) {
  const std::string page = key_reference();
  EXPECT_NE(section(page, "class").find("| `lossless` | `true`, `false` | `false` | "), std::string::npos);
  EXPECT_NE(section(page, "class").find("| `weight` | 1..1000 | `1` | "), std::string::npos);
  EXPECT_NE(section(page, "class").find("| `headroom` | `auto` or [size](#values) | `auto` | "), std::string::npos);
  EXPECT_NE(section(page, "class").find("At: `qos.NAME.classes.N`\n"), std::string::npos);
  EXPECT_NE(section(page, "run").find("| `clock` | `virtual`, `wall` | `virtual` | "), std::string::npos);
  EXPECT_NE(section(page, "traffic").find("| `name` | [name](#values) | required | "), std::string::npos);
  EXPECT_NE(section(page, "traffic").find("At: `traffic.NAME`\n"), std::string::npos);
  EXPECT_NE(section(page, "The file").find("| `links` | list of \\[[port](#values), [port](#values), [link](#link)\\] | "),
            std::string::npos);
  EXPECT_NE(section(page, "The file").find("| `qos` | map of names to [qos-profile](#qos-profile) | "), std::string::npos);
}

}  // namespace
}  // namespace railyard::spec
