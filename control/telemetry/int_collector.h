// The collector of in-band telemetry: fetches what devices have noted of sampled packets, writes it down, sums it up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/base/output_file.h"
#include "control/build/built_lab.h"
#include "control/spec/spec.h"
#include "control/telemetry/int_exchange.h"
#include "control/telemetry/int_report.h"
#include "dataplane/device/int_source.h"

namespace railyard::telemetry {

// Called while the lab rests. Must not outlive the lab, whose devices use what it holds.
class IntCollector {
 public:
  // `exchange`: of one of several processes that run the lab. All of them do the same with their collectors at the same
  // instants, and that of the first has seen everything; the others have nothing to report.
  explicit IntCollector(build::BuiltLab& lab, std::unique_ptr<IntExchange> exchange = nullptr);
  ~IntCollector();
  IntCollector(const IntCollector&) = delete;
  IntCollector& operator=(const IntCollector&) = delete;

  // Samples from now on; all that was counted begins anew. `what.packets` counts the first time only: memory is taken
  // then. Throws std::runtime_error: one of `what.flows` is none of the lab.
  void start(const spec::IntSpec& what);
  // Samples no more, and fetches what there is: what has neither arrived nor been dropped is lost, or under way.
  void stop();
  bool running() const noexcept { return running_; }
  // Throws what start() would.
  void check(const spec::IntSpec& what) const { streams_of(what.flows); }

  // Writes every record to `file` from now on, a line of JSON each: the hops of a packet in order, packets in the order
  // in which they were fetched. If the disk fills up later, the records end there and the sums go on.
  //   packet   number of the packet in this file; flow, or the NIC of the sender for what no flow of the lab is;
  //   offset   of its payload in the flow, or its number
  //   hop      0: the source; node, in, out (ports; null: it begins or ends there), class, octets of the frame
  //   ingress_ps  arrival of the last octet; egress_ps: departure of the first; waited_ps: in the queue
  //   queue_octets  found there on admission, with the frame in transmission; ce: CE was set here; dropped: why, or
  //   null end      of hop 0: arrived, dropped, lost or under_way
  void write_to(std::shared_ptr<OutputFile> file) noexcept { out_ = std::move(file); }
  // What it writes to; nullptr: nothing. Once it has stopped, another thread may close the file.
  std::shared_ptr<OutputFile> file() const noexcept { return out_; }
  // Writes what is left. Throws std::runtime_error if not everything could be written.
  void close();
  // "cannot write FILE: why", or nothing. Stays until the next write_to().
  std::string write_error() const { return out_ ? out_->error() : std::string(); }

  // Fetches what has arrived or was dropped; what was lost between devices where a sender has little room left, else in
  // the end. Often enough, so that senders do not run out of room.
  void look();

  // So far.
  IntReport report() const;

 private:
  struct Slow {
    Duration latency;
    IntStack stack;
  };
  using QueueKey = std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>;  // device, port, class

  std::vector<std::uint64_t> streams_of(const std::vector<std::string>& flows) const;
  bool is_trunk(DeviceId device) const;
  std::string flow_name(const IntStack& stack) const;
  void fetch_ended();
  void fetch_lost();
  IntExchange::Counted counted() const;
  // Of packets of all processes; `count` grows by so many.
  void add(std::vector<const IntStack*> stacks, const char* end, std::uint64_t& count);
  void add(const IntStack& stack, const char* end);
  void write(const IntStack& stack, const char* end);
  void keep_if_slow(const IntStack& stack);

  build::BuiltLab& lab_;
  std::unique_ptr<IntExchange> exchange_;
  IntExchange::Counted of_others_;  // when last looked
  std::unordered_map<const std::string*, DeviceId> device_of_;        // by the address of its name
  std::unordered_map<std::uint64_t, const std::string*> flow_names_;  // by stream
  std::vector<std::unique_ptr<IntSource>> sources_;                   // by device; nothing for switches
  bool running_ = false;
  std::shared_ptr<OutputFile> out_;
  std::uint64_t packets_ = 0;
  IntReport so_far_;
  std::map<QueueKey, IntReport::Queue> queues_;
  std::vector<Slow> slowest_;  // the slowest first
};

}  // namespace railyard::telemetry
