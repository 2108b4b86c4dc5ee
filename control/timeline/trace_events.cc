#include "control/timeline/trace_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/timeline/timeline.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::timeline {
namespace {

using Kind = Work::Operation::Kind;
using Step = CollectiveStep;

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

std::string microseconds(Duration d) {
  constexpr std::int64_t kMicrosecond = 1'000'000;
  return fmt::format("{}.{:06}", d.ps / kMicrosecond, d.ps % kMicrosecond);
}

class Writer {
 public:
  explicit Writer(std::size_t most) : left_(most) {}

  void add(const build::BuiltLab& lab, const build::Collective& collective, const Timeline& timeline) {
    const spec::CollectiveSpec& spec = lab.spec().collectives[collective.spec];
    ++process_;
    threads_ = 0;
    event(R"("ph":"M","name":"process_name","args":{{"name":{}}})",
          quoted(fmt::format("{} ({} {})", spec.name, spec.operation_name(), spec.algorithm_name())));
    // Some ranks begin one while others are at the one before: each has a thread on which none lies in another.
    std::vector<std::pair<std::uint32_t, Instant>> free;
    for (const RepeatTimes& r : timeline.repeats) {
      auto at = std::ranges::find_if(free, [&](const auto& t) { return t.second <= r.from; });
      if (at == free.end())
        at = free.insert(free.end(), {thread(free.empty() ? "repeats" : fmt::format("repeats, {}", free.size() + 1)), Instant{}});
      at->second = r.to;
      slice(at->first, fmt::format("repeat {}", r.repeat + 1), "repeat", {r.from, r.to}, r.repeat);
    }
    for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) add_rank(collective, timeline, rank);
  }

