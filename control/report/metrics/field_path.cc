#include "control/report/metrics/field_path.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::report {
namespace {

constexpr std::pair<std::string_view, Unit> kUnits[] = {
    {"ns", Unit::kNanoseconds}, {"bit/s", Unit::kBitsPerSecond}, {"bytes", Unit::kBytes}, {"s", Unit::kSeconds},
    {"0..1", Unit::kShare},     {"1/n..1", Unit::kShare},        {"ratio", Unit::kRatio}};

// Nothing: it is no number.
std::optional<Unit> unit_of(const Field& field, std::string_view part) {
  if (field.unit == "text" || field.unit == "list") return std::nullopt;
  if (part == "count" || part == "samples" || part == "packets") return Unit::kCount;
  if (part == "bytes") return Unit::kBytes;
  const auto known = std::ranges::find(kUnits, field.unit, &std::pair<std::string_view, Unit>::first);
  return known == std::end(kUnits) ? Unit::kCount : known->second;
}

bool has_part(std::string_view parts, std::string_view part) {
  while (!parts.empty()) {
    const std::size_t blank = std::min(parts.find(' '), parts.size());
    if (parts.substr(0, blank) == part) return true;
    parts.remove_prefix(std::min(blank + 1, parts.size()));
  }
  return false;
}

// Of "p50" in "goodput_bps.*", of "too_big" in "drops.*".
bool matches(const Field& field, std::string_view name, std::string_view& part) {
  part = {};
  if (!field.name.ends_with(".*") || field.name.contains('[')) return field.name == name;
  const std::string_view head = field.name.substr(0, field.name.size() - 1);
  if (!name.starts_with(head) || name.size() == head.size()) return false;
  part = name.substr(head.size());
  return field.parts.empty() || has_part(field.parts, part);
}

const FieldList* list_of(std::string_view path) {
  const auto all = report_fields();
  const auto found = std::ranges::find(all, path, &FieldList::path);
  return found == all.end() ? nullptr : &*found;
}

struct Found {
  std::optional<Unit> unit;
};

// `name` below an element of `list`, or below an object in it.
std::optional<Found> field_of(const FieldList& list, std::string_view name) {
  std::string_view part;
  for (const Field& f : list.fields)
    if (matches(f, name, part)) return Found{unit_of(f, part)};
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  const FieldList* below = list_of(fmt::format("{}.{}", list.path, name.substr(0, dot)));
  return below == nullptr ? std::nullopt : field_of(*below, name.substr(dot + 1));
}

// All names below, for suggestions.
void add_names(const FieldList& list, const std::string& before, std::vector<std::string>& out) {
  for (const Field& f : list.fields) {
    if (f.name.contains('[') || !unit_of(f, "")) continue;
    if (!f.name.ends_with(".*")) {
      out.push_back(before + std::string(f.name));
      continue;
    }
    const std::string head = before + std::string(f.name.substr(0, f.name.size() - 1));
    for (std::string_view parts = f.parts; !parts.empty();) {
      const std::size_t blank = std::min(parts.find(' '), parts.size());
      out.push_back(head + std::string(parts.substr(0, blank)));
      parts.remove_prefix(std::min(blank + 1, parts.size()));
    }
  }
  for (const FieldList& below : report_fields())
    if (below.path.starts_with(fmt::format("{}.", list.path)) && !below.path.ends_with("[]"))
      add_names(below, before + std::string(below.path.substr(list.path.size() + 1)) + ".", out);
}

// Where a number is found: at the end of the name, behind the element's.
std::string no_field(const FieldList& list, std::string_view rest, std::string_view what) {
  std::vector<std::string> known;
  add_names(list, "", known);
  if (!list.name.empty()) {
    const std::size_t dot = rest.rfind('.');
    if (dot == rest.npos)
      return fmt::format("{} has no field; expected {}.NAME.FIELD, such as {}.{}.{}", what, what, what, rest,
                         known.front());
    // Of "a.b.goodput_bps.p5" the field may be the last word or the last two.
    const std::size_t before = dot == 0 ? rest.npos : rest.rfind('.', dot - 1);
    std::string_view field = rest.substr(dot + 1);
    if (before != rest.npos && !spec::did_you_mean(std::string(rest.substr(before + 1)), known).empty())
      field = rest.substr(before + 1);
    return fmt::format("there is no field '{}' in {}{}", field, what, spec::meant_or_known(std::string(field), known));
  }
  return fmt::format("there is no field '{}' in {}{}", rest, what, spec::meant_or_known(std::string(rest), known));
}

}  // namespace

