#include "control/api/http_exchange.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "dataplane/wire/address.h"

namespace railyard::api {
namespace {

// Texts end there for whoever takes them as C does, names of files and errors among them.
bool has_nul(const nlohmann::json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>().find('\0') != std::string::npos;
  if (json.is_object())
    for (const auto& [key, value] : json.items())
      if (key.find('\0') != std::string::npos || has_nul(value)) return true;
  return json.is_array() && std::ranges::any_of(json, has_nul);
}

// Whether a Host field names this machine by its address, or as localhost (RFC 9110 §7.2).
bool is_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find_first_not_of("0123456789", colon + 1) == host.npos &&
                        (host.find(':') == colon || host[colon - 1] == ']');
  if (has_port) host = host.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host == "localhost" || wire::IpAddress::parse(host).has_value();
}

// The target without its version; as it is where there are no versions. Throws ApiError for another version.
std::string target_of(std::string target, bool versions) {
  if (!versions) return target;
  const std::string prefix = fmt::format("/v{}", kVersion);
  if (!target.starts_with(prefix + "/"))
    throw ApiError(404,
                   fmt::format("there is no {}; this daemon speaks version {}: {}/...", target, kVersion, prefix));
  return target.substr(prefix.size());
}

// What a request says but for its body.
Request request_of(const HttpRequest& request, bool over_tcp) {
  Request r{std::string(request.method_string()), target_of(std::string(request.target()), !over_tcp), nullptr,
            std::string(request[http::field::accept])};
  if (!over_tcp) return r;
  r.host = std::string(request[http::field::host]);
  r.origin = std::string(request[http::field::origin]);
  r.fetch_site = std::string(request["Sec-Fetch-Site"]);
  r.authorization = std::string(request[http::field::authorization]);
  r.cookie = std::string(request[http::field::cookie]);
  r.accept_encoding = std::string(request[http::field::accept_encoding]);
  return r;
}

}  // namespace

void set_limits(HttpParser& parser, std::size_t most_body_octets) {
  parser.body_limit(most_body_octets);
  parser.header_limit(kMostHeaderOctets);
}

Response answer(const Exchange& exchange, const HttpRequest& request) {
  try {
    const bool over_tcp = exchange.over_tcp;
    if (over_tcp && !exchange.over_tls && !is_this_machine(std::string(request[http::field::host])))
      throw ApiError(403, "the Host field of the request is a name; expected an address of this machine");
    Request r = request_of(request, over_tcp);
    if (exchange.admit)
      if (std::optional<Response> at_once = exchange.admit(r)) return *std::move(at_once);
    if (!request.body().empty()) {
      if (is_nested_too_deeply(request.body()))
        return problem(400, fmt::format("the body has more than {} nested levels", kDeepestJson));
      r.body = nlohmann::json::parse(request.body(), nullptr, false);
      if (r.body.is_discarded()) return problem(400, "the body is not JSON");
      if (has_nul(r.body)) return problem(400, "the body has a NUL character in a text; expected none");
    }
    return exchange.handler(r);
  } catch (const ApiError& error) {
    return problem(error.status(), error.what());
  } catch (const nlohmann::json::exception& error) {
    return problem(400, fmt::format("unexpected body: {}", error.what()));
  } catch (const std::exception& error) {
    return problem(500, error.what());
  }
}

std::optional<Response> answer_to(const beast::error_code& error, std::size_t most_body_octets) {
  if (error == http::error::body_limit)
    return problem(413, fmt::format("the body is longer than {} bytes", most_body_octets));
  static const auto& of_http = http::make_error_code(http::error::bad_method).category();
  if (error.category() != of_http || error == http::error::end_of_stream || error == http::error::partial_message)
    return std::nullopt;
  return problem(400, fmt::format("not an HTTP request: {}", error.message()));
}

HttpResponse to_http(unsigned version, bool keep_alive, Response response) {
  HttpResponse out{static_cast<http::status>(response.status), version};
  set_fields(out, response,
             !response.text.empty()   ? std::string_view(response.media_type)
             : response.status >= 400 ? std::string_view(kProblemType)
                                      : std::string_view("application/json"));
  if (response.status == 401) out.set(http::field::www_authenticate, "Bearer");
  out.keep_alive(keep_alive);
  out.body() = response.text.empty() ? json_text(response.body) + "\n" : std::move(response.text);
  out.prepare_payload();
  return out;
}

}  // namespace railyard::api
