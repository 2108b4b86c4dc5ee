#include "transports/roce/services/service_endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

namespace railyard::roce {

ServiceEndpoint::ServiceEndpoint(ServiceEndpointConfig config)
    : roce_(std::move(config.engine), true),
      connections_(roce_.engine(), std::move(config.connections)),
      gsi_(Instant{}, roce_.engine(), connections_),
      context_{.engine = roce_.engine(),
               .connections = connections_,
               .cq = roce_.engine().create_cq(
                   ((std::size_t{config.rping_server} + config.atomics_server) * config.most_sessions +
                    config.rping_clients.size()) *
                       kCompletionsOfQp +
                   (config.udaddy_server ? UdaddyServer::kPlaces : 0)),
               .defaults = config.defaults} {
  if (config.rping_server) rping_server_.emplace(context_, config.most_sessions);
  if (config.udaddy_server) udaddy_server_.emplace(context_);
  if (config.atomics_server) atomics_server_.emplace(context_, config.most_sessions);
  for (const RpingClientConfig& c : config.rping_clients)
    rping_clients_.push_back(std::make_unique<RpingClient>(context_, c));
}

ServiceEndpoint::~ServiceEndpoint() = default;

void ServiceEndpoint::exchange_figures(StateArchive& archive) {
  roce_.engine().exchange_figures(archive);
  connections_.exchange_figures(archive);
  if (rping_server_) rping_server_->exchange_figures(archive);
  if (udaddy_server_) udaddy_server_->exchange_figures(archive);
  if (atomics_server_) atomics_server_->exchange_figures(archive);
  for (const auto& client : rping_clients_) client->exchange_figures(archive);
}

Readiness ServiceEndpoint::ready(Instant now) {
  run_due(now);
  Readiness r = roce_.ready(now);
  // A timer may have completed something, and something followed from that.
  while (settle(now)) r = roce_.ready(now);
  r.until = std::min(r.until, due());
  return r;
}

std::size_t ServiceEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  run_due(now);
  const std::size_t n = roce_.send(now, priority, frames);
  // Connections come and go: the NIC has nothing from remembering their headers.
  for (TxFrame& frame : frames.first(n)) frame.flow = TxFrame::kNoFlow;
  return n;
}

bool ServiceEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames) {
    InPacket in;
    run_due(frame.at);
    roce_.receive_one(frame, in);
    settle(frame.at);
  }
  return !frames.empty();
}

Instant ServiceEndpoint::due() const noexcept {
  Instant at = connections_.deadline();
  for (const auto& client : rping_clients_) at = std::min(at, client->deadline());
  return at;
}

// In the order of time: nobody who asks late sees that.
void ServiceEndpoint::run_due(Instant now) {
  for (Instant at = due(); at <= now; at = due()) {
    connections_.on_timer(at);
    for (const auto& client : rping_clients_) client->on_timer(at);
    settle(at);
  }
}

bool ServiceEndpoint::settle(Instant now) {
  bool any = false;
  std::array<Completion, 16> done;
  for (bool more = true; more;) {
    more = gsi_.run(now);
    for (const AsyncEvent& e : roce_.engine().take_events()) {
      on_async_event(now, e);
      more = true;
    }
    for (std::size_t n = 0; (n = roce_.engine().poll(context_.cq, done)) > 0; more = true)
      for (const Completion& c : std::span(done).first(n)) on_completion(now, c);
    for (const cm::Event& e : connections_.take_events()) {
      on_event(now, e);
      more = true;
    }
    any = any || more;
  }
  return any;
}

void ServiceEndpoint::on_event(Instant now, const cm::Event& event) {
  if (event.type == cm::EventType::kConnectRequest) {
    if (rping_server_ && event.port == rping_server_->port()) rping_server_->on_request(now, event);
    if (atomics_server_ && event.port == atomics_server_->port()) atomics_server_->on_request(now, event);
    return;
  }
  if (rping_server_ && rping_server_->on_event(now, event)) return;
  if (atomics_server_ && atomics_server_->on_event(now, event)) return;
  for (const auto& client : rping_clients_)
    if (client->on_event(now, event)) return;
}

void ServiceEndpoint::on_completion(Instant now, const Completion& completion) {
  if (rping_server_ && rping_server_->on_completion(now, completion)) return;
  if (udaddy_server_ && udaddy_server_->on_completion(now, completion)) return;
  if (atomics_server_ && atomics_server_->on_completion(now, completion)) return;
  for (const auto& client : rping_clients_)
    if (client->on_completion(now, completion)) return;
}

void ServiceEndpoint::on_async_event(Instant now, const AsyncEvent& event) {
  const QpNumber qp{event.number};
  switch (event.type) {
    case AsyncEventType::kPathEstablished:
      return connections_.on_path_established(now, qp);
    case AsyncEventType::kQpFatal:
    case AsyncEventType::kQpRequestError:
    case AsyncEventType::kQpAccessError:
      if (rping_server_ && rping_server_->on_invalid_request(now, qp)) return;
      if (atomics_server_ && atomics_server_->on_invalid_request(now, qp)) return;
      for (const auto& client : rping_clients_)
        if (client->on_invalid_request(now, qp)) return;
      return;
    default:
      return;
  }
}

void ServiceEndpoint::stop_at(Instant at) {
  for (const auto& client : rping_clients_) client->stop_at(at);
}

}  // namespace railyard::roce
