// Tables for a terminal: columns line up, numbers to the right, and no line is longer than 100
// columns, whatever the names are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krafla {

inline constexpr size_t kTerminalColumns = 100;

// Characters, not bytes; combining marks and wide characters are not expected in names.
size_t TextWidth(std::string_view text);

// "team-a/very-lo…-worker-17": the middle goes, because names differ at both ends.
std::string Shorten(std::string_view text, size_t width);

// Breaks at blanks; each line begins with `indent`.
std::string Wrapped(std::string_view text, std::string_view indent,
                    size_t width = kTerminalColumns);

class TextColumns {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    size_t widest = 40;
  };

  explicit TextColumns(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // The headings, then the rows. A last column to the left is broken into several lines rather
  // than shortened.
  std::string Render(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace krafla
