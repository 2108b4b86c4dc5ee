// What a switch tells its neighbours about its ports, and when: the sending half of global load balancing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/switch/path/port_load.h"
#include "dataplane/wire/quality_report.h"

namespace railyard {

struct QualityReportConfig {
  Duration every{10'000'000};  // > 0: a change is reported at once, the next one not before
  Duration band{1'000'000};    // > 0: where band 0 ends, rounded up to whole ns

  bool operator==(const QualityReportConfig&) const = default;
};

// All listeners are told the same: the bands as they were when a report became due. As long as there is a queue worth
// mentioning all is said again after each interval, because listeners take what they have heard to drain; that a link
// went down or came up, three times, so that a fabric with a link down comes to rest. Reports take a fiftieth of a link
// at most.
class QualityReporter {
 public:
  explicit QualityReporter(std::size_t ports = 0)
      : said_(ports, std::uint8_t{0}), listener_(ports), wire_time_(ports) {}

  // Nothing, or no listeners: silence. What was said before is forgotten.
  void set(const std::optional<QualityReportConfig>& config, const std::vector<bool>& listens);
  bool on() const noexcept { return on_; }
  // How long a report takes on the link of `port`, which has this rate.
  void set_rate(PortIndex port, BitRate rate, Framing framing) noexcept;

  // Whether `port` is in another band than was said.
  bool differs(PortIndex port, const PortLoad& load) const noexcept { return band_of(load) != said_[port.index()]; }
  // Something differs at `now`: it is reported now (true) or later.
  bool changed(Instant now, std::span<const PortLoad> loads);

  // When on_time() is called next; Instant::never() if there is nothing to be done.
  Instant due() const noexcept { return due_; }
  void on_time(Instant now, std::span<const PortLoad> loads);

  // Calls tell(port) for each listener that is to get a report as soon as its port is idle.
  template <class Tell>
  void release(Instant now, Tell&& tell) {
    for (std::size_t p = 0; p < listener_.size(); ++p) {
      Listener& l = listener_[p];
      if (!l.waits || l.not_before > now) continue;
      l.waits = false;
      tell(PortIndex{static_cast<std::uint16_t>(p)});
    }
    find_due();
  }
  // The report that leaves by `port` at `now`. If there are more ports than one has room for, the others follow.
  wire::QualityReport take(Instant now, PortIndex port);

  // The link of a listener: it has forgotten everything, and is told it when it is there again.
  void link_down(PortIndex port) noexcept;
  void link_up(PortIndex port) noexcept;

 private:
  struct Listener {
    bool listens = false;
    bool up = true;
    bool waits = false;  // for release()
    std::uint16_t next_port = 0;
    Instant not_before{};
  };
  static constexpr int kRepeats = 3;

  std::uint8_t band_of(const PortLoad& load) const noexcept {
    return load.up ? static_cast<std::uint8_t>(bands_.grade(load.drain())) : wire::QualityReport::kNoLink;
  }
  void say(Instant now, std::span<const PortLoad> loads);
  void find_due() noexcept;

  QualityReportConfig config_;
  QualityBands bands_;
  bool on_ = false;
  bool changed_ = false;      // since it was last said
  bool mentionable_ = false;  // a queue is in another band than the best
  int repeats_ = 0;           // still to come, of what was said about links
  Duration lifetime_{};
  Instant next_{};  // nothing is said before
  Instant repeat_at_ = Instant::never();
  Instant due_ = Instant::never();
  std::vector<std::uint8_t> said_;  // by port
  std::vector<Listener> listener_;
  std::vector<Duration> wire_time_;
};

// What can be wrong with the numbers by themselves. `where` begins the message.
std::expected<void, std::string> validate(const QualityReportConfig& config, const std::string& where);

}  // namespace railyard
