#include "sim/text_columns.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr size_t kGap = 2;

bool StartsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// The first `count` characters.
std::string_view Head(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (StartsCharacter(text[at]) && count-- == 0) break;
  return text.substr(0, at);
}

std::vector<std::string> Lines(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!line.empty() && TextWidth(line) + 1 + TextWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += TextWidth(word) > width ? Shorten(word, width) : std::string(word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

void Pad(std::string& text, size_t count) {
  text.append(count, ' ');
}

}  // namespace

size_t TextWidth(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, StartsCharacter));
}

std::string Shorten(std::string_view text, size_t width) {
  const size_t length = TextWidth(text);
  if (length <= width || width < 3) return std::string(text);
  const size_t tail = (width - 1) / 2;
  const std::string_view all_but_tail = Head(text, length - tail);
  return std::string(Head(text, width - 1 - tail)) + "…" +
         std::string(text.substr(all_but_tail.size()));
}

std::string Wrapped(std::string_view text, std::string_view indent, size_t width) {
  std::string result;
  for (const std::string& line : Lines(text, width - std::min(indent.size(), width - 20))) {
    result += indent;
    result += line;
    result += '\n';
  }
  return result;
}

std::string TextColumns::Render(std::string_view indent) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = TextWidth(columns_[c].heading);
    for (const auto& row : rows_)
      if (c < row.size()) width = std::max(width, TextWidth(row[c]));
    widths.push_back(std::min(width, std::max(columns_[c].widest, TextWidth(columns_[c].heading))));
  }
  // The last column takes what is left of the line.
  size_t used = indent.size();
  for (size_t c = 0; c + 1 < widths.size(); ++c) used += widths[c] + kGap;
  const bool takes_rest = columns_.back().align == Align::kLeft;
  // Where that would be too little, or there is none that may be broken, the widest gives way.
  constexpr size_t kLeastRest = 20;
  constexpr size_t kNarrowest = 8;
  size_t all = used + (takes_rest ? kLeastRest : widths.back());
  const auto end = widths.end() - (takes_rest ? 1 : 0);
  for (; all > kTerminalColumns && widths.begin() != end; --all) {
    const auto widest = std::max_element(widths.begin(), end);
    if (*widest <= kNarrowest) break;
    --*widest;
    if (widest + 1 != widths.end()) --used;
  }
  if (takes_rest) widths.back() = kTerminalColumns - std::min(used, kTerminalColumns - kLeastRest);

  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    text += indent;
    for (size_t c = 0; c < cells.size(); ++c) {
      const bool last = c + 1 == cells.size();
      if (last && columns_[c].align == Align::kLeft) {
        const std::vector<std::string> lines = Lines(cells[c], widths[c]);
        for (size_t l = 0; l < lines.size(); ++l) {
          if (l > 0) {
            text += '\n';
            Pad(text, used);
          }
          text += lines[l];
        }
        break;
      }
      const std::string cell = Shorten(cells[c], widths[c]);
      const size_t room = widths[c] - std::min(widths[c], TextWidth(cell));
      if (columns_[c].align == Align::kRight) Pad(text, room);
      text += cell;
      if (!last) Pad(text, kGap + (columns_[c].align == Align::kLeft ? room : 0));
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += '\n';
  };
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  line(headings);
  for (const auto& row : rows_) line(row);
  return text;
}

}  // namespace krafla
