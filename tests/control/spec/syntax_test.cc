// YAML itself: what is refused before any key is looked at, and that trees survive being printed.
#include <random>

#include <gtest/gtest.h>

#include "control/spec/spec_error.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"
#include "tests/control/spec/lab_builder.h"

namespace railyard::spec {
namespace {

TEST(Syntax, ErrorsHaveAPlaceAndAHint) {
  EXPECT_EQ(error_of("name: x\n run: 1\n"),
            "x.yaml:2:5: not YAML: illegal map value (unexpected ':': is the line indented like its neighbours?)");
  EXPECT_EQ(error_of("name: x\nlinks: [a, b\nrun: {}\n"),
            "x.yaml:3:4: not YAML: end of sequence flow not found (a ']' or ',' is missing at or before this place)");
  EXPECT_EQ(error_of("name: x\ntraffic: [{ from: * }]\n"),
            "x.yaml:2:20: not YAML: alias not found after * (a single '*' needs quotes: \"*\")");
  EXPECT_EQ(error_of("name: @x\n"),
            "x.yaml:1:7: not YAML: unknown token (text that begins with '%', '@' or '`' needs quotes)");
  EXPECT_EQ(error_of("name: x\n--- \nname: y\n"), "x.yaml:2:1: a second document begins here; expected one");
  EXPECT_EQ(error_of("name: !lab x\n"), "x.yaml:1:7: unknown tag '!lab'; expected none");
  EXPECT_EQ(error_of("name: x\n{ a: b }: c\n"), "x.yaml:2:1: a map where a key was expected");
  EXPECT_EQ(error_of("name: x\n~: c\n"), "x.yaml:2:1: nothing where a key was expected");
}

TEST(Syntax, AnOpenQuoteIsFound) {
  EXPECT_EQ(error_of("name: x\ndescription: \"no end\nrun: {}\n"),
            "x.yaml:2:14: the quote that opens here is never closed");
  EXPECT_EQ(error_of("name: x\ndescription: 'it''s\nrun: {}\n"),
            "x.yaml:2:14: the quote that opens here is never closed");
}

// What is quoted of a file does not break the line, or the terminal. (Found by fault_text_fuzz.)
TEST(Syntax, AnErrorIsOneLineWhateverItQuotes) {
  EXPECT_EQ(
      error_of("name: \"a\\nb\\e[2J\"\n"),
      "x.yaml:1:7: name: 'a\\nb\\x1b[2J' is not a name; expected letters, digits, '-' and '_', at most 63, the first a "
      "letter or digit");
}

// The library finds empty documents in front of it without end. (Found by fault_text_fuzz.)
TEST(Syntax, ACommaOutsideOfBracketsIsAnErrorAndNoHang) {
  for (const char* text : {",", ",a", ",a]", ", \"r\"\n"}) EXPECT_NE(error_of(text), "(no error)") << text;
}

TEST(Syntax, OnlyTextIsRead) {
  EXPECT_EQ(error_of("name: x\ndescription: \x04\n"), "x.yaml:2:14: control character 0x04; expected UTF-8 text");
  EXPECT_EQ(error_of(std::string("name: x\n\0", 9)), "x.yaml:2:1: control character 0x00; expected UTF-8 text");
}

TEST(Syntax, ADocumentIsAMap) {
  EXPECT_EQ(error_of(""), "x.yaml:1:1: key 'name' is missing: name of the lab");
  EXPECT_EQ(error_of("# nothing here\n"), "x.yaml:1:1: key 'name' is missing: name of the lab");
  EXPECT_EQ(error_of("[a, b]\n"),
            "x.yaml:1:1: found a list; expected a map with the keys of a lab: name, topology, ...");
  EXPECT_EQ(error_of("hello\n"),
            "x.yaml:1:1: found 'hello'; expected a map with the keys of a lab: name, topology, ...");
}

TEST(Syntax, AKeyIsThereOnce) {
  EXPECT_EQ(error_of("name: x\nrun: { seed: 1, clock: wall, seed: 2 }\n"),
            "x.yaml:2:30: run: key 'seed' is defined twice; the first is at x.yaml:2:8");
  EXPECT_EQ(error_of("name: x\nnodes:\n  h1: { kind: host }\n  h1: { kind: host }\n"),
            "x.yaml:4:3: nodes: key 'h1' is defined twice; the first is at x.yaml:3:3");
  EXPECT_EQ(error_of("name: x\nname: x\n"), "x.yaml:2:1: key 'name' is defined twice; the first is at x.yaml:1:1");
}

TEST(Syntax, AliasesStandForWhatTheyName) {
  const Tree tree = parse_yaml("a: &x { b: [1, &y two] }\nc: *x\nd: *y\n", "x.yaml");
  EXPECT_EQ(tree.find("c")->find("b")->items[1].text, "two");
  EXPECT_EQ(tree.find("d")->text, "two");
  EXPECT_EQ(tree.find("c")->find("b")->items[0].place.line, 1);  // where it was said
}

TEST(Syntax, AliasesCannotEatTheMemory) {
  EXPECT_EQ(error_of("a: &a [*a]\n"), "x.yaml:1:8: an alias inside its own anchor");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(error_of(bomb), "x.yaml:7:10: more than 2000000 values");
  std::string tower = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i)
    tower += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_EQ(error_of(tower), "x.yaml:64:12: nested too deeply");
  EXPECT_EQ(error_of(std::string(200, '[') + std::string(200, ']')), "x.yaml:1:65: nested too deeply");
}

// What a tree says, without where.
void expect_same(const Tree& a, const Tree& b) {
  ASSERT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.text, b.text);
  ASSERT_EQ(a.items.size(), b.items.size());
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.items.size(); ++i) expect_same(a.items[i], b.items[i]);
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].key, b.entries[i].key);
    expect_same(a.entries[i].value, b.entries[i].value);
  }
}

