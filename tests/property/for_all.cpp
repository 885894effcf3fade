#include "property/for_all.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <sstream>
#include <unordered_map>

namespace krafla::testing {

// Found by rapidcheck, by its name, when it shows a counterexample.
void showValue(const Shape& shape, std::ostream& out) {
  out << ToString(shape);
}

namespace {

constexpr uint64_t kSeed = 0x4b7261666c61;
constexpr int kFullSize = 100;  // sizes are drawn from their whole range in every case

// Read by a signal handler: plain pointers only.
const char* current_case = nullptr;
size_t current_case_size = 0;

void WriteToStandardError(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t written = write(STDERR_FILENO, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<size_t>(written);
  }
}

void OnAbort(int) {
  if (current_case != nullptr) WriteToStandardError(current_case, current_case_size);
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT);
}

// While it lives, an abort prints the case.
class AbortNote {
 public:
  explicit AbortNote(std::string text) : text_("aborted in this case:\n" + std::move(text)) {
    current_case_size = text_.size();
    current_case = text_.c_str();
    before_ = std::signal(SIGABRT, OnAbort);
  }
  ~AbortNote() {
    std::signal(SIGABRT, before_);
    current_case = nullptr;
  }
  AbortNote(const AbortNote&) = delete;
  AbortNote& operator=(const AbortNote&) = delete;

 private:
  std::string text_;
  void (*before_)(int) = nullptr;
};

// The library's own one prints its configuration and asks the environment.
class SilentListener final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

rc::Gen<Shape> AnyShape() {
  const rc::Gen<int> feature = rc::gen::inRange(0, kFeatureCount);
  return rc::gen::exec([=] {
    Shape shape;
    shape.seed = *rc::gen::noShrink(rc::gen::resize(kFullSize, rc::gen::arbitrary<uint64_t>()));
    shape.nodes = *rc::gen::resize(kFullSize, rc::gen::inRange(2, 9));
    shape.queues = *rc::gen::resize(kFullSize, rc::gen::inRange(1, 4));
    shape.jobs = *rc::gen::resize(kFullSize, rc::gen::inRange(2, 11));
    for (const int drawn :
         *rc::gen::container<std::vector<int>>(rc::gen::resize(kFullSize, feature)))
      shape.features.insert(static_cast<Feature>(drawn));
    return shape;
  });
}

uint64_t SeedOf(std::string_view test) {
  uint64_t seed = kSeed + static_cast<uint64_t>(GTEST_FLAG_GET(random_seed));
  for (const char c : test) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

}  // namespace

void ForAllDrawn(int cases, const std::function<DrawnCase()>& draw) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = fmt::format("{}.{}", test->test_suite_name(), test->name());
  rc::detail::TestParams params;
  params.seed = SeedOf(metadata.id);
  params.maxSuccess = cases;
  SilentListener listener;
  const auto result = rc::detail::checkTestable(
      [&] {
        const DrawnCase drawn = draw();
        const AbortNote note(drawn.description);
        const std::string complaint = drawn.property();
        if (!complaint.empty()) RC_FAIL(complaint + "\n" + drawn.description);
      },
      metadata, params, listener, std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << text.str();
}

void ForAll(int cases, const Wanted& wanted,
            const std::function<std::string(const RandomCluster&)>& property) {
  ForAllDrawn(cases, [&] {
    const auto cluster = std::make_shared<const RandomCluster>(MakeCluster(*AnyShape(), wanted));
    return DrawnCase{cluster->Describe(), [&property, cluster] { return property(*cluster); }};
  });
}

}  // namespace krafla::testing
