// `railyard top`: a lab that is up, live in the terminal.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"
#include "tools/railyard/top_screen.h"
#include "tools/railyard/top_tables.h"

namespace railyard::tools {
namespace {

using Line = TopScreen::Line;
using namespace std::chrono_literals;

struct TopOptions {
  std::string lab;
  std::string view = "links";
  std::string sort;
  std::string filter;
  std::string every = "1s";
  bool reversed = false;
};

volatile std::sig_atomic_t ended_by_signal = 0;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What a view needs. A daemon that is gone throws.
TopSample look(const daemon::LabDir& lab, TopView view) {
  TopSample s;
  s.at_seconds = steady_seconds();
  s.status = ask(lab, "GET", "/status");
  if (view == TopView::kFlows) s.flows = ask(lab, "GET", "/flows");
  if (view == TopView::kCollectives) s.collectives = ask(lab, "GET", "/collectives");
  if (view == TopView::kPauses) s.pauses = ask(lab, "GET", "/pauses");
  return s;
}

TopView view_named(const std::string& name) {
  for (std::size_t i = 0; i < kTopViews.size(); ++i)
    if (kTopViews[i] == name) return static_cast<TopView>(i);
  throw std::invalid_argument(fmt::format("--view: '{}'; expected one of {}", name, fmt::join(kTopViews, ", ")));
}

std::size_t column_named(const TopTable& table, const std::string& name) {
  if (name.empty()) return table.sorted_first;
  const auto found = std::ranges::find(table.columns, name);
  if (found == table.columns.end())
    throw CLI::ValidationError("--sort", fmt::format("'{}'; expected one of {}", name, fmt::join(table.columns, ", ")));
  return static_cast<std::size_t>(found - table.columns.begin());
}

// On a pipe: once, as text.
int print_once(const TopOptions& o, const daemon::LabDir& lab, TopView view, std::chrono::milliseconds every) {
  const TopSample before = look(lab, view);
  ::usleep(static_cast<useconds_t>(std::chrono::microseconds(every).count()));
  const TopSample now = look(lab, view);
  TopTable table = top_table(view, before, now);
  const std::size_t column = column_named(table, o.sort);
  sort_and_filter(table, o.filter, column, o.reversed);
  const auto trimmed = [](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  fmt::print("{}\n{}\n", top_line(before, now), trimmed(heading_of(table, column, std::string::npos)));
  for (const std::string& line : lines_of(table, std::string::npos)) fmt::print("{}\n", trimmed(line));
  return kOk;
}

const std::vector<std::string> kKeys{"Keys",
                                     "",
                                     "1 2 3 4 5   links, queues, flows, pauses, collectives; Tab: the next",
                                     "< >         sort by another column (also left, right); r: the other way round",
                                     "/           filter: rows with a text in them; Enter keeps it, Esc ends it",
                                     "space       freeze and go on",
                                     "up down     scroll (also j, k, PgUp, PgDn, Home, End)",
                                     "h ?         this list; any key ends it",
                                     "q           quit",
                                     "",
                                     "What needs attention is on top: links that are down, queues that drop, flows that failed."};

class Top {
 public:
  Top(const TopOptions& o, const daemon::LabDir& lab, TopView view, std::chrono::milliseconds every)
      : lab_(lab), view_(view), every_(every), filter_(o.filter), reversed_(o.reversed), asked_column_(o.sort) {}

  // Until somebody quits, or the lab is down.
  int run() {
    before_ = now_ = look(lab_, view_);
    const TopTable first = top_table(view_, before_, now_);
    column_ = column_named(first, asked_column_);
    std::optional<TopScreen> screen(std::in_place);
    while (!quits_ && ended_by_signal == 0) {
      draw(*screen);
      const double left = now_.at_seconds + std::chrono::duration<double>(every_).count() - steady_seconds();
      const int key = screen->key(std::chrono::milliseconds(static_cast<int>(std::clamp(1000 * left, 1.0, 250.0))));
      if (key != TopScreen::kNone) press(key, screen->height());
      if (is_frozen_ || steady_seconds() - now_.at_seconds < std::chrono::duration<double>(every_).count()) continue;
      try {
        TopSample next = look(lab_, view_);
        before_ = std::exchange(now_, std::move(next));
      } catch (const std::runtime_error&) {
        screen.reset();
        if (lab_.running()) throw;
        fmt::print("lab '{}' is down\n", lab_.name());
        return kOk;
      }
    }
    return kOk;
  }

 private:
  void draw(TopScreen& screen) {
    if (shows_keys_) {
      std::vector<Line> lines;
      for (const std::string& text : kKeys) lines.push_back({text, lines.empty() ? Line::Look::kHeading : Line::Look::kPlain});
      return screen.draw(lines, "any key: back");
    }
    TopTable table = top_table(view_, before_, now_);
    columns_ = table.columns.size();
    column_ = std::min(column_, columns_ - 1);
    sort_and_filter(table, filter_, column_, reversed_);
    const std::size_t room = screen.height() > 4 ? screen.height() - 4 : 1;
    rows_ = table.rows.size();
    first_ = std::min(first_, rows_ > room ? rows_ - room : 0);
    std::string tabs;
    for (std::size_t i = 0; i < kTopViews.size(); ++i)
      tabs += fmt::format("{}{}{}  ", i + 1, static_cast<TopView>(i) == view_ ? ">" : " ", kTopViews[i]);
    std::vector<Line> lines{{top_line(before_, now_)}, {tabs, Line::Look::kQuiet}};
    lines.push_back({heading_of(table, column_, screen.width()), Line::Look::kHeading});
    const std::vector<std::string> texts = lines_of(table, screen.width());
    for (std::size_t i = first_; i < std::min(rows_, first_ + room); ++i)
      lines.push_back({texts[i], table.rows[i].is_bad ? Line::Look::kBad : Line::Look::kPlain});
    if (rows_ == 0) lines.push_back({filter_.empty() ? "nothing to show" : "no row has '" + filter_ + "' in it"});
    std::string foot = is_typing_                    ? "filter: " + filter_ + "_"
                       : !filter_.empty()            ? "filter: " + filter_ + "   "
                                                     : std::string();
    if (!is_typing_) foot += fmt::format("{}{} rows; h: keys, q: quit", is_frozen_ ? "FROZEN; " : "", rows_);
    screen.draw(lines, foot);
  }

  void press(int key, std::size_t height) {
    if (std::exchange(shows_keys_, false) || key == TopScreen::kResized) return;
    if (is_typing_) return type(key);
    const std::size_t page = height > 5 ? height - 5 : 1;
    const auto scroll = [&](std::size_t by, bool down) { first_ = down ? first_ + by : first_ - std::min(first_, by); };
    switch (key) {
      case 'q':
        quits_ = true;
        break;
      case 'h':
      case '?':
        shows_keys_ = true;
        break;
      case ' ':
      case 'f':
        is_frozen_ = !is_frozen_;
        break;
      case 'r':
        reversed_ = !reversed_;
        break;
      case '/':
        is_typing_ = true;
        break;
      case '\t':
        show(static_cast<TopView>((static_cast<std::size_t>(view_) + 1) % kTopViews.size()));
        break;
      case '<':
      case TopScreen::kLeft:
        column_ = (column_ + columns_ - 1) % columns_;
        break;
      case '>':
      case TopScreen::kRight:
        column_ = (column_ + 1) % columns_;
        break;
      case 'k':
      case TopScreen::kUp:
        scroll(1, false);
        break;
      case 'j':
      case TopScreen::kDown:
        scroll(1, true);
        break;
      case TopScreen::kPageUp:
        scroll(page, false);
        break;
      case TopScreen::kPageDown:
        scroll(page, true);
        break;
      case TopScreen::kHome:
        first_ = 0;
        break;
      case TopScreen::kEnd:
        first_ = rows_;
        break;
      default:
        if (key >= '1' && key < '1' + static_cast<int>(kTopViews.size())) show(static_cast<TopView>(key - '1'));
    }
  }

  void type(int key) {
    if (key == '\n' || key == '\r') {
      is_typing_ = false;
    } else if (key == 27) {
      is_typing_ = false;
      filter_.clear();
    } else if (key == TopScreen::kErase) {
      if (!filter_.empty()) filter_.pop_back();
    } else if (key >= ' ' && key < 127 && filter_.size() < 40) {
      filter_ += static_cast<char>(key);
    }
    first_ = 0;
  }

  // A view that was not asked for has no figures yet: it is asked for at once, a frozen one, too.
  void show(TopView view) {
    if (view == view_) return;
    view_ = view;
    first_ = 0;
    reversed_ = false;
    column_ = top_table(view, now_, now_).sorted_first;
    now_.at_seconds = 0;
    is_frozen_ = false;
  }

  const daemon::LabDir& lab_;
  TopView view_;
  std::chrono::milliseconds every_;
  std::string filter_;
  bool reversed_;
  std::string asked_column_;
  TopSample before_;
  TopSample now_;
  std::size_t column_ = 0;
  std::size_t columns_ = 1;
  std::size_t first_ = 0;  // row that is shown first
  std::size_t rows_ = 0;
  bool is_frozen_ = false;
  bool is_typing_ = false;
  bool shows_keys_ = false;
  bool quits_ = false;
};

int top(const TopOptions& o) {
  const auto every = spec::parse_duration(o.every);
  constexpr std::int64_t kPsPerMs = 1'000'000'000;
  if (!every || every->ps < 100 * kPsPerMs || every->ps > 60'000 * kPsPerMs)
    throw CLI::ValidationError("--every", fmt::format("'{}'; expected 100ms to 60s", o.every));
  const std::chrono::milliseconds ms(every->ps / kPsPerMs);
  const TopView view = view_named(o.view);
  const daemon::LabDir lab = chosen_lab(o.lab);
  if (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0) return print_once(o, lab, view, ms);
  std::signal(SIGINT, [](int) { ended_by_signal = 1; });
  std::signal(SIGTERM, [](int) { ended_by_signal = 1; });
  return Top(o, lab, view, ms).run();
}

}  // namespace

void add_top(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<TopOptions>();
  add_lab_option(*command, o->lab);
  command->add_option("--view", o->view, "What to begin with (default: links)")
      ->check(CLI::IsMember({"links", "queues", "flows", "pauses", "collectives"}));
  command->add_option("--sort", o->sort, "Column to sort by, as in the heading")->type_name("COLUMN");
  command->add_flag("--reverse", o->reversed, "The smallest first");
  command->add_option("--filter", o->filter, "Only rows with this text in them")->type_name("TEXT");
  command->add_option("--every", o->every, "Time between two looks (default 1s)")->type_name("TIME");
  std::string keys;
  for (std::size_t i = 2; i + 2 < kKeys.size(); ++i) keys += "  " + kKeys[i] + "\n";
  command->footer("Keys:\n" + keys +
                  "Rates are of simulated time. Without a terminal it prints one snapshot as text. NO_COLOR turns colours off.\n"
                  "Examples:\n"
                  "  railyard top\n"
                  "  railyard top --view queues --sort paused\n"
                  "  railyard top --view links --filter DOWN | cat");
  command->callback([o, &exit_code] { exit_code = top(*o); });
}

}  // namespace railyard::tools