std::string some_text(std::mt19937_64& random) {
  static const std::vector<std::string> kTexts{
      "x",    "1",    "-1",  "null", "~",      "true",   "off",  "10ms",   "20%",  "1/8",  "*",      "h*",       "",
      " ",    " a",   "a ",  "a b",  "a: b",   "a:b",    "a:",   "fd00::", "::1",  "a #b", "#b",     "a\nb",     "a\tb",
      "'",    "\"",   "\\",  "a,b",  "[a]",    "{a}",    "-",    "- a",    "?",    "? a",  "&a",     "!a",       "|",
      ">",    "%a",   "@a",  "`a",   "\x01",   "...",    "---",  "=",      "<<",   "a'b",  "a\"b",   "h1:1",     ".5",
      "NULL", "Null", "Yes", "0x1F", "\u00b5", "\u00e9", "\x7F", "a:\nb",  "\r\n", "a\\n", "\u2028", "h?",       "/a/b",
      "_",    "a=b",  "1e3", ".inf", "02:00",  "a  b",   "y",    "\u0085", "a--b", "{}",   "[]",     "--- a: b", "a\r"};
  return kTexts[random() % kTexts.size()];
}

Tree some_tree(std::mt19937_64& random, int depth) {
  const std::uint64_t kind = random() % (depth > 0 ? 4 : 2);
  Tree tree = random() % 2 == 0 ? Tree::plain(some_text(random)) : Tree::string(some_text(random));
  if (kind == 2) tree = Tree::list({});
  if (kind == 3) tree = Tree::map();
  tree.spread = random() % 4 == 0;
  for (std::uint64_t n = kind >= 2 ? random() % 6 : 0; n > 0; --n) {
    if (kind == 2) tree.items.push_back(some_tree(random, depth - 1));
    if (kind == 3) tree.add(some_text(random), some_tree(random, depth - 1));
  }
  return tree;
}

TEST(PrintYaml, IsReadAsTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const Tree tree = some_tree(random, 4);
    const std::string text = print_yaml(tree);
    SCOPED_TRACE(text);
    try {
      expect_same(tree, parse_yaml(text, "printed"));
    } catch (const SpecError& e) {
      FAIL() << e.what();
    }
    if (HasFailure()) return;
  }
}

TEST(PrintYaml, PutsShortMapsOnOneLine) {
  Tree map = Tree::map({{"a", Tree::plain("1")}, {"b", Tree::list({Tree::plain("2"), Tree::plain("h1:1")})}});
  EXPECT_EQ(print_yaml(Tree::map({{"m", map}, {"s", Tree::string("1")}})), "m: { a: 1, b: [2, h1:1] }\ns: \"1\"\n");
  map.spread = true;
  EXPECT_EQ(print_yaml(Tree::map({{"m", map}})), "m:\n  a: 1\n  b: [2, h1:1]\n");
  EXPECT_EQ(print_yaml(Tree::map({{"m", Tree::list({map})}})), "m:\n  - a: 1\n    b: [2, h1:1]\n");
}

TEST(PrintJson, KnowsNumbersAndStrings) {
  const Tree tree = Tree::map({{"a", Tree::plain("1")},
                               {"b", Tree::string("1")},
                               {"c", Tree::plain("10ms")},
                               {"d", Tree::list({Tree::plain("true"), Tree::plain("-0.5"), Tree::plain("01"), Tree{}})},
                               {"e", Tree::string("\"\\\n\x01")}});
  EXPECT_EQ(print_json(tree),
            "{ \"a\": 1, \"b\": \"1\", \"c\": \"10ms\", \"d\": [true, -0.5, \"01\", null], \"e\": "
            "\"\\\"\\\\\\n\\u0001\" }\n");
}

}  // namespace
}  // namespace railyard::spec
