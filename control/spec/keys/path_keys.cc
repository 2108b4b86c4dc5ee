// The keys of a class's path selection, and its form: ecmp, or { policy: flowlet, gap: 50us }. All of it is made of the
// descriptors of the policies (dataplane/switch/path/policies.h).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/keys/keys.h"
#include "control/spec/reference.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::spec {
namespace {

using Kind = PathParameter::Kind;

std::vector<std::pair<std::string, PathPolicy>> policies() {
  std::vector<std::pair<std::string, PathPolicy>> words;
  for (const PathPolicyInfo& p : kPathPolicies) words.emplace_back(p.name, p.policy);
  return words;
}

const PathParameter* find(PathPolicy policy, std::string_view key) {
  const auto& all = info(policy).parameters;
  const auto found = std::ranges::find(all, key, &PathParameter::key);
  return found == all.end() ? nullptr : &*found;
}

// What a parameter must be for others to have a meaning: "global: true", "per: flowlet", "sample-every".
std::string said(const PathParameter& p) {
  if (p.kind == Kind::kYesNo) return fmt::format("{}: true", p.key);
  if (p.kind == Kind::kWord) return fmt::format("{}: {}", p.key, p.words[1]);
  return std::string(p.key);
}

// Whether a key has a meaning in `path`; in files it may stand elsewhere by mistake.
bool has_meaning(std::string_view key, const PathConfig& path) {
  const PathParameter* const p = find(path.policy, key);
  return p != nullptr && (p->needs.empty() || find(path.policy, p->needs)->read(path) != 0);
}

// "policy: flowlet, or policy: adaptive with per: flowlet"
std::string where_it_belongs(std::string_view key) {
  std::vector<std::string> places;
  for (const PathPolicyInfo& policy : kPathPolicies)
    if (const PathParameter* p = find(policy.policy, key))
      places.push_back(fmt::format("policy: {}{}", policy.name,
                                   p->needs.empty() ? "" : " with " + said(*find(policy.policy, p->needs))));
  return fmt::format("{}", fmt::join(places, ", or "));
}

// How a parameter is written, as the number that it is.
template <class T>
Form<std::int64_t> numbered(Form<T> form, std::function<std::int64_t(const T&)> in,
                            std::function<T(std::int64_t)> out) {
  return {[read = form.read, in](const Tree& tree) { return in(read(tree)); },
          [write = form.write, out](const std::int64_t& n) { return write(out(n)); }, form.schema};
}

Form<int> weight(std::int64_t most_shift) {
  return checked<int>(power_of_two(), [most_shift](int exponent) -> std::optional<std::string> {
    if (exponent <= 0) return std::nullopt;
    return fmt::format("{} is above 1; expected 1/{}..1", format_power_of_two(exponent), 1 << most_shift);
  });
}

Form<std::int64_t> form_of(const PathParameter& p) {
  const auto as_int = [](std::int64_t n) { return static_cast<int>(n); };
  const auto from_int = [](const int& n) { return std::int64_t{n}; };
  switch (p.kind) {
    case Kind::kDuration:
      return numbered<Duration>(
          duration(Duration{p.least}, Duration{p.most}), [](const Duration& d) { return d.ps; },
          [](std::int64_t n) { return Duration{n}; });
    case Kind::kNumber:
      return numbered<int>(integer(as_int(p.least), as_int(p.most)), from_int, as_int);
    case Kind::kYesNo:
      return numbered<bool>(
          boolean(), [](const bool& b) { return std::int64_t{b}; }, [](std::int64_t n) { return n != 0; });
    case Kind::kWeight:
      return numbered<int>(
          weight(p.most), [](const int& exponent) { return std::int64_t{-exponent}; },
          [](std::int64_t shift) { return static_cast<int>(-shift); });
    case Kind::kWord: {
      std::vector<std::pair<std::string, std::int64_t>> words;
      for (const std::string_view word : p.words) words.emplace_back(word, static_cast<std::int64_t>(words.size()));
      return choice<std::int64_t>(std::move(words));
    }
  }
  return {};
}

// "adaptive: ..."; a key of several policies has one meaning.
Key<PathSpec> key_of(const PathParameter& p) {
  const Form<std::int64_t> form = form_of(p);
  std::vector<std::string_view> names;
  for (const PathPolicyInfo& other : kPathPolicies)
    if (find(other.policy, p.key) != nullptr) names.push_back(other.name);
  return {std::string(p.key),
          fmt::format("{}: {}", fmt::join(names, ", "), p.help),
          [form, p](const Tree& tree, PathSpec& into) { p.write(into, form.read(tree)); },
          // What is off by default has no form of its own.
          [form, p](const PathSpec& from) {
            const std::int64_t n = p.read(from);
            return n < p.least ? Tree{} : form.write(n);
          },
          [p](const PathSpec& a, const PathSpec& b) { return p.read(a) == p.read(b); },
          form.schema};
}

std::vector<Key<PathSpec>> keys() {
  std::vector<std::string> meanings;
  for (const PathPolicyInfo& p : kPathPolicies) meanings.push_back(fmt::format("{}: {}", p.name, p.help));
  std::vector<Key<PathSpec>> all;
  all.push_back(key("policy", &PathSpec::policy, choice<PathPolicy>(policies()),
                    fmt::format("{}", fmt::join(meanings, "; ")))
                    .require());
  for (const PathPolicyInfo& policy : kPathPolicies)
    for (const PathParameter& p : policy.parameters)
      if (std::ranges::find(all, std::string(p.key), &Key<PathSpec>::name) == all.end())
        all.push_back(key_of(p));
  return all;
}

void check_path(const Tree& map, const PathSpec& path) {
  for (const Tree::Entry& entry : map.entries)
    if (entry.key != "policy" && !has_meaning(entry.key, path))
      entry.value.fail(fmt::format("does not apply here; expected {}", where_it_belongs(entry.key)));
}

}  // namespace

const Table<PathSpec>& path_keys() {
  static const Table<PathSpec> table{"path", "Path selection among equal-cost paths", keys(), check_path};
  return table;
}

Form<PathSpec> path_form() {
  const Form<PathPolicy> word = choice<PathPolicy>(policies());
  std::vector<std::string_view> names;
  for (const PathPolicyInfo& p : kPathPolicies) names.push_back(p.name);
  return {[word, names](const Tree& tree) {
            PathSpec path;
            if (tree.kind == Tree::Kind::kMap)
              path_keys().read(tree, path);
            else if (tree.kind == Tree::Kind::kScalar)
              path.policy = word.read(tree);
            else
              tree.fail(fmt::format("found {}; expected {}, or a map such as {{ policy: flowlet, gap: 50us }}",
                                    tree.described(), fmt::join(names, ", ")));
            return path;
          },
          [word](const PathSpec& path) {
            PathSpec plain;
            plain.policy = path.policy;
            return path == plain ? word.write(path.policy) : path_keys().write(path);
          },
          any_of_schemas({word.schema, reference(path_keys().name())})};
}

std::string path_reference() {
  std::string text;
  for (const PathPolicyInfo& policy : kPathPolicies) {
    text += reference_line(fmt::format("path: {}", policy.name), std::string(policy.help));
    for (const PathParameter& p : policy.parameters) {
      const std::int64_t usual = std::max(p.read(PathConfig{}), p.least);
      const std::string needs = p.needs.empty() ? "" : "with " + said(*find(policy.policy, p.needs)) + ": ";
      text += reference_line(fmt::format("  {}: {}", p.key, form_of(p).write(usual).text), needs + std::string(p.help));
    }
  }
  return text;
}

}  // namespace railyard::spec
