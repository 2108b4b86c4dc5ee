#include "control/base/short_quote.h"

#include <string>

#include <gtest/gtest.h>

namespace railyard {
namespace {

TEST(ShortQuote, LeavesWhatIsShort) {
  for (const std::string text : {"", "run.seed: 'x' is not a seed; expected a whole number below 2^64"})
    EXPECT_EQ(with_short_quotes(text), text);
}

TEST(ShortQuote, CutsALongWord) {
  EXPECT_EQ(with_short_quotes("seed: " + std::string(1000, '7') + " is too large"),
            "seed: " + std::string(60, '7') + "... (940 more) is too large");
}

TEST(ShortQuote, LeavesPathsOfFiles) {
  const std::string path = "/" + std::string(300, 'd') + "/lab.yaml";
  EXPECT_EQ(with_short_quotes(path + ": cannot be read"), path + ": cannot be read");
  EXPECT_EQ(with_short_quotes(std::string(100'000, '/')), std::string(60, '/') + "... (99940 more)");
}

TEST(ShortQuote, CutsALongQuotationWithBlanks) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "ab ";
  EXPECT_EQ(with_short_quotes("name: '" + text + "' is not a name"),
            "name: '" + text.substr(0, 60) + "... (240 more)' is not a name");
}

TEST(ShortQuote, CutsBetweenCharacters) {
  std::string text(59, 'a');
  for (int i = 0; i < 100; ++i) text += "\u00e9";
  EXPECT_EQ(with_short_quotes(text), std::string(59, 'a') + "... (200 more)");
}

TEST(ShortQuote, CutsAMessageOfManyWords) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "ab ";
  const std::string cut = with_short_quotes(text);
  EXPECT_EQ(cut, text.substr(0, 2000) + "... (298000 more)");
}

TEST(ShortQuote, SpellsOutControlCharacters) { EXPECT_EQ(printable("a\nb\x1b[2J\x7f"), "a\\nb\\x1b[2J\\x7f"); }

}  // namespace
}  // namespace railyard
