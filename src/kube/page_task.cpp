#include "kube/page_task.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/json_writer.h"

namespace krafla {

namespace {

namespace dom = simdjson::dom;

constexpr size_t kPieceBytes = 64 << 10;
constexpr std::string_view kMark = "krafla-page";
constexpr size_t kLongestHead = 64;

constexpr std::array<std::pair<PageResult::What, std::string_view>, 5> kResultNames = {{
    {PageResult::What::kJson, "json"},
    {PageResult::What::kText, "text"},
    {PageResult::What::kView, "view"},
    {PageResult::What::kNotFound, "not-found"},
    {PageResult::What::kFailed, "failed"},
}};

// The next word of a head line; removed from it.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

std::optional<size_t> TakeNumber(std::string_view& line) {
  const std::string_view word = TakeWord(line);
  size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string TitleOf(const PageTask& task) {
  if (task.what == PageTask::What::kView) return "view of queues, jobs and zones";
  return fmt::format("explain {} {}", task.kind, Printable(task.name));
}

std::string TaskLine(const PageTask& task) {
  JsonWriter json;
  json.BeginObject();
  json.Key("task").String(task.what == PageTask::What::kExplain ? "explain" : "view");
  json.Key("now").Integer(task.now.ns);
  json.Key("kind").String(task.kind);
  json.Key("name").String(task.name);
  json.Key("as").String(task.as);
  json.Key("searchMs").Integer(task.search_time.count());
  json.Key("evicted").String(task.evicted);
  json.Key("losses").BeginArray();
  for (const PastLoss& loss : task.losses)
    json.BeginArray().String(loss.job).Integer(loss.at.ns).Bool(loss.for_other).EndArray();
  json.EndArray().EndObject();
  return json.text();
}

Result<PageTask> ParseTaskLine(std::string_view line) {
  dom::parser parser;
  dom::element root;
  const simdjson::padded_string padded(line);
  std::string_view what;
  std::string_view kind;
  std::string_view name;
  std::string_view as;
  std::string_view evicted;
  dom::array losses;
  PageTask task;
  int64_t search_ms = 0;
  if (parser.parse(padded).get(root) || root["task"].get(what) || root["now"].get(task.now.ns) ||
      root["kind"].get(kind) || root["name"].get(name) || root["as"].get(as) ||
      root["searchMs"].get(search_ms) || root["evicted"].get(evicted) ||
      root["losses"].get(losses) || (what != "explain" && what != "view"))
    return Fail("expected a task of a page");
  task.what = what == "explain" ? PageTask::What::kExplain : PageTask::What::kView;
  task.kind = kind;
  task.name = name;
  task.as = as;
  task.evicted = evicted;
  task.search_time = std::chrono::milliseconds(search_ms);
  for (const dom::element item : losses) {
    PastLoss loss;
    std::string_view job;
    if (item.at(0).get(job) || item.at(1).get(loss.at.ns) || item.at(2).get(loss.for_other))
      return Fail("expected the losses of a task of a page");
    loss.job = job;
    task.losses.push_back(std::move(loss));
  }
  return task;
}

PageInput::PageInput(const PageTask& task, const RecordHead& head, StateKeeper::Snapshot state)
    : piece_(TaskLine(task) + "\n"), head_(head), state_(std::move(state)) {}

std::string_view PageInput::Next() {
  if (begun_) piece_.clear();
  if (!begun_) {
    begun_ = true;
    for (const std::string& line :
         {HeadLine(head_), ConfigLine(*state_.config), MemoryLine(*state_.memory)})
      piece_ += line + "\n";
  }
  for (; piece_.size() < kPieceBytes && next_ < state_.entries.size(); ++next_) {
    const KeptState::Entry& entry = state_.entries[next_];
    piece_ += ChangeLine({.what = RecordedChange::What::kPut,
                          .kind = entry.kind,
                          .key = entry.key,
                          .object = *entry.object.text,
                          .mark = entry.object.mark,
                          .phase = entry.object.phase,
                          .memory = {},
                          .cycle = {}});
    piece_ += '\n';
  }
  if (next_ == state_.entries.size() && !ended_) {
    ended_ = true;
    piece_ += StateEndLine(state_.entries.size(), state_.cycles) + "\n";
  }
  return piece_;
}

std::string WriteResult(const PageResult& result) {
  std::string_view name;
  for (const auto& [what, its_name] : kResultNames)
    if (what == result.what) name = its_name;
  return fmt::format("{} {} {}\n{}", kMark, name, result.body.size(), result.body);
}

Result<std::optional<PageResult>> ReadResult(std::string_view text, size_t most) {
  const size_t line_end = text.substr(0, kLongestHead).find('\n');
  if (line_end == std::string_view::npos) {
    if (text.size() >= kLongestHead) return Fail("its answer has no head");
    return std::nullopt;
  }
  std::string_view line = text.substr(0, line_end);
  const std::string_view mark = TakeWord(line);
  const std::string_view name = TakeWord(line);
  const std::optional<size_t> bytes = TakeNumber(line);
  PageResult result;
  bool known = false;
  for (const auto& [what, its_name] : kResultNames) {
    if (its_name != name) continue;
    result.what = what;
    known = true;
  }
  if (mark != kMark || !known || !bytes || !line.empty()) return Fail("its answer has no head");
  if (*bytes > most)
    return Fail(fmt::format("its answer has {} bytes, which is more than {}", *bytes, most));
  const std::string_view body = text.substr(line_end + 1);
  if (body.size() > *bytes) return Fail("its answer is longer than its head says");
  if (body.size() < *bytes) return std::nullopt;
  result.body = body;
  return result;
}

std::string WriteView(const ClusterView& view) {
  std::string text;
  for (const auto& [name, rows] : {std::pair("queue", &view.queues), std::pair("job", &view.jobs),
                                   std::pair("zone", &view.zones)})
    for (const ViewRow& row : *rows)
      text += fmt::format("{} {} {} {}\n{}{}{}", name, row.ns.size(), row.queue.size(),
                          row.json.size(), row.ns, row.queue, row.json);
  return text;
}

Result<ClusterView> ReadView(std::string_view text) {
  ClusterView view;
  while (!text.empty()) {
    const size_t line_end = text.substr(0, kLongestHead).find('\n');
    if (line_end == std::string_view::npos) return Fail("its view has a row without a head");
    std::string_view line = text.substr(0, line_end);
    text.remove_prefix(line_end + 1);
    const std::string_view name = TakeWord(line);
    const auto ns = TakeNumber(line);
    const auto queue = TakeNumber(line);
    const auto json = TakeNumber(line);
    std::vector<ViewRow>* const rows = name == "queue"  ? &view.queues
                                       : name == "job"  ? &view.jobs
                                       : name == "zone" ? &view.zones
                                                        : nullptr;
    if (rows == nullptr || !ns || !queue || !json || !line.empty() || *ns > text.size() ||
        *queue > text.size() - *ns || *json > text.size() - *ns - *queue)
      return Fail("its view has a row that is no row");
    rows->push_back({std::string(text.substr(0, *ns)), std::string(text.substr(*ns, *queue)),
                     std::string(text.substr(*ns + *queue, *json))});
    text.remove_prefix(*ns + *queue + *json);
  }
  return view;
}

}  // namespace krafla
