// What every decoder works with. A decoder reads one object, adds it to the builder if nothing is
// wrong with it, and notes in the reader what is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster_state/fact_sink.h"
#include "manifest/first_places.h"
#include "manifest/metadata.h"
#include "manifest/object_reader.h"
#include "manifest/object_stream.h"

namespace krafla {

struct DecodeContext {
  ObjectReader& reader;
  Metadata& meta;
  FactSink& builder;
  const ObjectText& text;
  Origin origin = Origin::kWritten;

  StringPool& strings() { return builder.strings(); }
  ResourceKinds& kinds() { return builder.kinds(); }
  StrId Intern(std::string_view text_to_keep) {
    return text_to_keep.empty() ? kEmptyStr : builder.strings().Intern(text_to_keep);
  }
  StrId InternNamespace() { return Intern(meta.NamespaceOrDefault()); }

  // True when the object can be added: it has a name and nothing is wrong with it.
  bool Sound() {
    // A name of the wrong type was complained of.
    if (meta.name.empty() && !(meta.has_name && reader.HasErrors()))
      reader.WrongField("metadata.name", "missing");
    return !reader.HasErrors();
  }
  void Duplicate() { reader.WrongField("metadata.name", std::string(kDuplicateMessage)); }
  void AddedOrDuplicate(bool added) {
    if (!added) Duplicate();
  }
};

}  // namespace krafla
