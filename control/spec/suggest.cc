#include "control/spec/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace railyard::spec {
namespace {

constexpr std::size_t kLongest = 64;  // nobody's key is longer, and the distance is quadratic

std::string folded(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Damerau and Levenshtein's distance, in its restricted form: no letter is edited twice.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view misspelt, std::span<const std::string> words) {
  if (misspelt.empty() || misspelt.size() > kLongest) return std::nullopt;
  const std::string wrong = folded(misspelt);
  std::optional<std::string> best;
  std::size_t least = wrong.size() + 1;
  for (const std::string& word : words) {
    const std::string right = folded(word);
    std::size_t far = distance(wrong, right);
    // Half a word is a word begun: "lat" means "latency".
    if (wrong.size() >= 3 && right.starts_with(wrong)) far = std::min<std::size_t>(far, 1);
    // A third of the letters at most.
    if (far < least && far <= std::max<std::size_t>(1, std::max(wrong.size(), right.size()) / 3)) {
      least = far;
      best = word;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view misspelt, std::span<const std::string> words) {
  const std::optional<std::string> word = nearest(misspelt, words);
  return word ? "; did you mean '" + *word + "'?" : std::string();
}

std::string meant_or_known(std::string_view misspelt, std::span<const std::string> words) {
  constexpr std::size_t kSome = 8;
  std::string text = did_you_mean(misspelt, words);
  if (!text.empty() || words.empty()) return text;
  text = words.size() == 1 ? "; expected " : "; expected one of ";
  for (std::size_t i = 0; i < std::min(words.size(), kSome); ++i) text += (i == 0 ? "" : ", ") + words[i];
  return words.size() > kSome ? text + " and " + std::to_string(words.size() - kSome) + " more" : text;
}

}  // namespace railyard::spec
