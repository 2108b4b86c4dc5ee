// JSON as text that is valid whatever octets its strings hold, and a guard against text that nests without end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace railyard {

// As `json.dump()`, but octets that are not UTF-8 become U+FFFD: dump() throws on them, and they reach us in file
// names, arguments and requests.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Arrays and objects within each other. The library parses without recursion but copies and prints with it, so a short
// text of brackets could overflow a thread's stack.
inline constexpr std::size_t kDeepestJson = 64;
bool is_nested_too_deeply(std::string_view text, std::size_t most = kDeepestJson) noexcept;

}  // namespace railyard
