#include "support/page_in_process.h"

#include "app/page_worker_command.h"
#include "kube/page_maker.h"

namespace krafla::testing {

PageOutcome MakePageHere(const PageTask&, PageInput input, std::chrono::milliseconds,
                         const std::function<bool()>&) {
  std::string text;
  for (std::string_view piece = input.Next(); !piece.empty(); piece = input.Next()) text += piece;
  size_t begin = 0;
  const auto next_line = [&]() -> std::optional<std::string> {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    return line;
  };
  const std::string written = WriteResult(MakePage(next_line, &RenderExplanation));
  Result<std::optional<PageResult>> result = ReadResult(written, written.size());
  if (!result || !*result)
    return {.message = result ? "its answer is not complete" : result.error().message};
  return {.what = PageOutcome::What::kDone, .result = std::move(**result)};
}

}  // namespace krafla::testing
