// PFC that does not reach the other end, or is not obeyed there.
#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

// Who obeys is paused for far longer than this for each XOFF. Who got none is not paused.
bool is_hardly_paused(const ClassCase& there) {
  return there.xoff_received == 0 || there.paused_ns < 200 * there.xoff_received;
}

template <class Judge>
std::vector<Diagnosis> each_class(const Case& c, Judge judge) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    if (p.other == nullptr) continue;
    for (std::size_t k = 0; k < p.classes.size(); ++k) judge(p, p.classes[k], p.other->classes[k], k, out);
  }
  return out;
}

bool are_lost(const ClassCase& here, const ClassCase& there) {
  // One may be on its way when the counters are read.
  const bool enough = here.xoff_sent >= 2 || (here.xoff_sent == 1 && here.dropped("headroom_full") > 0);
  return enough && (there.xoff_received + there.pfc_not_enabled) * 2 < here.xoff_sent;
}

std::vector<Diagnosis> find_pfc_ignored(const Case& c) {
  return each_class(c, [](const PortCase& p, const ClassCase& here, const ClassCase& there, std::size_t k,
                          std::vector<Diagnosis>& out) {
    if (here.dropped("headroom_full") == 0 || here.xoff_sent == 0 || are_lost(here, there) ||
        there.pfc_not_enabled > 0 || there.tx == 0)
      return;
    if (!is_hardly_paused(there)) return;
    out.push_back(
        {p.other->is_switch ? p.other->name() : p.other->node,
         0.95,
         {fmt::format("{} sent {} XOFF of class {}, {} received {}", p.name(), here.xoff_sent, k, p.peer,
                      there.xoff_received),
          fmt::format("{} was paused for {:.2f} % of the time", p.peer, there.pause_share * 100),
          fmt::format("the headroom of {} ran over: {} packets dropped", p.name(), here.dropped("headroom_full"))}});
  });
}

std::vector<Diagnosis> find_pfc_lost(const Case& c) {
  return each_class(c, [](const PortCase& p, const ClassCase& here, const ClassCase& there, std::size_t k,
                          std::vector<Diagnosis>& out) {
    if (!are_lost(here, there)) return;
    out.push_back({p.direction(),
                   0.95,
                   {fmt::format("{} sent {} XOFF of class {}, {} received {}", p.name(), here.xoff_sent, k, p.peer,
                                there.xoff_received)}});
  });
}

std::vector<Diagnosis> find_pfc_one_sided(const Case& c) {
  return each_class(c, [](const PortCase& p, const ClassCase& here, const ClassCase& there, std::size_t k,
                          std::vector<Diagnosis>& out) {
    // Headroom is for what comes after a pause frame, and none was sent.
    if (here.dropped("headroom_full") > 0 && here.xoff_sent == 0 && here.headroom_cells > 0) {
      out.push_back({p.link(),
                     0.9,
                     {fmt::format("{} dropped {} packets of class {} in its headroom and sent no pause frame: it sends no PFC for "
                                  "this class",
                                  p.name(), here.dropped("headroom_full"), k)}});
      return;
    }
    if (there.pfc_not_enabled == 0) return;
    out.push_back({p.link(),
                   0.95,
                   {fmt::format("{} sent {} XOFF of class {}; {} does not obey PFC for this class ({} frames)",
                                p.name(), here.xoff_sent, k, p.peer, there.pfc_not_enabled)}});
  });
}

std::vector<Diagnosis> find_headroom_small(const Case& c) {
  return each_class(c, [](const PortCase& p, const ClassCase& here, const ClassCase& there, std::size_t k,
                          std::vector<Diagnosis>& out) {
    if (here.dropped("headroom_full") == 0 || are_lost(here, there) || there.pfc_not_enabled > 0) return;
    // Not one frame fits: then nothing comes to be paused for.
    if (here.xoff_sent == 0 && here.headroom_cells == 0) {
      out.push_back({p.name(),
                     0.8,
                     {fmt::format("{} dropped {} packets of class {}: its headroom has no room for a frame", p.name(),
                                  here.dropped("headroom_full"), k)}});
      return;
    }
    if (is_hardly_paused(there)) return;
    out.push_back({p.name(),
                   0.8,
                   {fmt::format("{} dropped {} packets of class {} in its headroom, though {} was paused", p.name(),
                                here.dropped("headroom_full"), k, p.peer)}});
  });
}

// Of a switch alone: whether its neighbour stopped is not known.
std::vector<Diagnosis> find_headroom_overflow(const Case& c) {
  std::vector<Diagnosis> out = find_headroom_small(c);
  for (const PortCase& p : c.ports())
    for (std::size_t k = 0; k < p.classes.size() && p.is_switch && p.other == nullptr; ++k)
      if (const ClassCase& q = p.classes[k]; q.dropped("headroom_full") > 0 && q.xoff_sent > 0)
        out.push_back({p.name(),
                       0.6,
                       {fmt::format("{} sent {} pauses of class {} and dropped {} packets of it all the same: too little "
                                    "headroom, or the other end does not stop",
                                    p.name(), q.xoff_sent, k, q.dropped("headroom_full"))}});
  return out;
}

}  // namespace

const Rule rules::kPfcIgnored{
    "pfc-ignored", "A device receives pause frames and goes on sending.",
    "Its PFC settings and firmware; PFC must be on for this priority in its transmit direction.",
    "It was paused, and the headroom is too small for the cable.", find_pfc_ignored, {Input::kLinks}};
const Rule rules::kPfcLost{"pfc-lost", "Pause frames do not arrive.",
                           "The link in this direction, and devices that filter MAC control frames.",
                           "The other end counts as many as were sent.", find_pfc_lost, {Input::kLinks}};
const Rule rules::kPfcOneSided{"pfc-one-sided",
                               "PFC of a priority is on at one end of a link only.",
                               "Switch PFC on for the same priorities at both ends.",
                               "Both ends count pauses of this priority.", find_pfc_one_sided, {Input::kLinks}};
const Rule rules::kHeadroomSmall{"headroom-small",
                                 "The headroom is too small for what comes after a pause frame was sent.",
                                 "Compute it from rate, cable and MTU: `railyard check` does.",
                                 "Packets are lost at other ports, too: then the buffer is full.", find_headroom_overflow, {Input::kPorts}};

}  // namespace railyard::doctor
