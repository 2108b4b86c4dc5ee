#include "control/api/query.h"

#include <algorithm>
#include <string_view>

#include "control/api/message.h"

namespace railyard::api {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw ApiError(400, "the query has a '%' without two hexadecimal digits after it");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

Target parse_target(const std::string& target) {
  const std::size_t mark = target.find('?');
  Target out{target.substr(0, mark), nullptr};
  if (mark == target.npos) return out;
  std::string_view left = std::string_view(target).substr(mark + 1);
  out.query = nlohmann::json::object();
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('&'), left.size());
    const std::string_view pair = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string key = decoded(pair.substr(0, equals));
    const std::string value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    for (const std::string& text : {key, value}) {
      if (text.find('\0') != text.npos) throw ApiError(400, "the query has a NUL character; expected none");
      try {
        static_cast<void>(nlohmann::json(text).dump());
      } catch (const nlohmann::json::type_error&) {
        throw ApiError(400, "the query is not UTF-8; expected UTF-8");
      }
    }
    if (!key.empty()) out.query[key] = value;
  }
  return out;
}

}  // namespace railyard::api
