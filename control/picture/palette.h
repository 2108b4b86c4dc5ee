// The colours of a picture.
#pragma once

#include <string>

namespace railyard::picture {

inline constexpr const char* kPaper = "#ffffff";
inline constexpr const char* kPaperEdge = "#cbd5e1";
inline constexpr const char* kBand = "#f3f5f9";      // behind the nodes of a tier
inline constexpr const char* kInk = "#0f172a";       // names
inline constexpr const char* kQuietInk = "#475569";  // everything else that is written
inline constexpr const char* kWire = "#64748b";      // links of no rail
inline constexpr const char* kSwitch = "#dfe8f5";
inline constexpr const char* kSwitchEdge = "#42628f";
inline constexpr const char* kHost = "#ffffff";
inline constexpr const char* kHostEdge = "#8a98ad";

// Rails 1..8, and from 9 on again: the colours of Okabe and Ito ("Color Universal Design", 2008), which people with
// all kinds of colour vision tell apart; their yellow and black are too close to paper and ink, two of Tol's
// ("Colour Schemes", 2021) stand in for them.
const char* rail_colour(int rail);

// A light shade of a rail's colour, to write on.
std::string rail_tint(int rail);

}  // namespace railyard::picture
