#include "tests/control/picture/well_formed.h"

#include <cctype>
#include <cstddef>
#include <string_view>

namespace railyard::picture {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Document read() {
    while (doc_.error.empty() && at_ < text_.size()) {
      if (text_[at_] == '<')
        tag();
      else
        content(text_.find('<', at_));
    }
    if (doc_.error.empty() && !open_.empty()) fail(doc_.elements[open_.back()].name + " is not closed");
    if (doc_.error.empty() && doc_.elements.empty()) fail("there is no element");
    return doc_;
  }

 private:
  void fail(const std::string& what) { doc_.error = what + " at " + std::to_string(at_); }

  bool entities_are_known(std::string_view text) const {
    for (std::size_t i = text.find('&'); i != text.npos; i = text.find('&', i + 1)) {
      bool known = false;
      for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
        known = known || text.substr(i).starts_with(entity);
      if (!known) return false;
    }
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') return false;
    return true;
  }

  void content(std::size_t end) {
    const std::string piece = text_.substr(at_, end == text_.npos ? end : end - at_);
    if (!entities_are_known(piece)) return fail("a bare & or a control character");
    if (!open_.empty())
      doc_.elements[open_.back()].text += piece;
    else if (piece.find_first_not_of(" \n") != piece.npos)
      return fail("text outside of the root");
    at_ = end == text_.npos ? text_.size() : end;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void tag() {
    ++at_;
    if (text_[at_] == '/') {
      ++at_;
      const std::string closed = name();
      if (open_.empty() || doc_.elements[open_.back()].name != closed) return fail("</" + closed + "> closes nothing");
      open_.pop_back();
      if (text_[at_++] != '>') fail("no > after a name");
      return;
    }
    if (open_.empty() && !doc_.elements.empty()) return fail("a second root");
    Element e;
    e.name = name();
    e.depth = open_.size();
    if (e.name.empty()) return fail("a tag without a name");
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      const std::string key = name();
      if (key.empty() || text_.substr(at_, 2) != "=\"") return fail("an attribute without a value");
      at_ += 2;
      const std::size_t end = text_.find('"', at_);
      if (end == text_.npos) return fail("an open attribute");
      const std::string value = text_.substr(at_, end - at_);
      if (value.find('<') != value.npos || !entities_are_known(value)) return fail("an attribute that is not escaped");
      if (!e.attributes.emplace(key, value).second) return fail("attribute " + key + " twice");
      at_ = end + 1;
    }
    const bool is_empty = text_.substr(at_, 2) == "/>";
    if (!is_empty && text_[at_] != '>') return fail("an open tag");
    at_ += is_empty ? 2 : 1;
    if (!is_empty) open_.push_back(doc_.elements.size());
    doc_.elements.push_back(std::move(e));
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  Document doc_;
};

}  // namespace

Document read_xml(const std::string& text) { return Reader(text).read(); }

}  // namespace railyard::picture
