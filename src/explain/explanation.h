// What `explain` found out, as a plain value: made by Explainer, written by explanation_text and
// explanation_json. Nothing in it refers to a cluster or a session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krafla {

// A cell of a table; a number keeps its value for JSON.
struct Cell {
  std::string text;
  std::optional<double> number;

  Cell(std::string t) : text(std::move(t)) {}
  Cell(std::string_view t) : text(t) {}
  Cell(const char* t) : text(t) {}
  template <class Integer>
    requires std::is_integral_v<Integer>
  Cell(Integer n) : text(std::to_string(n)), number(static_cast<double>(n)) {}
};

struct ExplanationTable {
  std::string name;   // key in JSON: "refusals"
  std::string title;  // above the columns in the text
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  size_t left_out = 0;  // rows that would follow
};

struct NamedNumber {
  std::string name;
  double value = 0;
};

enum class Verdict : uint8_t {
  kYes,       // it passed
  kNo,        // it said no: what comes after it was not reached
  kNotAsked,  // not part of this configuration, or of no matter here
};
std::string_view ToString(Verdict verdict);

// One question the scheduler asks about a job, and the answer.
struct Gate {
  std::string name;    // "starving"
  std::string action;  // "preempt"; empty: before any action
  Verdict verdict = Verdict::kYes;
  std::string text;
  std::vector<NamedNumber> numbers;
  std::vector<ExplanationTable> tables;
};

// A single change that was tried, and worked.
struct Flip {
  std::string kind;                 // "priority", "wait", …: docs/output.md lists them
  std::string change;               // a sentence: "priority of research/urgent from 1 to 2"
  std::vector<std::string> evicts;  // pods, beyond those evicted anyway
  std::vector<std::pair<std::string, std::string>> binds;      // pod, node: of what was asked about
  std::vector<std::pair<std::string, std::string>> pipelines;  // the same, once room is made
  std::vector<std::string> loses;  // other pods that had got a place in this cycle and do not now
  std::string caution;             // what it gives up, when it takes a safeguard away
};

// A single change that was tried, and did not help.
struct VainChange {
  std::string kind;
  std::string change;
};

struct FlipSearch {
  std::vector<Flip> flips;  // smallest change first
  std::vector<VainChange> in_vain;
  size_t tried = 0;     // changes, as many as `flips` and `in_vain` name
  size_t left_out = 0;  // changes that were not tried for lack of time
};

struct Explanation {
  std::string kind;  // job, pod, queue, zone
  std::string name;
  std::string answer;              // one sentence: the answer
  std::vector<std::string> facts;  // sentences that belong to it
  std::vector<Gate> gates;
  std::vector<ExplanationTable> tables;
  std::optional<FlipSearch> flips;  // none: there is nothing to flip
};

}  // namespace krafla
