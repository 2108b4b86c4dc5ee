// The terminal of `railyard top` (ncurses): what is drawn there, and the keys that are pressed.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace railyard::tools {

// One screen. The terminal is as it was when this is gone.
class TopScreen {
 public:
  // Throws std::runtime_error: the terminal is none that terminfo knows, or is smaller than 20 x 5.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  struct Line {
    enum class Look { kPlain, kHeading, kBad, kQuiet };
    std::string text;
    Look look = Look::kPlain;
  };
  // Draws `lines`, and what does not fit is left out; below them, on the last line, `foot`.
  void draw(const std::vector<Line>& lines, const std::string& foot);
  std::size_t width() const;
  std::size_t height() const;

  // Keys that are no characters.
  enum Key { kNone = -1, kUp = 0x110000, kDown, kLeft, kRight, kPageUp, kPageDown, kHome, kEnd, kErase, kResized };
  // The next key, a Key or a character; kNone: none came in this time.
  int key(std::chrono::milliseconds wait);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace railyard::tools
