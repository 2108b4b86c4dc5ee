// A whole capture, frame by frame.
#pragma once

#include <filesystem>
#include <functional>

#include "control/decode/decode_frame.h"

namespace railyard::decode {

// Decodes every frame of a pcap or pcapng file ("-": standard input) and hands it on as an object with
//   frame      its number in the file, from 1
//   time_ns    since the first frame
//   octets     of the frame without FCS; captured: how many of them the file has, if not all
// and what decode_frame() says, of UET by what our own captures say of the lab's NICs (capture_note.h). Frames
// before a place where the file is broken are handed on. Throws std::runtime_error with the file's name, the frame and
// what was expected.
void decode_file(const std::filesystem::path& path, const std::function<void(const Json&)>& each,
                 const DecodeOptions& options = {});

}  // namespace railyard::decode
