// Forms: how one kind of value is read from the file, written back, and described to editors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

template <class T>
struct Form {
  std::function<T(const Tree&)> read;  // throws SpecError
  std::function<Tree(const T&)> write;
  Tree schema;  // JSON Schema of the value
};

// No instant or duration of a run is longer; sums of some are far from what picoseconds in 64 bits reach.
inline constexpr Duration kAnyTime{std::int64_t{100'000} * kPicosecondsPerSecond};

// ---- Words and numbers ---------------------------------------------------------------------------------------------

Form<std::string> any_text();
Form<std::string> interface_name();  // of a network interface of Linux: 15 octets at most
Form<std::string> text_without_control_characters(std::size_t most_octets);  // paths and device names; not empty
Form<std::string> name_form();                                               // of nodes and profiles
Form<bool> boolean();
Form<int> integer(int least, int most);
Form<std::uint64_t> seed_form();

Form<Duration> duration(Duration least = {}, Duration most = Duration{std::int64_t{100'000} * kPicosecondsPerSecond});
Form<Bytes> size(Bytes least = {}, Bytes most = Bytes{std::int64_t{1} << 50});
Form<std::uint32_t> octets(std::uint32_t least, std::uint32_t most);  // a size as well
Form<BitRate> rate(BitRate least, BitRate most = BitRate{10'000'000'000'000});
Form<Length> length();
Form<Ratio> ratio();  // above 0
Form<Ratio> probability();  // 0..1
Form<std::uint32_t> ppm();
Form<std::uint32_t> clock_error();  // billionths; "100ppm"
Form<int> power_of_two();  // the exponent

Form<wire::IpAddress> ipv4();  // of one host: neither unspecified nor multicast nor loopback
Form<wire::IpAddress> ipv6();
Form<wire::MacAddress> mac();  // of one port: neither zero nor a group
Form<wire::IpPrefix> ip_prefix();
Form<wire::UdpEndpoint> udp_endpoint();  // of one host
Form<PortName> port_name();

// A condition on what a run measures: its syntax is checked (condition.h).
Form<ConditionSpec> condition_form();

// Reads with `form`, then refuses what `check` returns a message for.
template <class T>
Form<T> checked(Form<T> form, std::function<std::optional<std::string>(const T&)> check) {
  return {[read = form.read, check = std::move(check)](const Tree& tree) {
            T value = read(tree);
            if (const std::optional<std::string> wrong = check(value)) tree.fail(*wrong);
            return value;
          },
          form.write, form.schema};
}

// ---- Combinations --------------------------------------------------------------------------------------------------

// "'x' is unknown; did you mean 'y'? Expected a, b or c".
[[noreturn]] void fail_choice(const Tree& tree, const std::vector<std::string>& words);
Tree choice_schema(const std::vector<std::string>& words);
Tree any_of_schemas(std::vector<Tree> schemas);

// One of some words.
template <class T>
Form<T> choice(std::vector<std::pair<std::string, T>> choices) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  Tree schema = choice_schema(words);
  return {[choices, words](const Tree& tree) {
            if (tree.kind == Tree::Kind::kScalar)
              for (const auto& [word, value] : choices)
                if (tree.text == word) return value;
            fail_choice(tree, words);
          },
          [choices](const T& value) {
            for (const auto& [word, v] : choices)
              if (v == value) return Tree::plain(word);
            return Tree{};
          },
          std::move(schema)};
}

// A word for one value, or else a form: "greedy" or a rate.
template <class T>
Form<T> either(std::string word, T meaning, Form<T> form) {
  return {[=, read = form.read](const Tree& tree) {
            return tree.kind == Tree::Kind::kScalar && tree.text == word ? meaning : read(tree);
          },
          [=, write = form.write](const T& value) { return value == meaning ? Tree::plain(word) : write(value); },
          any_of_schemas({choice_schema({word}), form.schema})};
}

// A form for a value that may be absent. Nothing is written for an absent one.
template <class T>
Form<std::optional<T>> maybe(Form<T> form) {
  return {[read = form.read](const Tree& tree) -> std::optional<T> { return read(tree); },
          [write = form.write](const std::optional<T>& value) { return value ? write(*value) : Tree{}; }, form.schema};
}

template <class T>
Form<std::vector<T>> list_of(Form<T> form) {
  Tree schema = Tree::map({{"type", Tree::string("array")}, {"items", form.schema}});
  return {[read = form.read](const Tree& tree) {
            std::vector<T> values;
            for (const Tree& item : tree.as_list()) values.push_back(read(item));
            return values;
          },
          [write = form.write](const std::vector<T>& values) {
            Tree list = Tree::list({});
            for (const T& value : values) list.items.push_back(write(value));
            return list;
          },
          std::move(schema)};
}

// A list, or one element without the brackets. An empty list is refused.
template <class T>
Form<std::vector<T>> one_or_list_of(Form<T> form) {
  const Form<std::vector<T>> list = list_of(form);
  return {[=](const Tree& tree) {
            if (tree.kind == Tree::Kind::kScalar) return std::vector<T>{form.read(tree)};
            if (tree.as_list("one or a list").empty()) tree.fail("found an empty list; expected at least one element");
            return list.read(tree);
          },
          [=](const std::vector<T>& values) { return values.size() == 1 ? form.write(values[0]) : list.write(values); },
          any_of_schemas({form.schema, list.schema})};
}

}  // namespace railyard::spec
