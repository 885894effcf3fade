// Arithmetic and comparisons of amounts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/volcano_vectors.h"
#include "fair_share/shortage.h"
#include "model/resource.h"

namespace krafla::volcano_tables {

namespace {

// Two amounts and the kinds they share.
struct Operands {
  ResourceKinds kinds;
  Resource left;
  Resource right;

  Operands(const Json& l, const Json& r) {
    left = ResourceOf(l, kinds);
    right = ResourceOf(r, kinds);
  }
  explicit Operands(const Json& in) : Operands(in["resource1"], in["resource2"]) {}

  Verdict Compare(const Json& want, const Resource& ours) {
    return Verdict::Of(SameResource(want, ours, kinds), ToString(ours, kinds));
  }
};

Missing MissingOf(const Json& in) {
  return in["defaultValue"].Text() == "Infinity" ? Missing::kInfinity : Missing::kZero;
}

Verdict Truth(bool want, bool ours) {
  return Verdict::Of(want == ours, ours ? "true" : "false");
}

// Volcano's decreases name kinds that have not changed as well; as amounts they are the same.
bool SameAmountsIn(const Json& want, const Resource& ours, ResourceKinds& kinds) {
  const Resource recorded = ResourceOf(want, kinds);
  for (int kind = 0; kind < kinds.size(); ++kind)
    if (recorded.Get(kind) != ours.Get(kind)) return false;
  return true;
}

// cpu and memory first, then by name.
void SortKinds(std::vector<std::string>& names) {
  const auto rank = [](const std::string& name) {
    return name == "cpu" ? 0 : name == "memory" ? 1 : 2;
  };
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
}

}  // namespace

Verdict CheckAdd(const Json& in, const Json& want) {
  Operands o(in);
  return o.Compare(want["expected"], o.left.Add(o.right));
}

Verdict CheckSub(const Json& in, const Json& want) {
  Operands o(in);
  return o.Compare(want["expected"], o.left.Sub(o.right));
}

Verdict CheckSetMax(const Json& in, const Json& want) {
  Operands o(in);
  return o.Compare(want["expected"], o.left.SetMax(o.right));
}

Verdict CheckAddScalar(const Json& in, const Json& want) {
  Operands o(in["resource"], Json());
  o.left.AddTo(o.kinds.Intern(in["scalarName"].Text()), in["scalarQuantity"].Number());
  return o.Compare(want["expected"], o.left);
}

Verdict CheckMinZero(const Json& in, const Json& want) {
  Operands o(in);
  return o.Compare(want["expected"], o.left.CapBy(o.right, Missing::kZero));
}

Verdict CheckMinInfinity(const Json& in, const Json& want) {
  Operands o(in);
  return o.Compare(want["expected"], o.left.CapBy(o.right, Missing::kInfinity));
}

Verdict CheckDiff(const Json& in, const Json& want) {
  // Nobody subtracts from the unlimited.
  if (MissingOf(in) == Missing::kInfinity) return Verdict::OutOfScope();
  Operands o(in);
  const Resource increased = Resource::Exceeding(o.left, o.right);
  const Resource decreased = Resource::Exceeding(o.right, o.left);
  return Verdict::Of(SameResource(want["expectedIncreased"], increased, o.kinds) &&
                         SameAmountsIn(want["expectedDecreased"], decreased, o.kinds),
                     fmt::format("increased {}, decreased {}", ToString(increased, o.kinds),
                                 ToString(decreased, o.kinds)));
}

Verdict CheckLessEqual(const Json& in, const Json& want) {
  Operands o(in);
  return Truth(want["expected"].Bool(), o.left.LessEqual(o.right, MissingOf(in)));
}

Verdict CheckLessEqualInDimensions(const Json& in, const Json& want) {
  Operands o(in);
  std::vector<std::string> names = want["expectedResourceNames"].Texts();
  SortKinds(names);
  if (!in["req"].present()) {
    const int kind = o.left.FirstNotLessEqual(o.right);
    const std::string ours = kind < 0 ? "" : o.kinds.Name(kind);
    return Verdict::Of(ours == (names.empty() ? "" : names.front()), ours);
  }
  const Resource wanted = ResourceOf(in["req"], o.kinds);
  const int first = o.left.FirstExceeding(o.right, wanted);
  std::string expected = "short";
  for (size_t i = 0; i < names.size(); ++i)
    expected += fmt::format("{}of {}", i == 0 ? ": " : ", ", names[i]);
  const std::string ours = DescribeShortage("short", "of", o.left, o.right, wanted, o.kinds);
  return Verdict::Of((first < 0) == want["expectedFlag"].Bool() && ours == expected, ours);
}

Verdict CheckResourceText(const Json& in, const Json& want) {
  Operands o(in["resource"], Json());
  const std::string ours = ToString(o.left, o.kinds);
  return Verdict::Of(ours == want["expected"].Text(), ours);
}

Verdict CheckResourcePair(const Json& in, const Json& want) {
  std::string differences;
  const auto compare = [&](std::string_view what, auto&& operation) {
    const Json recorded = want[what];
    Operands o(in["l"], in["r"]);
    // Volcano asserts that a difference is not negative; ours may be, and nobody compared it.
    if (recorded["panics"].Bool()) return;
    const Verdict verdict = operation(o, recorded);
    if (!verdict.difference.empty())
      differences += fmt::format("{}: {}; ", what, verdict.difference);
  };
  using O = Operands;
  compare("add", [](O& o, const Json& w) { return o.Compare(w, o.left.Add(o.right)); });
  compare("sub", [](O& o, const Json& w) { return o.Compare(w, o.left.Sub(o.right)); });
  compare("setMaxResource",
          [](O& o, const Json& w) { return o.Compare(w, o.left.SetMax(o.right)); });
  compare("minDimensionResource.Zero",
          [](O& o, const Json& w) { return o.Compare(w, o.left.CapBy(o.right, Missing::kZero)); });
  compare("minDimensionResource.Infinity", [](O& o, const Json& w) {
    return o.Compare(w, o.left.CapBy(o.right, Missing::kInfinity));
  });
  compare("lessEqual.Zero", [](O& o, const Json& w) {
    return Truth(w.Bool(), o.left.LessEqual(o.right, Missing::kZero));
  });
  compare("lessEqual.Infinity", [](O& o, const Json& w) {
    return Truth(w.Bool(), o.left.LessEqual(o.right, Missing::kInfinity));
  });
  compare("diff.Zero", [](O& o, const Json& w) {
    const Resource increased = Resource::Exceeding(o.left, o.right);
    const Resource decreased = Resource::Exceeding(o.right, o.left);
    return Verdict::Of(SameResource(w["increased"], increased, o.kinds) &&
                           SameAmountsIn(w["decreased"], decreased, o.kinds),
                       ToString(increased, o.kinds));
  });
  return {true, differences};
}

Verdict CheckResourceAlone(const Json& in, const Json& want) {
  Operands o(in["r"], Json());
  std::vector<std::string> ours;
  o.left.ForEachNamed([&](int kind) { ours.push_back(o.kinds.Name(kind)); });
  std::vector<std::string> names = want["resourceNames"].Texts();
  SortKinds(names);
  SortKinds(ours);
  const std::string text = ToString(o.left, o.kinds);
  return Verdict::Of(
      o.left.IsEmpty() == want["isEmpty"].Bool() && ours == names && text == want["string"].Text(),
      fmt::format("{}, named {}, {}", text, ours, o.left.IsEmpty() ? "empty" : "not empty"));
}

}  // namespace krafla::volcano_tables
