// Any octets as the body of a request that changes a lab, as far as the lab itself: JSON, the texts in it, and what they mean
// for the fabric (settings, faults, in-band telemetry, what stands behind a NIC, names of ports). Each has an answer; what is
// refused is refused by a sentence.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/api/http_exchange.h"
#include "control/daemon/settings.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "control/base/json_text.h"
#include "tests/fuzz/expect.h"

using namespace railyard;
using namespace railyard::api;
using nlohmann::json;

namespace {

constexpr const char* kFabric = R"(name: fuzz
nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
traffic: [ { name: t, from: h1, to: h2, payload: 1KB, rate: 100Mbps } ]
run: { clock: wall }
)";

const daemon::Settings& settings() {
  static const daemon::Settings made(kFabric, "lab", {});
  return made;
}
const spec::Lab& lab() {
  static const spec::Lab made = settings().lab();
  return made;
}

template <class F>
void or_an_error(F&& f) {
  try {
    f();
  } catch (const spec::SpecError& error) {
    FUZZ_EXPECT(!std::string_view(error.what()).empty());
  }
}

// What the handler of each route makes of its body (control/daemon/routes.cc).
void set(const json& body) {
  const auto assignments = body.at("set").get<std::vector<std::string>>();
  if (assignments.size() > 4) return;  // each is read with all others: slow, and nothing new
  or_an_error([&] { static_cast<void>(settings().with(assignments).lab()); });
}
void fault(const json& body) {
  or_an_error([&] { static_cast<void>(spec::parse_fault(lab(), body.at("fault").get<std::string>(), "fault")); });
}
void in_band(const json& body) {
  or_an_error([&] { static_cast<void>(spec::parse_int(lab(), body.at("what").get<std::string>(), "int")); });
}
void attach(const json& body) {
  const json& said = body.at("attach");
  or_an_error([&] { static_cast<void>(spec::parse_attachment(said.is_string() ? said.get<std::string>() : json_text(said), "attach")); });
}
void link(const json& body) {
  const auto name = spec::parse_port_name(body.at("link").get<std::string>());
  static_cast<void>(body.at("up").get<bool>());
  FUZZ_EXPECT(name.has_value() || !name.error().empty());
}
void series(const json& body) {
  static_cast<void>(body.at("file").get<std::string>());
  const auto every = spec::parse_duration(body.at("every").get<std::string>());
  FUZZ_EXPECT(every.has_value() || !every.error().empty());
}

constexpr std::array<void (*)(const json&), 6> kHandlers{set, fault, in_band, attach, link, series};

}  // namespace

// The first octet chooses the route.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 2048) return 0;
  const auto take = kHandlers[data[0] % kHandlers.size()];
  HttpRequest request{http::verb::post, "/v1/x", 11};
  request.body().assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::function<std::optional<Response>(const Request&)> admit;
  const std::function<Response(const Request&)> handler = [take](const Request& r) -> Response {
    take(r.body);
    return {200, {{"taken", true}}};
  };
  const Response response = answer({false, false, admit, handler}, request);
  FUZZ_EXPECT(response.status == 200 || response.status == 400);
  FUZZ_EXPECT(!json::parse(to_http(11, true, response).body(), nullptr, false).is_discarded());
  if (response.status == 400) FUZZ_EXPECT(!response.body.at("detail").get<std::string>().empty());
  return 0;
}