std::expected<FieldPath, std::string> find_field(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return std::unexpected(fmt::format("'{}': expected LIST.NAME.FIELD", name));
  const std::string head(name.substr(0, dot));
  const std::string_view rest = name.substr(dot + 1);
  const FieldList* const object = list_of(head);
  const FieldList* const list = list_of(head + "[]");
  const auto no_number = [&] { return std::unexpected(fmt::format("{} is not a number", name)); };
  if (object != nullptr) {
    const auto found = field_of(*object, rest);
    if (!found) return std::unexpected(no_field(*object, rest, head));
    if (!found->unit) return no_number();
    return FieldPath{head, "", *found->unit};
  }
  if (list == nullptr || list->name.empty()) {
    std::vector<std::string> heads;
    for (const FieldList& l : report_fields())
      if (l.path.ends_with("[]") ? !l.name.empty() && !l.path.contains('.') : !l.path.contains('.'))
        heads.emplace_back(l.path.substr(0, l.path.find('[')));
    return std::unexpected(fmt::format("there is no '{}' in reports{}", head, spec::meant_or_known(head, heads)));
  }
  // Names of elements may have dots of their own.
  for (std::size_t end = rest.find('.'); end != rest.npos; end = rest.find('.', end + 1)) {
    const auto found = field_of(*list, rest.substr(end + 1));
    if (!found) continue;
    if (!found->unit) return no_number();
    return FieldPath{head, std::string(rest.substr(0, end)), *found->unit};
  }
  return std::unexpected(no_field(*list, rest, head));
}

namespace {

std::vector<std::string> tokens_of(std::string_view pointer) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    std::string& token = tokens.emplace_back();
    for (std::size_t i = at + 1; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
      token += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    at = end;
  }
  return tokens;
}

bool is_index(std::string_view token) {
  return !token.empty() && token.find_first_not_of("0123456789") == token.npos;
}

const Field* field_named(const FieldList& list, std::string_view name) {
  const auto is = [&](const Field& f) {
    return f.name == name || f.name == "*" || f.name == fmt::format("{}.*", name) || f.name == fmt::format("{}[].*", name);
  };
  const auto found = std::ranges::find_if(list.fields, is);
  return found == list.fields.end() ? nullptr : &*found;
}

}  // namespace

std::string problem_of_pointer(std::string_view pointer) {
  const std::vector<std::string> tokens = tokens_of(pointer);
  const std::string no_number = fmt::format("{} is no number", pointer);
  if (tokens.empty()) return no_number;
  if (tokens[0] == "summary") {
    if (tokens.size() == 1) return no_number;
    std::vector<std::string> names;
    for (const Metric& m : run_metrics()) names.emplace_back(m.name);
    return std::ranges::find(names, tokens[1]) != names.end()
               ? std::string()
               : fmt::format("there is no field '{}' in summary{}", tokens[1], spec::meant_or_known(tokens[1], names));
  }
  std::string path, what;
  const FieldList* list = nullptr;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string below = path.empty() ? tokens[i] : fmt::format("{}.{}", path, tokens[i]);
    const bool in_list = list_of(below + "[]") != nullptr;
    if (in_list || list_of(below) != nullptr) {
      path = in_list ? below + "[]" : below;
      list = list_of(path);
      what = what.empty() ? tokens[i] : fmt::format("{}.{}", what, tokens[i]);
      if (!in_list || i + 1 == tokens.size()) continue;
      if (!is_index(tokens[++i])) return fmt::format("{0} is a list; expected /{0}/NUMBER/FIELD", what);
      continue;
    }
    if (list == nullptr) {
      std::vector<std::string> heads{"summary"};
      for (const FieldList& l : report_fields())
        if (!l.path.contains('.')) heads.emplace_back(l.path.substr(0, l.path.find('[')));
      return fmt::format("there is no '{}' in reports{}", tokens[i], spec::meant_or_known(tokens[i], heads));
    }
    const Field* field = field_named(*list, tokens[i]);
    if (field == nullptr) {
      std::vector<std::string> known;
      add_names(*list, "", known);
      return fmt::format("there is no field '{}' in {}{}", tokens[i], what, spec::meant_or_known(tokens[i], known));
    }
    // What the registry does not list, such as the points of a distribution, is not looked into.
    if (i + 1 == tokens.size()) return field->unit == "text" || field->unit == "list" ? no_number : std::string();
    if (field->name.ends_with(".*") && i + 2 == tokens.size() && !field->parts.empty() &&
        !has_part(field->parts, tokens[i + 1])) {
      const std::string name = fmt::format("{}.{}", tokens[i], tokens[i + 1]);
      std::vector<std::string> known;
      add_names(*list, "", known);
      return fmt::format("there is no field '{}' in {}{}", name, what, spec::meant_or_known(name, known));
    }
    return {};
  }
  return no_number;
}

}  // namespace railyard::report
