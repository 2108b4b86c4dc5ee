#include "control/api/message.h"

#include <string_view>

namespace railyard::api {
namespace {

// RFC 9110 §15, of the statuses that this API has.
std::string_view title(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return status >= 500 ? "Internal Server Error" : "Error";
  }
}

}  // namespace

Response problem(int status, const std::string& detail) {
  return {status, {{"type", "about:blank"}, {"title", title(status)}, {"status", status}, {"detail", detail}}};
}

}  // namespace railyard::api
