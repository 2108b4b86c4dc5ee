// The keys of a fault: where, when, which frames, and exactly one that says what.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "control/spec/fault_match.h"
#include "control/spec/fault_place.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

// A value that is text in the file and something else behind it.
template <class T>
Form<T> text_form(std::string expected, Parsed<T> (*parse)(std::string_view), std::string pattern) {
  return {[=](const Tree& tree) {
            auto value = parse(tree.as_text(expected));
            if (!value) tree.fail(value.error());
            return *value;
          },
          [](const T& value) { return Tree::string(format(value)); },
          Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string(std::move(pattern))}})};
}

// The key of one kind of fault, or of several that share it: which of these is meant shows in the value.
Key<FaultSpec> action(std::vector<const FaultKind*> kinds) {
  const std::string name = kinds.front()->key;
  const auto meant = [kinds](const Tree& value) {
    for (const FaultKind* kind : kinds)
      if (kind->is_meant_by && kind->is_meant_by(value)) return kind;
    return kinds.front();
  };
  const auto is_one = [kinds](const FaultSpec& f) {
    return !std::holds_alternative<std::monostate>(f.action) &&
           std::ranges::count(kinds, &fault_kind(f.action)) != 0;
  };
  std::vector<Tree> schemas;
  for (const FaultKind* kind : kinds) schemas.push_back(kind->schema);
  Key<FaultSpec> made{name,
                      kinds.front()->help,
                      [=](const Tree& value, FaultSpec& into) {
                        if (!std::holds_alternative<std::monostate>(into.action))
                          value.fail(fmt::format(
                              "a fault has one kind, and this one already has {}; expected another fault for {}",
                              word(into.action), name));
                        into.action = meant(value)->read(value);
                      },
                      [=](const FaultSpec& from) {
                        return is_one(from) ? fault_kind(from.action).write(from.action) : Tree{};
                      },
                      [=](const FaultSpec& a, const FaultSpec& b) {
                        return is_one(a) || is_one(b) ? a.action == b.action : true;
                      },
                      schemas.size() == 1 ? schemas[0] : any_of_schemas(schemas)};
  made.old_names = kinds.front()->old_keys;
  return std::move(made).without_default();
}

std::vector<Key<FaultSpec>> actions() {
  std::vector<Key<FaultSpec>> keys;
  for (const std::string& word : fault_words()) {
    std::vector<const FaultKind*> kinds;
    for (const FaultKind& kind : fault_kinds())
      if (kind.key == word) kinds.push_back(&kind);
    keys.push_back(action(kinds));
  }
  return keys;
}

