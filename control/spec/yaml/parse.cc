#include "control/spec/yaml/parse.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "control/spec/spec_error.h"

namespace railyard::spec {
namespace {

// Far beyond any fabric file; what keeps aliases of aliases from filling the memory.
constexpr std::size_t kMostParts = 2'000'000;
constexpr std::size_t kDeepest = 64;

// The lines of a text, to look at what the library does not tell.
class Source {
 public:
  Source(const std::string& text, std::string file) : text_(text), file_(std::move(file)), lines_{0} {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
  }

  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  Place place(std::size_t offset) const {
    std::size_t line = 0;
    while (line + 1 < lines_.size() && lines_[line + 1] <= offset) ++line;
    return {file_, static_cast<int>(line) + 1, static_cast<int>(offset - lines_[line]) + 1};
  }

  // The library reads one to the end of the file and says nothing.
  bool has_open_quote(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(mark.line);
    const std::size_t begin =
        line < lines_.size() ? lines_[line] + static_cast<std::size_t>(mark.column) : text_.size();
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return false;
    const char quote = text_[begin];
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        if (quote == '"' || i + 1 == text_.size() || text_[i + 1] != quote) return false;
        ++i;
      }
    }
    return true;
  }

 private:
  const std::string& text_;
  std::string file_;
  std::vector<std::size_t> lines_;
};

// Builds the tree from the library's events.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  Tree take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "a second document begins here; expected one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(mark, anchor, Tree{}); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    if (tag == "!" && source_.has_open_quote(mark)) fail(mark, "the quote that opens here is never closed");
    Tree scalar = Tree::plain(value);
    scalar.is_string = tag == "!";
    put(mark, anchor, std::move(scalar));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto original = anchors_.find(anchor);
    if (original == anchors_.end()) fail(mark, "an alias inside its own anchor");
    count(mark, original->second.parts);
    if (open_.size() + original->second.depth > kDeepest) fail(mark, "nested too deeply");
    deepen(original->second.depth);
    put(mark, 0, original->second.tree);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Tree::list({}));
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Tree::map());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Tree tree;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::size_t parts_before = 0;
    std::size_t depth = 0;    // of what is inside
    bool key_is_next = true;  // map
  };
  struct Anchored {
    Tree tree;
    std::size_t parts = 0;
    std::size_t depth = 0;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    fail_at(source_.place(mark), "", what);
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!" && !tag.starts_with("tag:yaml.org,2002:"))
      fail(mark, fmt::format("unknown tag '{}'; expected none", tag));
  }

  void count(const YAML::Mark& mark, std::size_t parts) {
    parts_ += parts;
    if (parts_ > kMostParts) fail(mark, fmt::format("more than {} values", kMostParts));
  }

  void deepen(std::size_t depth) {
    if (!open_.empty()) open_.back().depth = std::max(open_.back().depth, depth);
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Tree tree) {
    refuse_tag(mark, tag);
    if (open_.size() == kDeepest) fail(mark, "nested too deeply");
    if (!open_.empty() && open_.back().tree.kind == Tree::Kind::kMap && open_.back().key_is_next)
      fail(mark, fmt::format("{} where a key was expected", tree.described()));
    open_.push_back(Open{std::move(tree), mark, anchor, parts_});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    deepen(done.depth + 1);
    put(done.mark, 0, std::move(done.tree));
    if (done.anchor != 0) remember(done.anchor, parts_ - done.parts_before, done.depth + 1);
  }

  // Keeps a copy of what was put last.
  void remember(YAML::anchor_t anchor, std::size_t parts, std::size_t depth) {
    anchors_[anchor] = {*last_, parts, depth};
  }

  void put(const YAML::Mark& mark, YAML::anchor_t anchor, Tree value) {
    count(mark, 1);
    if (value.place.line == 0) value.place = source_.place(mark);
    if (open_.empty()) {
      root_ = std::move(value);
      last_ = &root_;
    } else if (Tree& into = open_.back().tree; into.kind == Tree::Kind::kList) {
      last_ = &into.items.emplace_back(std::move(value));
    } else if (std::exchange(open_.back().key_is_next, !open_.back().key_is_next)) {
      if (value.kind != Tree::Kind::kScalar) fail(mark, fmt::format("{} where a key was expected", value.described()));
      into.entries.push_back({value.text, Tree{}, source_.place(mark)});
      key_ = std::move(value);
      last_ = &key_;
    } else {
      into.entries.back().value = std::move(value);
      last_ = &into.entries.back().value;
    }
    if (anchor != 0) remember(anchor, 1, 0);
  }

  const Source& source_;
  Tree root_;
  Tree key_;
  Tree* last_ = nullptr;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t parts_ = 0;
  int documents_ = 0;
};

// What usually lies behind the library's words.
std::string_view hint(std::string_view message) {
  if (message == YAML::ErrorMsg::ALIAS_NOT_FOUND) return " (a single '*' needs quotes: \"*\")";
  if (message == YAML::ErrorMsg::MAP_VALUE) return " (unexpected ':': is the line indented like its neighbours?)";
  if (message == YAML::ErrorMsg::END_OF_MAP_FLOW) return " (a '}' or ',' is missing at or before this place)";
  if (message == YAML::ErrorMsg::END_OF_SEQ_FLOW) return " (a ']' or ',' is missing at or before this place)";
  if (message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ)
    return " (is the line indented like its neighbours?)";
  if (message == YAML::ErrorMsg::UNKNOWN_TOKEN) return " (text that begins with '%', '@' or '`' needs quotes)";
  if (message == YAML::ErrorMsg::BLOCK_ENTRY) return " (is there a tab, or a '- ' on the line of its key?)";
  return "";
}

void refuse_control_characters(const std::string& text, const Source& source) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      fail_at(source.place(i), "", fmt::format("control character 0x{:02x}; expected UTF-8 text", c));
  }
}

// Looks at nothing: what the library itself has to say is all.
class SyntaxOnly final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// No more than a file may have, and one for the handler to refuse: behind a bracket that closes nothing the library
// finds empty documents without end.
void parse_documents(const std::string& yaml, YAML::EventHandler& handler, const Source& source) {
  constexpr int kDocuments = 2;
  try {
    std::istringstream in(yaml);
    YAML::Parser parser(in);
    for (int i = 0; i < kDocuments && parser.HandleNextDocument(handler); ++i) {
    }
  } catch (const YAML::Exception& e) {
    fail_at(source.place(e.mark), "", fmt::format("not YAML: {}{}", e.msg, hint(e.msg)));
  }
}

}  // namespace

Tree parse_yaml(const std::string& text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string yaml = text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
  const Source source(yaml, file);
  refuse_control_characters(yaml, source);
  Builder builder(source);
  try {
    parse_documents(yaml, builder, source);
  } catch (const SpecError&) {
    // What is wrong with the structure may come of a syntax error further on (an open bracket reads as a key).
    SyntaxOnly syntax;
    parse_documents(yaml, syntax, source);
    throw;
  }
  Tree tree = builder.take();
  if (tree.place.file.empty()) tree.place = {file, 1, 1};  // there is nothing in it, which is missing somewhere
  return tree;
}

}  // namespace railyard::spec
