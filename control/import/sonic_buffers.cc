#include "control/import/sonic_buffers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/import/most_common.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kMostBufferOctets = std::int64_t{1} << 40;
const char* const kOneBufferProfile = "not as at most ports; a switch has one QoS profile";

struct BufferProfile {
  const Row* row = nullptr;
  const Row* pool = nullptr;
  GroupBuffer group;
  bool is_dynamic = false;  // headroom_type: the switch computes it
  bool trims = false;
};

class BufferReader {
 public:
  BufferReader(const ConfigDb& db, const std::vector<PortConfig>& ports, const ClassMaps& maps,
               const PgProfileLookup& lookup)
      : db_(db), ports_(ports), maps_(maps), lookup_(lookup) {
    index("BUFFER_PG", pg_rows_);
    index("BUFFER_QUEUE", queue_rows_);
  }

  SwitchBuffers read() {
    SwitchBuffers out;
    out.groups.resize(ports_.size());
    for (std::size_t i = 0; i < ports_.size(); ++i)
      for (std::size_t c = 0; c < kClasses; ++c) out.groups[i][c] = group(i, c);
    for (std::size_t c = 0; c < kClasses; ++c) out.queues[c] = queue(c);
    share_reserved(out);
    out.memory = memory(out);
    return out;
  }

 private:
  using Rows = std::map<std::pair<std::string, int>, const Row*>;

  void index(const char* table, Rows& into) {
    for (const Row& row : db_.table(table)) {
      const std::vector<std::pair<std::string, int>> keys = ports_and_numbers(row, 63);
      // "host|asic0|Ethernet0|3", and queues towards the CPU.
      if (row.key().find('|') != row.key().rfind('|') || row.key().starts_with("CPU")) continue;
      for (const auto& [port, n] : keys) {
        port_named(ports_, port, row);
        if (!into.emplace(std::pair{port, n}, &row).second)
          row.fail("", fmt::format("a duplicate: {} of {}", n, port), "each once");
      }
    }
  }

  const Row* find(const Rows& rows, std::size_t port, std::size_t n) const {
    const auto found = rows.find({ports_[port].name, static_cast<int>(n)});
    return found == rows.end() ? nullptr : found->second;
  }

  const BufferProfile& profile(const Row& by, const std::string& name) {
    const auto known = profiles_.find(name);
    if (known != profiles_.end()) return known->second;
    if (name.starts_with("pg_lossless_") && db_.find("BUFFER_PROFILE", name) == nullptr)
      by.fail("profile", fmt::format("'{}'", name),
              "a name in BUFFER_PROFILE, or --lookup with a pg_profile_lookup.ini that has it");
    const Row& row = db_.named(by, "profile", "BUFFER_PROFILE", name);
    BufferProfile out{.row = &row, .pool = nullptr, .group = {}};
    if (const std::optional<std::string> pool = row.reference("pool"))
      out.pool = &db_.named(row, "pool", "BUFFER_POOL", *pool);
    if (const auto th = row.integer("dynamic_th", -8, 7)) out.group.alpha_exponent = static_cast<int>(*th);
    out.group.limit = row.integer("static_th", 0, kMostBufferOctets);
    if (out.group.limit && out.group.alpha_exponent)
      row.fail("static_th", "both static_th and dynamic_th", "one of the two");
    out.group.headroom = row.integer("xoff", 0, kMostBufferOctets);
    const std::int64_t size = row.integer("size", 0, kMostBufferOctets).value_or(0);
    const std::optional<std::int64_t> xon = row.integer("xon", 0, kMostBufferOctets);
    out.group.xon_offset = row.integer("xon_offset", 0, kMostBufferOctets);
    set_reserved_and_xon(out.group, size, xon);
    if (xon) row.leave("xon", "XON is sent xon-offset below XOFF");
    const std::string* const type = row.find("headroom_type");
    out.is_dynamic = type != nullptr && *type == "dynamic";
    if (const std::string* action = row.find("packet_discard_action")) {
      if (*action != "drop" && *action != "trim")
        row.fail("packet_discard_action", fmt::format("'{}'", *action), "drop or trim");
      out.trims = *action == "trim";
    }
    out.group.profile = name;
    return profiles_.emplace(name, std::move(out)).first->second;
  }

  // Where `size` holds the headroom, too, what is left of it is reserved.
  static void set_reserved_and_xon(GroupBuffer& group, std::int64_t size, std::optional<std::int64_t> xon) {
    const std::int64_t headroom = group.headroom.value_or(0);
    group.holds_headroom = headroom > 0 && size >= headroom;
    group.reserved = group.holds_headroom ? size - headroom : size;
    if (!group.xon_offset && group.limit && xon && *xon < *group.limit) group.xon_offset = *group.limit - *xon;
  }

