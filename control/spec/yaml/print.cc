#include "control/spec/yaml/print.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

constexpr std::size_t kWidth = 120;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        // JSON and YAML both know \uXXXX.
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out += '"';
}

constexpr bool is_alnum(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether YAML reads `text` as this very text without quotes, inside braces too.
bool is_plain(std::string_view text) {
  const auto fits = [](char c) {
    return is_alnum(c) || std::string_view("_-./:%*+=~ ").find(c) != std::string_view::npos;
  };
  return !text.empty() && (is_alnum(text[0]) || text[0] == '/' || text[0] == '_' || text[0] == '.') &&
         text.back() != ' ' && text.back() != ':' && std::ranges::all_of(text, fits) && text.find(": ") == text.npos &&
         !text.starts_with("..");
}

// Whether some reader takes the plain `text` for something that is not a string.
bool looks_typed(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::string_view word : {"null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"})
    if (lower == word) return true;
  return (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
}

std::string yaml_scalar(const Tree& tree) {
  if (tree.kind == Tree::Kind::kNothing) return "null";
  const bool bare = is_plain(tree.text) && !(tree.is_string && looks_typed(tree.text)) && tree.text != "null" &&
                    tree.text != "Null" && tree.text != "NULL";
  return bare ? tree.text : quoted(tree.text);
}

std::string yaml_key(const std::string& key) { return yaml_scalar(Tree::plain(key)); }

bool is_container(const Tree& tree) { return tree.kind == Tree::Kind::kList || tree.kind == Tree::Kind::kMap; }
bool is_empty(const Tree& tree) { return tree.items.empty() && tree.entries.empty(); }

bool may_flow(const Tree& tree) {
  if (tree.spread && !is_empty(tree)) return false;
  return std::ranges::all_of(tree.items, may_flow) &&
         std::ranges::all_of(tree.entries, [](const Tree::Entry& e) { return may_flow(e.value); });
}

template <class Scalar, class Key>
std::string flow(const Tree& tree, const Scalar& scalar, const Key& key) {
  std::string out;
  if (tree.kind == Tree::Kind::kList) {
    for (const Tree& item : tree.items) out += (out.empty() ? "" : ", ") + flow(item, scalar, key);
    return "[" + out + "]";
  }
  if (tree.kind == Tree::Kind::kMap) {
    for (const Tree::Entry& e : tree.entries)
      out += (out.empty() ? "" : ", ") + key(e.key) + ": " + flow(e.value, scalar, key);
    return out.empty() ? "{}" : "{ " + out + " }";
  }
  return scalar(tree);
}

std::string yaml_flow(const Tree& tree) { return flow(tree, yaml_scalar, yaml_key); }

void yaml_block(const Tree& tree, std::size_t indent, std::string& out);

// What follows "key:" or "-", which end at column `used`.
void yaml_value(const Tree& tree, std::size_t indent, std::size_t used, std::string& out) {
  if (!is_container(tree) || is_empty(tree)) {
    out += ' ' + yaml_flow(tree) + '\n';
    return;
  }
  if (may_flow(tree)) {
    const std::string text = yaml_flow(tree);
    if (used + 1 + text.size() <= kWidth) {
      out += ' ' + text + '\n';
      return;
    }
  }
  out += '\n';
  yaml_block(tree, indent, out);
}

void yaml_block(const Tree& tree, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const Tree::Entry& e : tree.entries) {
    const std::string key = margin + yaml_key(e.key) + ':';
    out += key;
    yaml_value(e.value, indent + 2, key.size(), out);
  }
  for (const Tree& item : tree.items) {
    out += margin + '-';
    if (is_container(item) && !is_empty(item) && (!may_flow(item) || indent + 2 + yaml_flow(item).size() > kWidth)) {
      // "- key: value": the first line of the item goes beside the dash.
      std::string inner;
      yaml_block(item, indent + 2, inner);
      out += ' ' + inner.substr(indent + 2);
    } else {
      yaml_value(item, indent + 2, indent + 1, out);
    }
  }
}

// true, false or a number without leading zeros or exponent.
bool is_json_literal(std::string_view text) {
  if (text == "true" || text == "false") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto digits = [](std::string_view t) {
    return !t.empty() && std::ranges::all_of(t, [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::string_view integer = text.substr(0, text.find('.'));
  const bool fraction_fits = integer.size() == text.size() || digits(text.substr(integer.size() + 1));
  return digits(integer) && (integer == "0" || integer[0] != '0') && fraction_fits;
}

std::string json_scalar(const Tree& tree) {
  if (tree.kind == Tree::Kind::kNothing) return "null";
  return !tree.is_string && is_json_literal(tree.text) ? tree.text : quoted(tree.text);
}

void json_value(const Tree& tree, std::size_t indent, std::size_t used, std::string& out) {
  if (may_flow(tree)) {
    const std::string text = flow(tree, json_scalar, quoted);
    if (!is_container(tree) || used + text.size() < kWidth) {  // a comma may follow
      out += text;
      return;
    }
  }
  const bool is_list = tree.kind == Tree::Kind::kList;
  const std::string margin(indent + 2, ' ');
  out += is_list ? "[\n" : "{\n";
  bool first = true;
  for (const Tree& item : tree.items) {
    out += (first ? "" : ",\n") + margin;
    json_value(item, indent + 2, indent + 2, out);
    first = false;
  }
  for (const Tree::Entry& e : tree.entries) {
    const std::string key = margin + quoted(e.key) + ": ";
    out += (first ? "" : ",\n") + key;
    json_value(e.value, indent + 2, key.size(), out);
    first = false;
  }
  out += '\n' + std::string(indent, ' ') + (is_list ? ']' : '}');
}

}  // namespace

std::string print_yaml(const Tree& tree) {
  if (!is_container(tree) || is_empty(tree)) return yaml_flow(tree) + '\n';
  std::string out;
  yaml_block(tree, 0, out);
  return out;
}

std::string print_yaml_line(const Tree& tree) { return yaml_flow(tree); }

std::string print_json(const Tree& tree) {
  std::string out;
  json_value(tree, 0, 0, out);
  return out + '\n';
}

}  // namespace railyard::spec
