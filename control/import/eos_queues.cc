#include "control/import/eos_queues.h"

#include <fmt/format.h>

#include "control/import/thresholds.h"
#include "control/spec/value.h"

namespace railyard::importing {
namespace {

// Of Trident and Tomahawk; other ASICs have other cells.
constexpr std::int64_t kSegment = 208;
constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;
constexpr long long kMostWeight = 100;  // percent

bool uses_segments(const ConfigLine& line) { return line.text.contains(" segments"); }

// `random-detect ecn ...` marks, `random-detect drop ...` drops.
void read_random_detect(const RunningConfig& config, const ConfigLine& line, QueueSettings& into) {
  const bool marks = line.begins({"random-detect", "ecn"});
  if (!marks && !line.begins({"random-detect", "drop"})) return;
  if (line.words.size() == 3) return;  // random-detect ecn count
  const auto thresholds = read_thresholds(config, line, kSegment);
  if (!thresholds) return;
  if (uses_segments(line)) config.remark(line, "segments", fmt::format("taken as {} octets each", kSegment));
  if (line.after("weight") != nullptr && *line.after("weight") != "0")
    config.remark(line, "weight " + *line.after("weight"), "queues of a fabric file mark by their present depth");
  const auto percent = config.number_after(line, marks ? "max-mark-probability" : "drop-probability", 1, 100);
  if (!marks && into.wred && into.wred->marks) {
    leave(line, "the queue marks; a fabric file drops or marks at these thresholds");
    return;
  }
  take(line);
  into.wred = WredCurve{.min = thresholds->min,
                        .max = thresholds->max,
                        .percent = percent.value_or(100),
                        .marks = marks,
                        .drops_others = false};
}

void read_tx_queue(const RunningConfig& config, const ConfigLine& block, EosPortQos& into) {
  if (block.words.size() != 2) config.fail(block, fmt::format("'{}'", block.text), "the number of a queue, 0..7");
  const auto q = static_cast<std::size_t>(config.number(block, block.words[0], block.words[1], 0, 7));
  take(block);
  into.queue_lines[q].push_back(&block);
  QueueSettings& queue = into.queues[q];
  for (const ConfigLine& line : block.below) {
    if (line.begins({"bandwidth"})) {
      if (const auto percent = config.number_after(line, "percent", 0, kMostWeight)) {
        take(line);
        if (*percent == 0)
          config.remark(line, line.text, "a weight is at least 1");
        else
          queue.weight = *percent;
      }
    } else if (line.text == "no priority" || line.text == "priority strict") {
      queue.strict = take(line).words[0] == "priority";
    } else if (line.begins({"random-detect"})) {
      read_random_detect(config, line, queue);
    } else {
      continue;
    }
    into.queue_lines[q].push_back(&line);
  }
}

std::int64_t milliseconds(const RunningConfig& config, const ConfigLine& line, const std::string& key) {
  const std::string* const text = line.after(key);
  if (text == nullptr) config.fail(line, "nothing behind " + key, "a time in seconds");
  const auto time = spec::parse_duration(*text + "s");
  const std::int64_t ms = time ? time->ps / kPicosecondsPerMillisecond : 0;
  if (ms < 1 || ms > 60'000)
    config.fail(line, fmt::format("{} '{}'", key, *text), "a time in seconds, 0.001..60");
  return ms;
}

void read_pfc(const RunningConfig& config, const ConfigLine& line, EosPortQos& into) {
  if (line.begins({"priority-flow-control", "pause", "watchdog"})) {
    read_eos_watchdog(config, line, into.watchdog);
    into.watchdog_lines.push_back(&line);
    return;
  }
  if (line.text == "priority-flow-control on" || line.text == "priority-flow-control mode on") {
    into.pfc_on = true;
  } else if (line.begins({"priority-flow-control", "priority"})) {
    const int priority = static_cast<int>(*config.number_after(line, "priority", 0, 7));
    const std::string& what = line.words.back();
    if (what != "no-drop" && what != "drop")
      config.fail(line, fmt::format("'{}' behind priority {}", what, priority), "no-drop or drop");
    if (what == "no-drop")
      into.no_drop.insert(priority);
    else
      into.no_drop.erase(priority);
  } else {
    return;
  }
  take(line);
  into.pfc_lines.push_back(&line);
}

}  // namespace

void read_eos_watchdog(const RunningConfig& config, const ConfigLine& line, EosWatchdog& into) {
  take(line);
  if (line.words.size() == 3) into.on = true;
  for (const std::string& word : line.words) {
    if (word == "timeout") {
      into.timeout = milliseconds(config, line, word);
      into.on = true;
    } else if (word == "recovery-time") {
      into.recovery = milliseconds(config, line, word);
    } else if (word == "polling-interval") {
      const std::string* const value = line.after(word);
      into.polling = value != nullptr && *value == "auto" ? 0 : milliseconds(config, line, word);
    } else if (word == "action") {
      const std::string* const action = line.after(word);
      if (action == nullptr || (*action != "drop" && *action != "notify-only" && *action != "errdisable"))
        config.fail(line, fmt::format("action '{}'", action == nullptr ? "" : *action), "drop, notify-only or errdisable");
      into.action = *action;
    }
  }
}

void read_eos_port(const RunningConfig& config, const std::deque<ConfigLine>& lines, EosPortQos& into) {
  for (const ConfigLine& line : lines) {
    if (line.begins({"qos", "trust"}) && line.words.size() == 3) {
      if (line.words[2] != "dscp" && line.words[2] != "cos")
        config.fail(line, fmt::format("qos trust '{}'", line.words[2]), "dscp or cos");
      into.trust_pcp = take(line).words[2] == "cos";
      into.trust_lines.push_back(&line);
    } else if (line.begins({"tx-queue"}) || line.begins({"uc-tx-queue"})) {
      read_tx_queue(config, line, into);
    } else if (line.begins({"priority-flow-control"})) {
      read_pfc(config, line, into);
    } else if (line.text == "no priority-flow-control") {
      take(line);
      into.pfc_on = false;
    } else if (line.text == "no priority-flow-control pause watchdog") {
      take(line);
      into.watchdog.on = false;
    }
  }
}

void settle_eos_scheduling(const RunningConfig& config, EosPortQos& port) {
  bool round_robin = false;
  for (std::size_t q = kClasses; q-- > 0;) {
    for (const ConfigLine* line : port.queue_lines[q])
      if (line->text == "no priority") round_robin = true;
    QueueSettings& queue = port.queues[q];
    queue.strict = queue.strict || !round_robin;
    if (!queue.strict) continue;
    for (const ConfigLine* line : port.queue_lines[q])
      if (line->begins({"bandwidth"}) && queue.weight)
        config.remark(*line, line->text, fmt::format("queue {} has strict priority, EOS's default without `no priority`", q));
    queue.weight.reset();
  }
}

}  // namespace railyard::importing
