#include "control/front/relay.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/api/http_client.h"
#include "control/base/base64.h"
#include "control/base/exit_code.h"
#include "control/daemon/lab_dir.h"
#include "control/spec/input_error.h"

namespace railyard::front {

using nlohmann::json;

namespace {

json answer(const daemon::LabDir& lab, const json& request) {
  try {
    const api::Request asked{request.at("method").get<std::string>(), request.at("target").get<std::string>(),
                             request.value("body", json())};
    if (request.value("is_file", false)) return {{"status", 200}, {"body", base64(api::ask_for_file(lab.socket(), asked))}};
    return {{"status", 200}, {"body", api::ask(lab.socket(), asked)}};
  } catch (const api::ApiError& error) {
    return {{"status", error.status()}, {"body", error.what()}};
  } catch (const api::Unreachable& error) {
    return {{"gone", lab.running() ? fmt::format("its daemon (PID {}) does not answer: {}", lab.pid(), error.what())
                                   : fmt::format("its daemon (PID {}) has ended", lab.pid())}};
  }
}

json open(const json& hello, const RelayWork& work) {
  const auto name = hello.at("lab").get<std::string>();
  if (hello.at("file").is_string()) {
    work.start(name, hello.at("site").get<std::string>(), hello.at("file").get<std::string>());
  } else if (!daemon::LabDir(name).running()) {
    return {{"gone", "its daemon has ended"}};
  }
  return {{"up", true}};
}

}  // namespace

void serve_relay(std::istream& in, std::ostream& out, const RelayWork& work) {
  std::string lab;
  for (std::string line; std::getline(in, line);) {
    json said;
    try {
      const json request = json::parse(line);
      if (request.contains("lab")) {
        lab = request.at("lab").get<std::string>();
        said = open(request, work);
      } else if (request.value("down", false)) {
        work.stop(lab);
        said = {{"down", true}};
      } else {
        said = answer(daemon::LabDir(lab), request);
      }
    } catch (const InputError& error) {
      said = {{"error", error.what()}, {"exit_code", tools::kInput}};
    } catch (const std::exception& error) {
      said = {{"error", error.what()}, {"exit_code", tools::kFailed}};
    }
    out << said.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}

}  // namespace railyard::front
