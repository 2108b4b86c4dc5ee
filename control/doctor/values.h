// Values of a report that may be null or absent.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace railyard::doctor {

inline double number(const nlohmann::ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? found->get<double>() : 0;
}

inline std::uint64_t count(const nlohmann::ordered_json& j, const char* key) {
  return static_cast<std::uint64_t>(number(j, key));
}

inline std::string text(const nlohmann::ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// An object below; an empty one if there is none.
inline const nlohmann::ordered_json& below(const nlohmann::ordered_json& j, const char* key) {
  static const nlohmann::ordered_json none = nlohmann::ordered_json::object();
  const auto found = j.find(key);
  return found != j.end() && found->is_object() ? *found : none;
}

// A list below; an empty one if there is none.
inline const nlohmann::ordered_json& items(const nlohmann::ordered_json& j, const char* key) {
  static const nlohmann::ordered_json none = nlohmann::ordered_json::array();
  const auto found = j.find(key);
  return found != j.end() && found->is_array() ? *found : none;
}

// "h3" of "h3:1"
inline std::string node_of(const std::string& port) { return port.substr(0, port.find(':')); }

inline std::string source_of(const nlohmann::ordered_json& flow) { return node_of(text(flow, "src")); }
inline std::string sink_of(const nlohmann::ordered_json& flow) { return node_of(text(flow, "dst")); }

}  // namespace railyard::doctor
