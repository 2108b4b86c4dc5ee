// Global load balancing: what a switch tells its neighbours about its ports, and what it hears from them. Decided by
// path/quality_reporter.h and path/remote_quality.h; here it becomes frames, and the other way round.
#include <algorithm>
#include <vector>

#include "dataplane/device/control_frame.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/quality_report.h"

namespace railyard {

void Switch::use_tables_beyond() {
  std::vector<std::shared_ptr<const ForwardingTable>> beyond;
  for (const SwitchPortConfig& p : config_.ports) beyond.push_back(p.quality.beyond);
  paths_.set_beyond(config_.fecs->size(), beyond);
}

void Switch::set_table_beyond(PortIndex port, std::shared_ptr<const ForwardingTable> table) {
  config_.ports[port.index()].quality.beyond = std::move(table);
  use_tables_beyond();
}

void Switch::use_listeners() {
  std::vector<bool> listens;
  for (const SwitchPortConfig& p : config_.ports) listens.push_back(p.quality.is_told);
  reporter_.set(config_.reports, listens);
  paths_.report_loads(reporter_.on());
  for (QualityReports& q : quality_reports_) q.due = false;
}

// Whether anything has changed. What has been heard is kept if it still means the same.
bool Switch::apply_quality(const SwitchSettings& settings) {
  bool tables = false;
  bool listeners = settings.reports != config_.reports;
  config_.reports = settings.reports;
  for (std::size_t p = 0; p < ports(); ++p) {
    NeighbourQuality& own = config_.ports[p].quality;
    const NeighbourQuality& to = settings.ports[p].quality;
    listeners |= own.is_told != to.is_told;
    own.is_told = to.is_told;
    if (own.beyond == to.beyond || (own.beyond != nullptr && to.beyond != nullptr && *own.beyond == *to.beyond))
      continue;
    own.beyond = to.beyond;
    tables = true;
  }
  if (tables) use_tables_beyond();
  if (listeners) use_listeners();
  return tables || listeners;
}

// What was said is forgotten here, not by who heard it: all is said anew.
void Switch::review_quality(Instant now) {
  if (reporter_.on()) return quality_changed(now);
  set_quality_due();
}

void Switch::quality_changed(Instant now) {
  if (reporter_.changed(now, paths_.loads()))
    send_quality(now);
  else
    set_quality_due();
}

// To whom something is owed, as soon as their links are idle.
void Switch::send_quality(Instant now) {
  reporter_.release(now, [&](PortIndex port) {
    EgressPort& e = egress_[port.index()];
    quality_reports_[port.index()].due = true;
    e.want_report(true);
    if (!e.busy()) starts_.add(now, port);
  });
  set_quality_due();
}

// One of those that a port has promised to send; the other one next.
Packet* Switch::make_report(Instant now, PortIndex port) {
  const bool quality = quality_reports_[port.index()].due;
  if (bfd_ == nullptr || !bfd_->wants(port)) return quality ? make_quality_report(now, port) : nullptr;
  Packet* const frame = make_bfd_control(now, port);
  if (quality) egress_[port.index()].want_report(true);
  return frame;
}

Packet* Switch::make_quality_report(Instant now, PortIndex port) {
  quality_reports_[port.index()].due = false;
  const wire::QualityReport report = reporter_.take(now, port);
  set_quality_due();
  Packet* const frame = make_control_frame(pool());
  if (frame == nullptr) return nullptr;
  wire::write_quality_report(control_octets(*frame), config_.ports[port.index()].mac, report);
  generated_.increment();
  quality_reports_[port.index()].sent.increment();
  if (observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
  return frame;
}

void Switch::on_quality_report(Instant now, PortIndex port, Packet* packet) {
  const auto report = packet->has(Packet::kFcsBad) ? std::unexpected(DropReason::kFcsError)
                                                   : wire::parse_quality_report(packet->header_span());
  if (!report) {
    drops_by_port_[port.index()].count(report.error());
    pool().release(packet);
    return;
  }
  quality_reports_[port.index()].heard.increment();
  consume(packet);
  // Who has just been told not to listen any more still gets what is on its way; and what had arrived when the link
  // went down takes effect only now, of a neighbour that is not there any more.
  if (!paths_.remote().listens(port) || !paths_.load_of(port).up) return;
  const Ingress& in = ingress(port);
  paths_.remote().hear(now, now - in.control_flight - pause_response(in.rate), port, *report);
}

void Switch::on_quality_due(Instant now) {
  reporter_.on_time(now, paths_.loads());
  send_quality(now);
}

void Switch::quality_link(Instant now, PortIndex port, bool up) {
  if (up) {
    reporter_.link_up(port);
  } else {
    reporter_.link_down(port);
    quality_reports_[port.index()].due = false;
    paths_.remote().forget(port);
  }
  look_at_quality(now, port);
  send_quality(now);
}

void Switch::set_quality_due() {
  if (reporter_.due() == quality_due_) return;
  quality_due_ = reporter_.due();
  set_device_timer();
}

}  // namespace railyard