  GroupBuffer from_lookup(const PortConfig& port, std::int64_t speed, const std::string& cable) const {
    const PgProfile* const row = lookup_.find(speed, cable);
    if (row == nullptr)
      port.row->fail("speed",
                     fmt::format("{} Mb/s and {}, of which {} has no line", speed,
                                 cable.empty() ? "no cable length" : "a cable of " + cable, lookup_.file()),
                     "a line for both");
    GroupBuffer out;
    out.alpha_exponent = row->threshold;
    out.headroom = row->xoff;
    out.xon_offset = row->xon_offset;
    set_reserved_and_xon(out, row->size, row->xon);
    out.profile = fmt::format("{} {} of {}", speed, cable, lookup_.file());
    return out;
  }

  // "pg_lossless_100000_5m_profile", which SONiC makes of the table when a port comes up.
  std::optional<GroupBuffer> from_name(const PortConfig& port, const std::string& name) const {
    const std::vector<std::string> words = split(name, '_');
    if (lookup_.file().empty() || words.size() < 5 || words[0] != "pg" || words[1] != "lossless") return std::nullopt;
    const std::optional<std::int64_t> speed = whole_number(words[2]);
    return speed ? std::optional(from_lookup(port, *speed, words[3])) : std::nullopt;
  }

  // PFC and the profile of its group contradict each other: what switches PFC on is named first, and the group with it.
  [[noreturn]] void fail_without_headroom(std::size_t i, std::size_t c, const Row& group, const std::string& profile) const {
    const ClassMaps::PfcSource& pfc = maps_.pfc_sources[i];
    pfc.row->fail("pfc_enable",
                  fmt::format("priority {}, whose group has the profile '{}' without xoff ({}|{})", pfc.priority[c],
                              profile, group.table(), group.key()),
                  "priorities whose groups have headroom, or a profile with xoff for this group");
  }

  std::optional<GroupBuffer> group(std::size_t i, std::size_t c) {
    const auto pg = static_cast<std::size_t>(maps_.group_of_class[c]);
    const Row* const row = find(pg_rows_, i, pg);
    const std::optional<std::string> name = row != nullptr ? row->reference("profile") : std::nullopt;
    const bool pauses = maps_.has_pfc[i][c];
    std::optional<GroupBuffer> out;
    if (!ports_[i].linked) return out;
    if (name && db_.find("BUFFER_PROFILE", *name) == nullptr) out = from_name(ports_[i], *name);
    if (name && !out) {
      const BufferProfile& p = profile(*row, *name);
      if (p.trims)
        row->fail("profile", fmt::format("'{}' with packet_discard_action trim", *name),
                  "trimming in profiles of queues only");
      if (pauses && p.group.headroom.value_or(0) == 0 && !p.is_dynamic) fail_without_headroom(i, c, *row, *name);
      if (!p.is_dynamic || !pauses) out = p.group;
      if (!pauses && p.group.headroom) p.row->leave("xoff", "not all ports with the profile have PFC");
    }
    // The switch computes it, or takes it from the table.
    if (!out && pauses && !lookup_.file().empty()) out = from_lookup(ports_[i], ports_[i].speed, ports_[i].cable);
    if (!out && pauses) {
      out.emplace();
      out->alpha_exponent = default_alpha(row, name);
      out->profile = "headroom that the switch computes";
    }
    if (out) out->row = row;
    if (out && !pauses) out->headroom = out->xon_offset = std::nullopt;
    return out;
  }

  // Of a lossless group whose headroom the switch computes.
  std::optional<int> default_alpha(const Row* by, const std::optional<std::string>& name) {
    if (by != nullptr && name)
      if (const std::optional<int> own = profile(*by, *name).group.alpha_exponent) return own;
    for (const Row& row : db_.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
      if (const auto th = row.integer("default_dynamic_th", -8, 7)) return static_cast<int>(*th);
    return std::nullopt;
  }

  std::optional<QueueBuffer> queue(std::size_t c) {
    std::vector<std::optional<QueueBuffer>> all(ports_.size());
    std::vector<std::optional<QueueBuffer>> of_linked;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (const Row* const row = find(queue_rows_, i, c))
        if (const std::optional<std::string> name = row->reference("profile")) {
          const BufferProfile& p = profile(*row, *name);
          all[i] = QueueBuffer{p.group.alpha_exponent, p.group.limit, p.group.reserved, p.trims, p.group.profile};
        }
      if (ports_[i].linked) of_linked.push_back(all[i]);
    }
    const std::optional<QueueBuffer> most = most_common(of_linked);
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (const Row* const row = find(queue_rows_, i, c); row != nullptr && ports_[i].linked && all[i] != most)
        row->leave("profile", kOneBufferProfile);
    return most;
  }

  // Several classes of one priority group: the first has what is reserved for all.
  void share_reserved(SwitchBuffers& out) const {
    for (auto& of_port : out.groups) {
      std::set<int> seen;
      for (std::size_t c = 0; c < kClasses; ++c)
        if (of_port[c] && !seen.insert(maps_.group_of_class[c]).second) of_port[c]->reserved = 0;
    }
  }

