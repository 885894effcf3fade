#include "manifest/json_path.h"

#include <algorithm>
#include <vector>

namespace krafla {

namespace {

struct Level {
  bool list = false;
  bool at_key = false;  // the next string is a key
  size_t index = 0;
  std::string_view key;
};

// The position behind the string that opens at `at`.
size_t SkipString(std::string_view json, size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

bool IsPlainKey(std::string_view key) {
  return std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string Join(const std::vector<Level>& levels) {
  std::string path;
  for (const Level& level : levels) {
    if (level.list) {
      path += '[' + std::to_string(level.index) + ']';
    } else if (level.key.empty()) {
      continue;
    } else if (IsPlainKey(level.key)) {
      if (!path.empty()) path += '.';
      path += level.key;
    } else {
      path.append("[\"").append(level.key).append("\"]");
    }
  }
  return path;
}

}  // namespace

std::string JsonPathAt(std::string_view json, size_t offset) {
  std::vector<Level> levels;
  size_t at = 0;
  while (at < std::min(offset, json.size())) {
    switch (json[at]) {
      case '{':
        levels.push_back({.list = false, .at_key = true});
        break;
      case '[':
        levels.push_back({.list = true});
        break;
      case '}':
      case ']':
        if (!levels.empty()) levels.pop_back();
        break;
      case ',':
        if (levels.empty()) break;
        ++levels.back().index;
        levels.back().at_key = !levels.back().list;
        levels.back().key = {};
        break;
      case '"': {
        const size_t end = SkipString(json, at);
        if (!levels.empty() && levels.back().at_key && end >= at + 2) {
          levels.back().key = json.substr(at + 1, end - at - 2);
          levels.back().at_key = false;
        }
        at = end;
        continue;
      }
      default:
        break;
    }
    ++at;
  }
  return Join(levels);
}

}  // namespace krafla
