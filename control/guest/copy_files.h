// Single files into and out of a guest, with their mode; the owner is root in the guest, the caller here. A file
// arrives complete or not at all: it gets its name when all of it is there.
#pragma once

#include <filesystem>
#include <string>

#include "control/guest/run_command.h"

namespace railyard::guest {

// Copies `local` to `remote` in the guest (relative to /root; into it if it is a folder). Throws GuestError: a file
// that cannot be read or written, folders, and what AgentSession throws.
void copy_to_guest(const GuestAddress& guest, const std::filesystem::path& local, const std::string& remote);

// Copies `remote` from the guest to `local` (into it if it is a folder). Throws GuestError likewise.
void copy_from_guest(const GuestAddress& guest, const std::string& remote, const std::filesystem::path& local);

}  // namespace railyard::guest
