// One packet of every kind: the seed corpus of the fuzzers, made by tests/fuzz/make_corpus.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/dataplane/wire/octets.h"

namespace railyard::wire {

struct CorpusFrame {
  std::string name;
  Octets octets;
};

// All of them, by name; throws if there are none.
std::vector<CorpusFrame> read_corpus();

// The frame called `name`; throws if there is none.
Octets corpus_frame(std::string_view name);

}  // namespace railyard::wire
