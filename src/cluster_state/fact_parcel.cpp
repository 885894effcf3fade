#include "cluster_state/fact_parcel.h"

#include <utility>

#include "base/check.h"

namespace krafla {

namespace {

// A dictionary of this size is worth its keep; beyond it most of what was said is of objects that
// will not be spoken of again.
constexpr size_t kManyStrings = 1 << 16;
constexpr size_t kManyLabelSets = 1 << 14;
constexpr size_t kManySpecs = 1 << 11;

struct AddFacts {
  FactSink& sink;
  void operator()(std::monostate&) const {}
  void operator()(PodFacts& facts) const { sink.AddPod(std::move(facts), Origin::kWritten); }
  void operator()(PodGroupFacts& facts) const {
    sink.AddPodGroup(std::move(facts), Origin::kWritten);
  }
  void operator()(NodeFacts& facts) const { sink.AddNode(std::move(facts)); }
  void operator()(QueueFacts& facts) const { sink.AddQueue(std::move(facts)); }
  void operator()(PriorityClassFacts& facts) const { sink.AddPriorityClass(facts); }
  void operator()(Namespace& facts) const { sink.AddNamespace(std::move(facts)); }
  void operator()(PodDisruptionBudget& facts) const { sink.AddBudget(std::move(facts)); }
  void operator()(PersistentVolumeClaim& facts) const { sink.AddClaim(std::move(facts)); }
  void operator()(PersistentVolume& facts) const { sink.AddVolume(std::move(facts)); }
  void operator()(StorageClass& facts) const { sink.AddStorageClass(std::move(facts)); }
  void operator()(CsiNode& facts) const { sink.AddCsiNode(std::move(facts)); }
};

}  // namespace

size_t FactParcel::Bytes() const {
  return sizeof(FactParcel) + texts.size() + sizeof(uint32_t) * text_sizes.size() +
         64 * label_sets.size() + sizeof(PodSpec) * specs.size();
}

struct FactSender::Values {
  Cluster cluster;
  ValueIndexes indexes;
};

FactSender::FactSender() : FactSender(std::make_unique<Values>()) {}
FactSender::FactSender(std::unique_ptr<Values> values)
    : FactSink(values->cluster, values->indexes), values_(std::move(values)) {}
FactSender::~FactSender() = default;

FactParcel FactSender::Pack() {
  const Cluster& c = values_->cluster;
  FactParcel parcel{.facts = std::exchange(facts_, {})};
  parcel.first = !told_.any;
  for (size_t i = told_.strings; i < c.strings.size(); ++i) {
    const std::string_view text = c.Text(StrId(static_cast<uint32_t>(i)));
    parcel.texts += text;
    parcel.text_sizes.push_back(static_cast<uint32_t>(text.size()));
  }
  for (int kind = told_.kinds; kind < c.kinds.size(); ++kind)
    parcel.kinds.push_back(c.kinds.Name(kind));
  const auto rest = [](const auto& values, size_t told) {
    return std::vector(values.begin() + static_cast<ptrdiff_t>(told), values.end());
  };
  parcel.label_sets = rest(c.label_sets.raw(), told_.label_sets);
  parcel.specs = rest(c.specs.raw(), told_.specs);
  packed_ = {true, c.strings.size(), c.kinds.size(), c.label_sets.size(), c.specs.size()};
  return parcel;
}

void FactSender::NoteSent() {
  told_ = packed_;
}

bool FactSender::HasSaidMuch() const {
  return told_.strings > kManyStrings || told_.label_sets > kManyLabelSets ||
         told_.specs > kManySpecs;
}

FactSink::Added FactSender::AddPod(PodFacts pod, Origin) {
  facts_ = std::move(pod);
  return Added::kYes;
}
FactSink::Added FactSender::AddPodGroup(PodGroupFacts group, Origin) {
  facts_ = std::move(group);
  return Added::kYes;
}
bool FactSender::AddQueue(QueueFacts queue) {
  facts_ = std::move(queue);
  return true;
}
bool FactSender::AddNode(NodeFacts node) {
  facts_ = std::move(node);
  return true;
}
bool FactSender::AddPriorityClass(PriorityClassFacts priority_class) {
  facts_ = priority_class;
  return true;
}
bool FactSender::AddNamespace(Namespace ns) {
  facts_ = std::move(ns);
  return true;
}
bool FactSender::AddBudget(PodDisruptionBudget budget) {
  facts_ = std::move(budget);
  return true;
}
bool FactSender::AddClaim(PersistentVolumeClaim claim) {
  facts_ = std::move(claim);
  return true;
}
bool FactSender::AddVolume(PersistentVolume volume) {
  facts_ = std::move(volume);
  return true;
}
bool FactSender::AddStorageClass(StorageClass storage_class) {
  facts_ = std::move(storage_class);
  return true;
}
bool FactSender::AddCsiNode(CsiNode node) {
  facts_ = std::move(node);
  return true;
}
bool FactSender::AddResourceQuotaName(StrId, StrId) {
  return true;
}

void FactReceiver::Learn(const FactParcel& parcel) {
  if (parcel.first) {
    mover_.reset();
    values_ = {};
  }
  std::string_view rest = parcel.texts;
  for (const uint32_t size : parcel.text_sizes) {
    const size_t known = values_.strings.size();
    const StrId id = values_.strings.Intern(rest.substr(0, size));
    KRAFLA_CHECK(id.value == known, "a string is told once");
    rest.remove_prefix(size);
  }
  for (const std::string& kind : parcel.kinds) values_.kinds.Intern(kind);
  for (const LabelSet& labels : parcel.label_sets) values_.label_sets.Add(labels);
  for (const PodSpec& spec : parcel.specs) values_.specs.Add(spec);
}

bool FactReceiver::Deliver(FactParcel& parcel, FactSink& sink) {
  if (!mover_) mover_.emplace(values_, sink);
  const bool moved = std::visit(
      [&](auto& facts) {
        if constexpr (std::is_same_v<decltype(facts), std::monostate&>) {
          return true;
        } else {
          return mover_->Move(facts);
        }
      },
      parcel.facts);
  if (moved) std::visit(AddFacts{sink}, parcel.facts);
  return moved;
}

}  // namespace krafla
