// Reads the fields of a message, each checked where it is read.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/agent_protocol/frames.h"

namespace railyard::agents {

class Fields {
 public:
  // `what` says in errors whose fields they are: "hello". Throws ProtocolError, as all of this, if it is no object.
  Fields(const nlohmann::json& object, std::string_view what) : object_(object), what_(what) {
    if (!object.is_object()) throw ProtocolError(fmt::format("{}: expected an object", what));
  }

  const nlohmann::json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw ProtocolError(fmt::format("{}: '{}' is missing", what_, key));
    return *found;
  }
  bool has(const char* key) const { return object_.contains(key); }

  std::string text(const char* key, std::size_t longest = 1024) const {
    const nlohmann::json& value = at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > longest)
      fail(key, fmt::format("expected text of at most {} bytes", longest));
    return value.get<std::string>();
  }
  bool flag(const char* key) const {
    const nlohmann::json& value = at(key);
    if (!value.is_boolean()) fail(key, "expected true or false");
    return value.get<bool>();
  }
  template <std::unsigned_integral T>
  T number(const char* key, std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<T>::max()) const {
    return number_of<T>(at(key), key, least, most);
  }
  const nlohmann::json& list(const char* key, std::size_t most) const {
    const nlohmann::json& value = at(key);
    if (!value.is_array() || value.size() > most) fail(key, fmt::format("expected a list of at most {}", most));
    return value;
  }
  template <std::unsigned_integral T>
  T number_of(const nlohmann::json& value, const char* key, std::uint64_t least = 0,
              std::uint64_t most = std::numeric_limits<T>::max()) const {
    if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0))
      fail(key, "expected a number of 0 or more");
    const auto number = value.get<std::uint64_t>();
    if (number < least || number > most) fail(key, fmt::format("{}; expected {}..{}", number, least, most));
    return static_cast<T>(number);
  }
  [[noreturn]] void fail(const char* key, const std::string& why) const {
    throw ProtocolError(fmt::format("{}: '{}': {}", what_, key, why));
  }

 private:
  const nlohmann::json& object_;
  std::string_view what_;
};

}  // namespace railyard::agents
