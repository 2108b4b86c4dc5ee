#include "control/api/guard.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace railyard::api {
namespace {

// In a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned differ = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]);
  return differ == 0;
}

std::deque<std::string>::const_iterator find_secret(const std::deque<std::string>& all, std::string_view one) {
  auto found = all.end();
  for (auto i = all.begin(); i != all.end(); ++i)
    if (same_secret(one, *i)) found = i;
  return found;
}

void keep(std::deque<std::string>& all, const std::string& one, std::size_t most) {
  all.push_back(one);
  if (all.size() > most) all.pop_front();
}

}  // namespace

std::string drawn_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 8; ++i) secret += fmt::format("{:08x}", device());
  return secret;
}

Guard::Guard(std::string authority, std::string token, bool over_tls)
    : authority_(std::move(authority)), token_(std::move(token)), over_tls_(over_tls) {}

// Cookies belong to an address, and not to its port: each lab needs a name of its own.
std::string Guard::cookie_name() const {
  return fmt::format("railyard-{}", authority_.substr(authority_.rfind(':') + 1));
}

std::optional<std::string> Guard::session_of(const Request& request) const {
  const std::string name = cookie_name() + "=";
  std::string_view left = request.cookie;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(';'), left.size());
    std::string_view pair = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.starts_with(name)) return std::string(pair.substr(name.size()));
  }
  return std::nullopt;
}

void Guard::check_origin(const Request& request) const {
  const std::string port = authority_.substr(authority_.rfind(':'));
  const bool is_ours = over_tls_ || request.host == authority_ || request.host == "localhost" + port ||
                       // An SSH tunnel ends at another port of the user's machine: an address, and no name.
                       (request.origin.empty() && request.fetch_site.empty());
  if (!is_ours)
    throw ApiError(403, fmt::format("the Host field is '{}'; expected {} or localhost{}", request.host.substr(0, 100),
                                    authority_, port));
  if (!request.origin.empty() && request.origin != fmt::format("{}://{}", scheme(), request.host))
    throw ApiError(403, fmt::format("the request comes from the page '{}'; expected the page of this lab",
                                    request.origin.substr(0, 100)));
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none")
    throw ApiError(403, "the request comes from a page of another site; expected the page of this lab");
}

void Guard::check_known(const Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view said = request.authorization;
  if (!said.empty()) {
    if (said.size() > kBearer.size() && said.starts_with(kBearer) && same_secret(said.substr(kBearer.size()), token_))
      return;
    throw ApiError(401, "the token is wrong; expected the one in the file `token` of the lab's folder");
  }
  const std::optional<std::string> session = session_of(request);
  if (session && find_secret(sessions_, *session) != sessions_.end()) {
    // Browsers send cookies with what pages of other sites ask for, too; older ones without saying so.
    const bool changes = request.method != "GET" && request.method != "HEAD";
    if (changes && request.origin.empty() && request.fetch_site != "same-origin")
      throw ApiError(403, "the request has a cookie and no Origin field; expected the page of this lab, or a bearer token");
    return;
  }
  throw ApiError(401, session ? "the session is not known; `railyard web` prints a new link to the page"
                              : "no token; expected the field `Authorization: Bearer TOKEN`, or the cookie of the page");
}

std::string Guard::new_code() {
  keep(codes_, drawn_secret(), kMostCodes);
  return codes_.back();
}

Response Guard::exchange(const nlohmann::json& body) {
  const auto said = [&](const char* key) {
    return body.is_object() && body.contains(key) && body.at(key).is_string() ? body.at(key).get<std::string>()
                                                                            : std::string();
  };
  const std::string code = said("code");
  const std::string token = said("token");
  if (code.empty() && token.empty()) throw ApiError(400, "expected the key 'code' or 'token' in the body");
  if (!code.empty()) {
    const auto known = find_secret(codes_, code);
    if (known == codes_.end())
      throw ApiError(401, "the link has been used before, or is wrong; `railyard web` prints a new one");
    codes_.erase(known);
  } else if (!same_secret(token, token_)) {
    throw ApiError(401, "the token is wrong; expected the one in the file `token` of the lab's folder");
  }
  keep(sessions_, drawn_secret(), kMostSessions);
  Response out{200, {{"session", true}}};
  out.fields.emplace_back("Set-Cookie",
                          fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}", cookie_name(), sessions_.back(),
                                      over_tls_ ? "; Secure" : ""));
  return out;
}

Response Guard::leave(const Request& request) {
  if (const std::optional<std::string> session = session_of(request))
    if (const auto known = find_secret(sessions_, *session); known != sessions_.end()) sessions_.erase(known);
  Response out{200, {{"session", false}}};
  out.fields.emplace_back("Set-Cookie", fmt::format("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", cookie_name()));
  return out;
}

}  // namespace railyard::api
