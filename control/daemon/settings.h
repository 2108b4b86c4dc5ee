// What a lab that is up has been told: its file, and what has been set since.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/spec/difference.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// The text of a fabric file and the assignments ("path=value") in force over it, in order. A lab is always what the
// file with these says, so what can be said and what is wrong with it are the same before and while it is up.
class Settings {
 public:
  // `site`: the lab is the part of the file's that this site runs; empty: all of it.
  Settings(std::string text, std::string file_name, std::vector<std::string> assignments, std::string site = {})
      : text_(std::move(text)),
        file_name_(std::move(file_name)),
        assignments_(std::move(assignments)),
        site_(std::move(site)) {}

  // The same with more assignments. One that a later one of the same path replaces is left out, so that a lab that is
  // told things for weeks does not gather them.
  Settings with(const std::vector<std::string>& more) const;
  // The same with something else behind NICs, whatever the file says there.
  Settings with(const std::vector<spec::PortName>& nics, const spec::Attachment& attach) const;
  // Throws spec::SpecError.
  spec::Lab lab() const;
  // Of what lab() says, what `with` can change while the lab is up, with its present value: links.PORT.rate for links that
  // the file lists, the preset's keys (topology.host-link.rate, ...) for links that a preset made. Throws
  // spec::SpecError.
  std::vector<spec::Saying> changeable() const;

  const std::vector<std::string>& assignments() const noexcept { return assignments_; }

 private:
  std::string text_;
  std::string file_name_;
  std::vector<std::string> assignments_;
  std::string site_;
  std::map<spec::PortName, spec::Attachment> attached_;
};

}  // namespace railyard::daemon