Key<FaultSpec> match() {
  Tree properties = Tree::map();
  const Tree value = Tree::map({{"type", Tree::list({Tree::string("string"), Tree::string("integer")})}});
  for (const std::string& w : match_words()) properties.add(w, value);
  properties.add("nth", Tree::map({{"type", Tree::string("integer")}, {"minimum", Tree::plain("1")}}));
  properties.spread = true;
  return {"match",
          "only frames with these header fields, of this size or of this flow; nth: only the n-th of them",
          [](const Tree& tree, FaultSpec& into) {
            for (const Tree::Entry& e : tree.as_map("a map of header fields, such as { bth.opcode: 0x0a }")) {
              if (e.key == "nth") {
                into.nth = static_cast<std::uint64_t>(integer(1, 1'000'000'000).read(e.value));
                continue;
              }
              const MatchTerm term{e.key, e.value.as_text("a number or an address")};
              if (const Parsed<void> good = check_match_term(term); !good) fail_at(e.place, tree.path, good.error());
              into.match.push_back(term);
            }
          },
          [](const FaultSpec& from) {
            Tree map = Tree::map();
            for (const MatchTerm& t : from.match) map.add(t.field, Tree::string(t.value));
            if (from.nth != 0) map.add("nth", Tree::plain(std::to_string(from.nth)));
            return map;
          },
          [](const FaultSpec& a, const FaultSpec& b) { return a.match == b.match && a.nth == b.nth; },
          Tree::map({{"type", Tree::string("object")},
                     {"properties", std::move(properties)},
                     {"additionalProperties", Tree::plain("false")}})};
}

Form<std::uint64_t> count() {
  const Form<int> form = integer(1, 1'000'000'000);
  return {[=](const Tree& tree) { return static_cast<std::uint64_t>(form.read(tree)); },
          [=](const std::uint64_t& n) { return n == 0 ? Tree{} : form.write(static_cast<int>(n)); }, form.schema};
}

// What two of the keys of one fault must agree on.
void check_fault_keys(const Tree& map, const FaultSpec& f) {
  const auto refuse = [&](const char* key, const std::string& why) { map.at_or_self(key).fail(why); };
  if (std::holds_alternative<std::monostate>(f.action))
    map.fail("has no kind of fault; expected one of loss, down, delay, ... (topologies/explicit.yaml has them all)");
  const FaultKind& kind = fault_kind(f.action);
  const std::string& what = kind.key;
  if (f.at && f.after) refuse("after", "found with at; expected one of the two");
  if (f.when && (f.at || f.every)) refuse(f.at ? "at" : "every", "found with when; expected one of the two");
  if (f.when && kind.own_times)
    refuse("when", fmt::format("does not apply to {}, which has its own times; expected none, or down with for", what));
  if (f.every && kind.own_times)
    refuse("every", fmt::format("does not apply to {}, which has down and up times; expected none", what));
  if (f.every && !f.lasts) refuse("every", "needs for, the duration of each occurrence");
  if (f.every && *f.lasts >= *f.every)
    refuse("for", fmt::format("{} is not below every ({}); expected an end before the next start", format(*f.lasts),
                              format(*f.every)));
  if (!kind.on_frames && f.count != 0 && !f.every && !kind.own_times && !f.when)
    refuse("count", fmt::format("{} happens once; expected every with it", what));
  if (!kind.on_frames && (!f.match.empty() || f.nth != 0))
    refuse("match", fmt::format("{} does not select frames; expected none", what));
  if (kind.check) kind.check(map, f);
}

std::vector<Key<FaultSpec>> all_keys() {
  static const std::string kPlace = "^(rail [1-8]|[A-Za-z0-9_*?-]+(:[1-9][0-9]{0,3})?(/[0-7])?)( in| out)?$";
  static const std::string kState = "^queue [A-Za-z0-9_-]+:[1-9][0-9]{0,3}/[0-7] (depth|paused) > .+$";
  std::vector<Key<FaultSpec>> keys{
key("name", &FaultSpec::name, name_form(),
           "name in reports and the log; default: the kind and a number")
           .show()
           .without_default(),
       key("on", &FaultSpec::on, one_or_list_of(text_form<FaultPlace>("a place", parse_fault_place, kPlace)),
           "where: leaf1, spine*, leaf1:3 (also the link there), leaf1:3 out (that direction), leaf1:3/5 (class 5 "
           "there), rail 2")
           .require(),
       key("at", &FaultSpec::at, duration({}, kAnyTime), "start time, from the start of the run"),
       key("after", &FaultSpec::after, duration({}, kAnyTime),
           "delay before it starts, after it was added or `when` came true"),
       key("every", &FaultSpec::every, duration(Duration{1}, kAnyTime), "interval between repeated starts"),
       key("for", &FaultSpec::lasts, duration(Duration{1}, kAnyTime), "duration; default: until the end of the run"),
       key("count", &FaultSpec::count, count(),
           "with every, flap or when: number of occurrences; else number of frames affected")
           .without_default(),
       key("probability", &FaultSpec::probability, probability(),
           "probability for each matching frame; for faults that do not act on frames, for each occurrence"),
       match(),
       key("when", &FaultSpec::when, text_form<FaultTrigger>("a state", parse_fault_trigger, kState),
           "start when a queue is deeper than this, or has been paused for longer")};
  for (Key<FaultSpec>& key : actions()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace

const Table<FaultSpec>& fault_keys() {
  static const Table<FaultSpec> table{"fault", "One fault: a kind, a place and a time",
                                      all_keys(), check_fault_keys};
  return table;
}

}  // namespace railyard::spec
