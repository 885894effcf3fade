// Columns that line up, however long their texts are.
#pragma once

#include <string>
#include <vector>

namespace krafla {

class TextTable {
 public:
  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Every line starts with `indent`; the last column is not padded.
  std::string Render(std::string_view indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace krafla
