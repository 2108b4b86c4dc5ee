// What a page is made of: text that is escaped, tables, sections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railyard::report {

std::string escaped_html(std::string_view text);

// Rows of text; the first cell of a column that is `text` stands left, figures stand right.
class Table {
 public:
  struct Column {
    std::string title;
    bool text = false;
    std::string hint = {};  // what it means, for those who point at it
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns. Escaped here.
  void row(std::vector<std::string> cells);
  // The same, with a class for the whole row: "bad".
  void row(std::vector<std::string> cells, std::string_view style);
  bool empty() const noexcept { return rows_ == 0; }
  // A line below the table: what it leaves out. Not escaped.
  std::string html(std::string_view note = {}) const;

 private:
  std::vector<Column> columns_;
  std::string body_;
  std::size_t rows_ = 0;
};

// <section> with a heading; nothing if the content is empty. Content is not escaped.
std::string section(std::string_view id, std::string_view title, std::string_view content);
// A paragraph. Not escaped.
std::string paragraph(std::string_view content, std::string_view style = {});

}  // namespace railyard::report
