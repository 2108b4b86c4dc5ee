#include "tools/railyard/top_screen.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// Its macros (erase, timeout, ...) are names of others; here are only ours.
#define NCURSES_NOMACROS 1
#include <ncurses.h>

namespace railyard::tools {

struct TopScreen::Terminal {
  SCREEN* screen = nullptr;
  bool has_colours = false;
};

TopScreen::TopScreen() : terminal_(std::make_unique<Terminal>()) {
  terminal_->screen = ::newterm(nullptr, stdout, stdin);
  if (terminal_->screen == nullptr)
    throw std::runtime_error("this terminal is unknown (TERM); expected one that terminfo knows, such as TERM=xterm, or a pipe, "
                             "which gets one snapshot as text");
  ::set_term(terminal_->screen);
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::curs_set(0);
  ::set_escdelay(25);
  // https://no-color.org
  const char* const none = std::getenv("NO_COLOR");
  if ((none == nullptr || *none == '\0') && ::has_colors()) {
    ::start_color();
    ::use_default_colors();
    ::init_pair(1, COLOR_RED, -1);
    ::init_pair(2, COLOR_CYAN, -1);
    terminal_->has_colours = true;
  }
}

TopScreen::~TopScreen() {
  ::endwin();
  ::delscreen(terminal_->screen);
}

std::size_t TopScreen::width() const { return static_cast<std::size_t>(std::max(1, getmaxx(stdscr))); }
std::size_t TopScreen::height() const { return static_cast<std::size_t>(std::max(2, getmaxy(stdscr))); }

void TopScreen::draw(const std::vector<Line>& lines, const std::string& foot) {
  const auto pair = [&](int n) { return terminal_->has_colours ? static_cast<attr_t>(COLOR_PAIR(n)) : attr_t{A_NORMAL}; };
  const auto attributes = [&](Line::Look look) -> attr_t {
    switch (look) {
      case Line::Look::kHeading:
        return A_REVERSE;
      case Line::Look::kBad:
        return A_BOLD | pair(1);
      case Line::Look::kQuiet:
        return pair(2);
      case Line::Look::kPlain:
        break;
    }
    return A_NORMAL;
  };
  const auto put = [&](std::size_t y, const Line& line) {
    const attr_t how = attributes(line.look);
    ::wattron(stdscr, static_cast<int>(how));
    std::string text = line.text.substr(0, width());
    if (line.look == Line::Look::kHeading) text.resize(width(), ' ');
    ::mvwaddnstr(stdscr, static_cast<int>(y), 0, text.c_str(), static_cast<int>(text.size()));
    ::wattroff(stdscr, static_cast<int>(how));
  };
  ::werase(stdscr);
  const std::size_t room = height() - 1;
  for (std::size_t y = 0; y < std::min(room, lines.size()); ++y) put(y, lines[y]);
  put(room, {foot, Line::Look::kQuiet});
  ::wrefresh(stdscr);
}

int TopScreen::key(std::chrono::milliseconds wait) {
  ::wtimeout(stdscr, static_cast<int>(wait.count()));
  switch (const int k = ::wgetch(stdscr)) {
    case ERR:
      return kNone;
    case KEY_UP:
      return kUp;
    case KEY_DOWN:
      return kDown;
    case KEY_LEFT:
      return kLeft;
    case KEY_RIGHT:
      return kRight;
    case KEY_PPAGE:
      return kPageUp;
    case KEY_NPAGE:
      return kPageDown;
    case KEY_HOME:
      return kHome;
    case KEY_END:
      return kEnd;
    case KEY_BACKSPACE:
    case 127:
    case 8:
      return kErase;
    case KEY_RESIZE:
      return kResized;
    default:
      return k;
  }
}

}  // namespace railyard::tools