  std::string end() {
    return fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"omitted_slices\":{}}},\"traceEvents\":[\n{}\n]}}\n",
                       omitted_, text_);
  }

 private:
  // The operation of a rank in a repeat.
  struct Key {
    std::uint32_t rank, operation;
    std::size_t repeat;
    auto operator<=>(const Key&) const = default;
  };

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += text_.empty() ? "{" : ",\n{";
    fmt::format_to(std::back_inserter(text_), "\"pid\":{},", process_);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '}';
  }

  std::uint32_t thread(const std::string& name) {
    ++threads_;
    event(R"("tid":{},"ph":"M","name":"thread_name","args":{{"name":{}}})", threads_, quoted(name));
    event(R"("tid":{},"ph":"M","name":"thread_sort_index","args":{{"sort_index":{}}})", threads_, threads_);
    return threads_;
  }

  bool slice(std::uint32_t thread, const std::string& name, const char* category, const Interval& when, std::size_t repeat) {
    if (left_ == 0) {
      ++omitted_;
      return false;
    }
    --left_;
    event(R"("tid":{},"ph":"X","cat":"{}","name":{},"ts":{},"dur":{},"args":{{"repeat":{}}})", thread, category, quoted(name),
          microseconds(when.from - Instant{}), microseconds(when.to - when.from), repeat + 1);
    return true;
  }

  // Slices of one thread do not overlap: the first one that is free.
  struct Lanes {
    std::vector<std::pair<std::uint32_t, Instant>> busy_until{};  // by lane: its thread

    template <class MakeThread>
    std::uint32_t take(const Interval& when, const MakeThread& make_thread) {
      for (auto& [thread, until] : busy_until)
        if (until <= when.from) {
          until = when.to;
          return thread;
        }
      busy_until.emplace_back(make_thread(busy_until.size()), when.to);
      return busy_until.back().first;
    }
  };

  void add_rank(const build::Collective& collective, const Timeline& t, std::uint32_t rank) {
    const std::string who = fmt::format("rank {} ({})", rank, t.ranks[rank]);
    const auto lane_name = [&](const std::string& what, std::size_t lane) {
      return lane == 0 ? fmt::format("{} {}", who, what) : fmt::format("{} {} {}", who, what, lane + 1);
    };
    std::map<std::uint8_t, Lanes> streams;
    Lanes messages;
    const std::vector<Work::Operation>& operations = t.work.operations[rank];
    // Threads in the order in which people look: computing, communication, waiting.
    for (const Work::Operation& o : operations)
      if (o.kind == Kind::kCompute) streams.try_emplace(o.stream);
    for (auto& [stream, lanes] : streams)
      lanes.busy_until.emplace_back(thread(stream == 0 ? who + " compute" : fmt::format("{} compute, stream {}", who, stream)),
                                    Instant{});
    for (const RepeatTimes& repeat : t.repeats)
      for (const Slice& s : repeat.ranks[rank].slices) {
        const Work::Operation& o = operations[s.operation];
        const bool computes = o.kind == Kind::kCompute;
        Lanes& lanes = computes ? streams[o.stream] : messages;
        const std::uint32_t at = lanes.take({s.from, s.to}, [&](std::size_t lane) {
          return thread(lane_name(computes ? "compute" : "communication", lane));
        });
        if (!slice(at, t.work.names[o.name], computes ? "compute" : "communication", {s.from, s.to}, repeat.repeat)) continue;
        if (o.kind == Kind::kSend || o.kind == Kind::kReceive)
          arrow(collective, t, {rank, s.operation, repeat.repeat}, at, s, o.kind == Kind::kSend);
      }
    std::uint32_t waiting = 0;
    for (const RepeatTimes& repeat : t.repeats)
      for (const Waiting& w : repeat.ranks[rank].waiting) {
        if (waiting == 0) waiting = thread(who + " waiting");
        slice(waiting,
              w.rank == Waiting::kNobody ? std::string("idle") : fmt::format("waiting for rank {} ({})", w.rank, t.ranks[w.rank]),
              "waiting", w.when, repeat.repeat);
      }
  }

  // From a send to the receive of its message: both ends have the number of the sending end.
  void arrow(const build::Collective& collective, const Timeline& t, const Key& end, std::uint32_t thread, const Slice& s,
             bool sends) {
    Key sender = end;
    if (!sends) {
      const auto found = first_step(collective, t, end);
      if (!found) return;
      const RankProgram& p = collective.ranks[end.rank]->program();
      const Step& step = p.steps[*found];
      sender.rank = p.connections[step.connection].peer;
      sender.operation = t.work.of_step[sender.rank][step.peer_step];
    }
    const auto [id, is_new] = arrows_.try_emplace({process_, sender}, arrows_.size() + 1);
    event(R"("tid":{},"ph":"{}",{}"cat":"message","name":"message","id":{},"ts":{})", thread, sends ? "s" : "f",
          sends ? "" : "\"bp\":\"e\",", id->second, microseconds((sends ? s.from : s.to) - Instant{}));
  }

  // Of a receive, whose steps are its messages.
  std::optional<std::uint32_t> first_step(const build::Collective& collective, const Timeline& t, const Key& of) {
    std::vector<std::optional<std::uint32_t>>& known = first_steps_[{process_, of.rank}];
    if (known.empty()) {
      known.resize(t.work.operations[of.rank].size());
      const std::vector<std::uint32_t>& of_step = t.work.of_step[of.rank];
      for (std::uint32_t s = 0; s < of_step.size(); ++s)
        if (of_step[s] != Step::kNone && !known[of_step[s]] && collective.ranks[of.rank]->program().steps[s].receives())
          known[of_step[s]] = s;
    }
    return known[of.operation];
  }

  std::string text_;
  std::size_t left_;
  std::size_t omitted_ = 0;
  std::uint32_t process_ = 0;
  std::uint32_t threads_ = 0;
  std::map<std::pair<std::uint32_t, Key>, std::size_t> arrows_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::optional<std::uint32_t>>> first_steps_;
};

}  // namespace

std::string trace_events(const build::BuiltLab& lab, std::size_t most_slices) {
  Writer writer(most_slices);
  for (const build::Collective& c : lab.collectives())
    if (const auto timeline = timeline_of(lab, c)) writer.add(lab, c, *timeline);
  return writer.end();
}

}  // namespace railyard::timeline
