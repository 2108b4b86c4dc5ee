// Tables of keys: one line per key of a map of the fabric file drives how it is read, written, checked for misspelling
// and described to editors.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/spec/keys/definitions.h"
#include "control/spec/keys/form.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// While one of these lives, tables of this thread write defaults, too.
class WithDefaults {
 public:
  WithDefaults() noexcept : before_(std::exchange(in_force_, true)) {}
  ~WithDefaults() { in_force_ = before_; }
  WithDefaults(const WithDefaults&) = delete;
  WithDefaults& operator=(const WithDefaults&) = delete;

  static bool in_force() noexcept { return in_force_; }

 private:
  static inline thread_local bool in_force_ = false;
  bool before_;
};

// One key of a map that says a T.
template <class T>
struct Key {
  std::string name;
  std::string description;
  std::function<void(const Tree& value, T& into)> read;
  std::function<Tree(const T& from)> write;          // nothing: there is nothing to say
  std::function<bool(const T& a, const T& b)> same;  // as far as this key goes
  Tree schema;
  bool required = false;
  bool shown = false;       // written even if it is the default
  bool has_default = true;  // that editors may be told
  std::vector<std::string> old_names = {};  // still read, each with a warning

  // The key was called `name` before: alias("least-frame"). For one release.
  Key alias(std::string old_name) && {
    old_names.push_back(std::move(old_name));
    return std::move(*this);
  }

  Key require() && {
    required = shown = true;
    return std::move(*this);
  }
  Key show() && {
    shown = true;
    return std::move(*this);
  }
  Key without_default() && {
    has_default = false;
    return std::move(*this);
  }
};

// The usual key: one member in one form.
template <class T, class M>
Key<T> key(std::string name, M T::*member, Form<M> form, std::string description) {
  return {std::move(name),
          std::move(description),
          [=](const Tree& value, T& into) { into.*member = form.read(value); },
          [=](const T& from) { return form.write(from.*member); },
          [=](const T& a, const T& b) { return a.*member == b.*member; },
          form.schema};
}
template <class T, class M>
Key<T> key(std::string name, std::optional<M> T::*member, Form<M> form, std::string description) {
  return key(std::move(name), member, maybe(std::move(form)), std::move(description));
}

// "unknown key 'lossles'; did you mean 'lossless'? Known here: ..."
void refuse_unknown_keys(const Tree& map, const std::vector<std::string>& known,
                         const std::vector<std::string>& also = {});
// The value of a key under its name or an old one. Warns of an old name, and refuses both.
const Tree* find_key(const Tree& map, const std::string& name, const std::vector<std::string>& old_names);
// Throws std::logic_error if a key, or an old name of one, is there twice.
void require_unique_keys(const std::string& table, std::vector<std::string> known, const std::vector<std::string>& old);
Tree table_schema(const std::string& description, std::vector<Tree::Entry> properties,
                  std::vector<std::string> required);

template <class T>
class Table {
 public:
  using Check = std::function<void(const Tree& map, const T& value)>;

  // `check` looks at keys together, once all are read. `name` is that of the schema's definition.
  Table(std::string name, std::string description, std::vector<Key<T>> keys, Check check = {})
      : name_(std::move(name)), description_(std::move(description)), keys_(std::move(keys)), check_(std::move(check)) {
    for (const Key<T>& key : keys_) {
      known_.push_back(key.name);
      old_.insert(old_.end(), key.old_names.begin(), key.old_names.end());
    }
    require_unique_keys(name_, known_, old_);
  }

  const std::string& name() const noexcept { return name_; }
  const std::vector<Key<T>>& keys() const noexcept { return keys_; }
  const std::vector<std::string>& known() const noexcept { return known_; }

  // Reads the keys that `map` has, in the order of the table, onto `into`.
  void read(const Tree& map, T& into) const {
    map.as_map();
    refuse_unknown_keys(map, known_, old_);
    for (const Key<T>& key : keys_) {
      const Tree* value = find_key(map, key.name, key.old_names);
      if (value != nullptr)
        key.read(*value, into);
      else if (key.required)
        map.fail("key '" + key.name + "' is missing: " + key.description);
    }
    if (check_) check_(map, into);
  }

  // The keys that make a `value` of `defaults`, and those that are always shown. While WithDefaults is in force also all
  // others that may be said beside these.
  Tree write(const T& value, const T& defaults = T{}) const {
    std::vector<bool> said;
    std::vector<Tree> written(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      said.push_back(keys_[i].shown || !keys_[i].same(value, defaults));
      if (said[i] || WithDefaults::in_force()) written[i] = keys_[i].write(value);
    }
    if (WithDefaults::in_force())
      for (std::size_t i = 0; i < keys_.size(); ++i)
        if (!said[i] && written[i].kind != Tree::Kind::kNothing) {
          said[i] = true;
          said[i] = reads_as(map_of_those(written, said), value);
        }
    return map_of_those(written, said);
  }

  Tree schema() const {
    std::vector<Tree::Entry> properties;
    std::vector<std::string> required;
    for (const Key<T>& key : keys_) {
      Tree property = with_description(key.description, key.schema);
      if (!key.required && key.has_default)
        if (Tree value = key.write(T{}); value.kind == Tree::Kind::kScalar && !value.text.empty())
          property.add("default", std::move(value));
      properties.push_back({key.name, std::move(property)});
      if (key.required) required.push_back(key.name);
    }
    return table_schema(description_, std::move(properties), std::move(required));
  }

 private:
  Tree map_of_those(const std::vector<Tree>& written, const std::vector<bool>& said) const {
    Tree map = Tree::map();
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (said[i] && written[i].kind != Tree::Kind::kNothing) map.add(keys_[i].name, written[i]);
    return map;
  }

  // Whether keys are accepted together, and say `value`: a default can be refused where it has no meaning.
  bool reads_as(const Tree& map, const T& value) const {
    try {
      T again{};
      read(map, again);
      for (const Key<T>& key : keys_)
        if (!key.same(again, value)) return false;
      return true;
    } catch (const SpecError&) {
      return false;
    }
  }

  std::string name_;
  std::string description_;
  std::vector<Key<T>> keys_;
  Check check_;
  std::vector<std::string> known_;
  std::vector<std::string> old_;
};

// A map of a table's keys, read onto a default T.
template <class T>
Form<T> map_of(const Table<T>& table) {
  return {[&table](const Tree& tree) {
            T value{};
            table.read(tree, value);
            return value;
          },
          [&table](const T& value) { return table.write(value); }, reference(table.name())};
}

}  // namespace railyard::spec
