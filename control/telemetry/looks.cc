#include "control/telemetry/looks.h"

#include <algorithm>
#include <utility>

namespace railyard::telemetry {

namespace {

// The first instant of the grid through `due` that is not before `at`.
Instant first_from(Instant at, Instant due, Duration every) {
  if (due >= at) return due;
  return due + every * ((at - due).ps / every.ps + ((at - due).ps % every.ps != 0 ? 1 : 0));
}

}  // namespace

void Looks::add(const void* owner, Instant from, Duration every, Look look, Reads reads) {
  remove(owner);
  entries_.push_back({owner, from, every, std::move(look), reads});
  find_next();
}

void Looks::remove(const void* owner) {
  std::erase_if(entries_, [&](const Entry& e) { return e.owner == owner; });
  find_next();
}

void Looks::look(Instant at) {
  // By number: a look may be the last of its owner, and remove itself.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].due > at) continue;
    entries_[i].due = first_from(at + Duration{1}, entries_[i].due, entries_[i].every);
    const Look look = entries_[i].look;
    look(at);
  }
  find_next();
}

bool Looks::next_reads(Reads what) const noexcept {
  return std::ranges::any_of(entries_, [&](const Entry& e) { return e.due <= next_ && e.reads == what; });
}

void Looks::skip_to(Instant at) {
  for (Entry& e : entries_) e.due = first_from(at, e.due, e.every);
  find_next();
}

void Looks::find_next() noexcept {
  next_ = Instant::never();
  for (const Entry& e : entries_) next_ = std::min(next_, e.due);
}

}  // namespace railyard::telemetry
