// A YAML document as a tree in which every key and value knows its line and column, so that
// messages about configuration and scenario files can point at the spot. For files of human size:
// everything is copied, and the limits below turn hostile input into an error. Large manifests have
// a reader of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace krafla {

enum class YamlKind : uint8_t { kNull, kScalar, kSequence, kMapping };

struct YamlEntry;

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  // False for a plain scalar, which may stand for a number or a boolean; true for quotes, block
  // text, !!str.
  bool quoted = false;
  // The source shows `text` character by character on one line, so that an offset is a column.
  bool verbatim = false;
  Location location;  // of an alias: where it is used, its inside being where it was written
  std::string text;   // scalars, unquoted; a null as written (empty, "~", "null")
  std::vector<YamlNode> items;     // sequences
  std::vector<YamlEntry> entries;  // mappings, in the order of the file, keys unique

  bool IsNull() const { return kind == YamlKind::kNull; }
  bool IsScalar() const { return kind == YamlKind::kScalar; }
  bool IsSequence() const { return kind == YamlKind::kSequence; }
  bool IsMapping() const { return kind == YamlKind::kMapping; }

  // The entry of a mapping, null when absent.
  const YamlEntry* Find(std::string_view key) const;
  // Where byte `offset` of `text` stands in the file; `location` when that cannot be told.
  Location At(size_t offset) const;
};

struct YamlEntry {
  std::string key;
  Location key_location;
  YamlNode value;
};

struct YamlLimits {
  size_t max_bytes = 16u << 20;
  size_t max_depth = 64;
  size_t max_nodes = 250'000;
  // What anchors and aliases may copy in total.
  size_t max_copied_nodes = 50'000;
  size_t max_copied_bytes = 4u << 20;
};

struct YamlProblem {
  Location location;
  std::string message;
};

struct YamlTree {
  YamlNode root;
  std::vector<YamlProblem> problems;
  // False when reading had to stop; `root` is then empty and `problems` say why. A complete tree
  // may have problems too (a key given twice, say: the first stands), and can still be searched for
  // further ones.
  bool complete = false;
};

// Reads the one document of `text`. Null for an empty text.
YamlTree ParseYaml(std::string_view text, const YamlLimits& limits = {});

// What a node is, for messages: `nothing`, `"gang"`, `a list`, `a mapping`.
std::string Describe(const YamlNode& node);

// "line 3, column 5"
std::string Describe(Location location);

// Compact JSON. Plain numbers, booleans and nulls stay such; all other scalars are strings.
std::string ToJson(const YamlNode& node);

}  // namespace krafla
