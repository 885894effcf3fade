#include "app/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/text_table.h"
#include "base/escape.h"

namespace krafla {

namespace {

constexpr size_t kWidth = 110;
constexpr size_t kMostNames = 5;

class ExplanationText {
 public:
  ExplanationText(const Explanation& explanation, bool color) : e_(explanation), color_(color) {}

  std::string Render() {
    Wrapped(e_.answer, "", "", "1");
    for (const std::string& fact : e_.facts) Wrapped(fact, "  ", "  ");
    Gates();
    for (const ExplanationTable& table : e_.tables) {
      text_ += '\n';
      WriteTable(table, "");
    }
    if (e_.flips) Flips(*e_.flips);
    return std::move(text_);
  }

 private:
  std::string Paint(std::string_view code, std::string_view text) const {
    return color_ && !code.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text)
                                   : std::string(text);
  }

  // Words of `text`, the first line after `first`, the others after `rest` (of the same width).
  void Wrapped(std::string_view raw, std::string first, const std::string& rest,
               std::string_view paint = "") {
    // Names come from objects and from callers; the colors are ours alone.
    const std::string escaped = EscapeControls(raw);
    std::string_view text = escaped;
    std::string line;
    std::string indent = std::move(first);
    const size_t room = kWidth - std::min(kWidth / 2, rest.size());
    auto flush = [&] {
      text_ += indent + Paint(paint, line) + '\n';
      indent = rest;
      line.clear();
    };
    while (!text.empty()) {
      const size_t end = std::min(text.find(' '), text.size());
      const std::string_view word = text.substr(0, end);
      if (!line.empty() && line.size() + 1 + word.size() > room) flush();
      if (!line.empty()) line += ' ';
      line += word;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!line.empty()) flush();
  }

  void WriteTable(const ExplanationTable& table, const std::string& indent) {
    if (!table.title.empty()) text_ += indent + Paint("1", EscapeControls(table.title)) + '\n';
    TextTable rows;
    std::vector<std::string> header;
    for (std::string column : table.columns) {
      std::transform(column.begin(), column.end(), column.begin(),
                     [](unsigned char ch) { return static_cast<char>(std::toupper(ch)); });
      header.push_back(std::move(column));
    }
    rows.Row(std::move(header));
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<std::string> cells;
      for (const Cell& cell : row) cells.push_back(EscapeControls(cell.text));
      rows.Row(std::move(cells));
    }
    text_ += rows.Render(indent + "  ");
    if (table.left_out > 0) text_ += fmt::format("{}  … and {} more\n", indent, table.left_out);
  }

  static std::string_view Mark(Verdict verdict) {
    switch (verdict) {
      case Verdict::kYes:
        return "yes";
      case Verdict::kNo:
        return "NO ";
      case Verdict::kNotAsked:
        return " - ";
    }
    return "";
  }

  void Gates() {
    if (e_.gates.empty()) return;
    text_ += '\n' + Paint("1", "what the scheduler asked, in its order") + '\n';
    size_t action_width = 0;
    size_t name_width = 0;
    for (const Gate& gate : e_.gates) {
      action_width = std::max(action_width, gate.action.size());
      name_width = std::max(name_width, gate.name.size());
    }
    for (const Gate& gate : e_.gates) {
      const std::string_view color = gate.verdict == Verdict::kNo    ? "31"
                                     : gate.verdict == Verdict::kYes ? "32"
                                                                     : "";
      const std::string columns =
          fmt::format("  {:<{}}  {:<{}}  ", gate.action, action_width, gate.name, name_width);
      const std::string rest(2 + 3 + columns.size(), ' ');
      Wrapped(gate.text, "  " + Paint(color, Mark(gate.verdict)) + columns, rest);
      // What passed needs no proof on a terminal; JSON has it all.
      if (gate.verdict == Verdict::kNo)
        for (const ExplanationTable& table : gate.tables) WriteTable(table, "         ");
    }
  }

  static std::string Names(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < names.size() && i < kMostNames; ++i)
      text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
    return text;
  }

  static std::vector<std::string> Places(
      const std::vector<std::pair<std::string, std::string>>& pods) {
    std::vector<std::string> places;
    for (const auto& [pod, node] : pods) places.push_back(fmt::format("{} on {}", pod, node));
    return places;
  }

  void Flips(const FlipSearch& search) {
    text_ += '\n';
    if (search.flips.empty()) {
      Wrapped(fmt::format("Nothing that was tried would change it: {} single changes, each by "
                          "running the cycle again.",
                          search.tried),
              "", "", "1");
    } else {
      Wrapped(fmt::format("what would change it, the smallest first ({} single changes tried by "
                          "running the cycle again, {} {})",
                          search.tried, search.flips.size(),
                          search.flips.size() == 1 ? "works" : "work"),
              "", "", "1");
    }
    size_t number = 0;
    for (const Flip& flip : search.flips) {
      const std::string first = fmt::format("  {:>2}. ", ++number);
      const std::string rest(first.size(), ' ');
      Wrapped(flip.change, first, rest);
      Wrapped(Consequence(flip), rest + "-> ", rest + "   ");
      if (!flip.caution.empty()) Wrapped("careful: " + flip.caution, rest + "   ", rest + "   ");
    }
    if (!search.in_vain.empty())
      Wrapped("tried, and no help: " + SomeOf(search.in_vain), "  ", "    ");
    if (search.left_out > 0)
      Wrapped(fmt::format("{} more changes were not tried: the limit of runs for a cluster of this "
                          "size was reached.",
                          search.left_out),
              "  ", "  ");
  }

  // The first of them by name, in the order in which they were tried.
  static std::string SomeOf(const std::vector<VainChange>& changes) {
    constexpr size_t kMost = 6;
    std::string text;
    for (size_t i = 0; i < std::min(kMost, changes.size()); ++i)
      text += (i == 0 ? "" : "; ") + changes[i].change;
    if (changes.size() > kMost)
      text += fmt::format("; and {} more (-o json)", changes.size() - kMost);
    return text;
  }

  static std::string Consequence(const Flip& flip) {
    std::vector<std::string> parts;
    parts.push_back(flip.evicts.empty() ? "evicts nobody" : "evicts " + Names(flip.evicts));
    if (!flip.binds.empty()) parts.push_back("binds " + Names(Places(flip.binds)));
    if (!flip.pipelines.empty()) parts.push_back("makes room for " + Names(Places(flip.pipelines)));
    if (!flip.loses.empty()) parts.push_back("then no place for " + Names(flip.loses));
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  const Explanation& e_;
  bool color_;
  std::string text_;
};

}  // namespace

std::string ExplanationAsText(const Explanation& explanation, bool color) {
  return ExplanationText(explanation, color).Render();
}

}  // namespace krafla
