#include "tests/dataplane/wire/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace railyard::wire {

std::vector<CorpusFrame> read_corpus() {
  std::vector<CorpusFrame> frames;
  for (const auto& file : std::filesystem::directory_iterator(RAILYARD_SOURCE_DIR "/tests/fuzz/corpus/parse_frame")) {
    Octets octets(file.file_size());
    std::ifstream in(file.path(), std::ios::binary);
    in.read(reinterpret_cast<char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
    if (!in) throw std::runtime_error("cannot read " + file.path().string());
    frames.push_back({file.path().stem().string(), std::move(octets)});
  }
  if (frames.empty()) throw std::runtime_error("the corpus is empty: run tests/fuzz/make_corpus.py");
  std::ranges::sort(frames, {}, &CorpusFrame::name);
  return frames;
}

Octets corpus_frame(std::string_view name) {
  static const std::vector<CorpusFrame> frames = read_corpus();
  const auto found = std::ranges::find(frames, name, &CorpusFrame::name);
  if (found == frames.end()) throw std::out_of_range("no frame of this name in the corpus: " + std::string(name));
  return found->octets;
}

}  // namespace railyard::wire
