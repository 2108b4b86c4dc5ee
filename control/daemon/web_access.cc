#include "control/daemon/web_access.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "control/api/query.h"

namespace railyard::daemon {

using api::ApiError;
using api::Request;
using api::Response;

namespace {

const std::string kPrefix = fmt::format("/v{}", api::kVersion);

// The page's own files alone, and nothing that others show in a frame (CSP Level 3).
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// Whether a client says that it takes gzip (RFC 9110 §12.5.3).
bool takes_gzip(std::string_view accepted) {
  for (std::size_t begin = 0; begin < accepted.size();) {
    const std::size_t end = std::min(accepted.find(',', begin), accepted.size());
    std::string coding;
    for (const char c : accepted.substr(begin, end - begin))
      if (c != ' ' && c != '\t') coding += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string name = coding.substr(0, coding.find(';'));
    const bool refused = coding.ends_with(";q=0") || coding.ends_with(";q=0.0") || coding.ends_with(";q=0.00") ||
                         coding.ends_with(";q=0.000");
    if ((name == "gzip" || name == "x-gzip") && !refused) return true;
    begin = end + 1;
  }
  return false;
}

Response file_response(const PageFile& file, bool gzip) {
  Response out{200, nullptr, std::string(gzip ? file.gzip : file.octets), std::string(file.media_type)};
  out.fields = {{"Content-Security-Policy", kPolicy},
                {"Referrer-Policy", "no-referrer"},
                {"Cross-Origin-Resource-Policy", "same-origin"},
                {"Cross-Origin-Opener-Policy", "same-origin"},
                // Names of the others change with what is in them.
                {"Cache-Control", file.path.starts_with("/assets/") ? "max-age=31536000, immutable" : "no-cache"}};
  if (!file.gzip.empty()) out.fields.emplace_back("Vary", "Accept-Encoding");
  if (gzip) out.fields.emplace_back("Content-Encoding", "gzip");
  return out;
}

}  // namespace

WebAccess::WebAccess(std::string authority, std::string token, std::span<const PageFile> files, Api api,
                     bool over_tls)
    : guard_(std::move(authority), std::move(token), over_tls), files_(files), api_(std::move(api)) {}

const PageFile* WebAccess::file_at(std::string_view path) const {
  if (path == "/") path = "/index.html";
  for (const PageFile& file : files_)
    if (file.path == path) return &file;
  return nullptr;
}

std::optional<Response> WebAccess::admit(const Request& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::scoped_lock lock(mutex_);
  guard_.check_origin(request);
  if (const PageFile* file = file_at(path)) {
    if (request.method != "GET") throw ApiError(405, fmt::format("{} excludes {}", request.method, path));
    return file_response(*file, !file->gzip.empty() && takes_gzip(request.accept_encoding));
  }
  if (path == kPrefix + "/session") return std::nullopt;
  guard_.check_known(request);
  if (!path.starts_with(kPrefix + "/"))
    throw ApiError(404, fmt::format("there is no {}; this daemon speaks version {}: {}/...", path.substr(0, 100),
                                    api::kVersion, kPrefix));
  return std::nullopt;
}

Response WebAccess::handle(const Request& request) {
  if (request.target.substr(0, request.target.find('?')) == kPrefix + "/session") {
    std::unique_lock lock(mutex_);
    if (request.method == "POST") {
      Response out = guard_.exchange(request.body);
      lock.unlock();
      add_overview(request, out);
      return out;
    }
    guard_.check_known(request);
    if (request.method == "GET") return {200, {{"session", true}}};
    if (request.method == "DELETE") return guard_.leave(request);
    throw ApiError(405, fmt::format("{} excludes /session", request.method));
  }
  Request inner = request;
  inner.target = request.target.substr(kPrefix.size());
  return api_(inner);
}

// What a page needs next comes with its session, if it says so: one request less until its first picture.
void WebAccess::add_overview(const Request& exchange, Response& answer) const {
  const auto folding = exchange.body.find("overview");
  if (folding == exchange.body.end() || (*folding != "readable" && *folding != "none")) return;
  Request inner = exchange;
  inner.method = "GET";
  inner.target = "/overview?folding=" + folding->get<std::string>();
  inner.body = nullptr;
  try {
    if (const Response overview = api_(inner); overview.status == 200) answer.body["overview"] = overview.body;
  } catch (const ApiError&) {  // it is asked for again, and why not is said then
  }
}

std::string WebAccess::new_link() {
  const std::scoped_lock lock(mutex_);
  return fmt::format("{}://{}/#code={}", guard_.scheme(), guard_.authority(), guard_.new_code());
}

void keep_token(const std::string& file, const std::string& token) {
  ::unlink(file.c_str());
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::string line = token + "\n";
  const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!written) throw std::runtime_error(fmt::format("cannot write {}: {}", file, std::strerror(error)));
}

}  // namespace railyard::daemon