  // The pool of lossless groups; else the one that has its usual name, else any.
  const Row* ingress_pool() const {
    for (const auto& [name, p] : profiles_)
      if (p.pool != nullptr && p.group.headroom.value_or(0) > 0) return p.pool;
    if (const Row* usual = db_.find("BUFFER_POOL", "ingress_lossless_pool")) return usual;
    return db_.table("BUFFER_POOL").empty() ? nullptr : &db_.table("BUFFER_POOL").front();
  }

  // What lossless groups of all links set aside: their headroom, and with `with_reserved` what is reserved.
  std::int64_t set_aside(const SwitchBuffers& buffers, bool with_reserved) const {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < ports_.size(); ++i)
      for (std::size_t c = 0; c < kClasses; ++c)
        if (const auto& g = buffers.groups[i][c]; ports_[i].linked && maps_.has_pfc[i][c] && g)
          out += g->headroom.value_or(0) + (with_reserved ? g->reserved : 0);
    return out;
  }

  PacketMemory memory(SwitchBuffers& buffers) const {
    PacketMemory out;
    const Row* const pool = ingress_pool();
    std::int64_t largest_egress = 0;
    for (const Row& row : db_.table("BUFFER_POOL")) {
      row.find("mode");
      const std::string* const type = row.find("type");
      const std::int64_t size = row.integer("size", 0, kMostBufferOctets).value_or(0);
      if (type != nullptr && *type == "egress") largest_egress = std::max(largest_egress, size);
      if (&row != pool) row.leave("size", "a fabric file has one buffer");
    }
    if (pool == nullptr) return out;
    const std::optional<std::int64_t> size = pool->integer("size", 1, kMostBufferOctets);
    const std::int64_t xoff = pool->integer("xoff", 0, kMostBufferOctets).value_or(0);
    if (!size) {
      out.arithmetic = "the switch computes the size of its pools, so this is Railyard's default";
      return out;
    }
    const std::int64_t needed = set_aside(buffers, false);
    if (xoff == 0) {
      const bool own = holds_headroom(buffers);
      out.buffer = *size + (own ? set_aside(buffers, true) : 0);
      out.arithmetic =
          own ? fmt::format("{} of {}, and {} set aside for lossless groups", *size, pool->key(), *out.buffer - *size)
              : fmt::format("size of {}", pool->key());
      return out;
    }
    // Older Broadcom switches have the headroom beside the pool, newer ones in it; the egress pool is all of the
    // memory.
    const bool beside = largest_egress >= *size + xoff;
    const std::int64_t shared = beside ? *size : *size - xoff;
    if (shared < 0) pool->fail("xoff", fmt::format("{} above size ({})", xoff, *size), "at most the size");
    if (needed > xoff || needs_computed(buffers)) {
      out.buffer = shared + xoff;
      out.headroom_pool = xoff;
      out.arithmetic =
          fmt::format("{} shared and {} of headroom ({}){}", shared, xoff, pool->key(),
                      needed > xoff ? fmt::format(", less than the {} that all groups may have", needed) : "");
      for (auto& of_port : buffers.groups)
        for (auto& g : of_port)
          if (g) g->headroom = std::nullopt;
      for (const auto& [name, p] : profiles_)
        if (p.group.headroom) p.row->leave("xoff", "groups draw on the headroom pool, without a limit for each");
    } else {
      out.buffer = shared + needed;
      out.arithmetic = fmt::format("{} shared ({}: size{}), and {} of headroom that lossless groups have", shared,
                                   pool->key(), beside ? "" : " - xoff", needed);
      pool->leave("xoff", fmt::format("more than the {} of headroom that all groups may have", needed));
    }
    return out;
  }

  // Of all links with lossless groups: their profiles' `size` holds the headroom, and so it lies outside of the pool.
  bool holds_headroom(const SwitchBuffers& buffers) const {
    for (std::size_t i = 0; i < ports_.size(); ++i)
      for (std::size_t c = 0; c < kClasses; ++c)
        if (const auto& g = buffers.groups[i][c]; ports_[i].linked && maps_.has_pfc[i][c] && g && g->holds_headroom)
          return true;
    return false;
  }

  // Some lossless group of a link has headroom that nobody says.
  bool needs_computed(const SwitchBuffers& buffers) const {
    for (std::size_t i = 0; i < ports_.size(); ++i)
      for (std::size_t c = 0; c < kClasses; ++c)
        if (ports_[i].linked && maps_.has_pfc[i][c] && !buffers.groups[i][c]->headroom) return true;
    return false;
  }

  const ConfigDb& db_;
  const std::vector<PortConfig>& ports_;
  const ClassMaps& maps_;
  const PgProfileLookup& lookup_;
  Rows pg_rows_;
  Rows queue_rows_;
  std::map<std::string, BufferProfile> profiles_;
};

}  // namespace

SwitchBuffers read_buffers(const ConfigDb& db, const std::vector<PortConfig>& ports, const ClassMaps& maps,
                          const PgProfileLookup& lookup) {
  return BufferReader(db, ports, maps, lookup).read();
}

}  // namespace railyard::importing
