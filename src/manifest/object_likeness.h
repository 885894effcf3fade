// What the text of one object has in common with the next one's.
//
// Objects of one template follow each other, and differ in a few texts only: a name, a node, an
// instant. Whoever decodes an object notes which parts of its text may be others without changing
// the meaning of the rest. Another text that is the same but for these parts means the same but for
// them, and need not be decoded: it is compared, which is many times less work.
//
//   {"kind":"Pod","metadata":{"name":"web-0","uid":"1a"},"spec":{"nodeName":"n1"},"status":…}
//                                     ~~~~~         ~~                      ~~
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krafla {

class ObjectLikeness {
 public:
  // What a part is to whoever decodes the object.
  enum class Part : uint8_t {
    kPassedOver,  // any value: nobody looks at it
    kTime,        // an instant that has to be one, and is otherwise not looked at
    kName,
    kUid,
    kCreated,
    kNode,
    kGroup,
    kStarted,
    kScheduled,
  };
  struct Difference {
    Part part;
    std::string_view text;
  };

  // What follows is noted of the object `json`; what was noted of another is forgotten.
  void Begin(std::string_view json);
  // What stands between the quotes of a string, and is what it means. An empty one, or one with
  // escapes, which stands elsewhere, is not noted: then objects that are alike have the same.
  void NoteText(Part part, std::string_view text);
  // A value as it is written: brackets, quotes and all.
  void NotePassedOver(std::string_view value);
  // All parts that may be others have been noted.
  void Keep();
  void Forget();
  bool kept() const { return kept_; }

  // Whether `json`, behind which simdjson's padding and then a zero can be read, is the kept object
  // but for such parts; which these are, in the order of the text. None of them is empty, or has
  // anything but printable ASCII. Whether values that are passed over are UTF-8 is not looked at.
  bool Matches(std::string_view json, std::vector<Difference>& differences) const;

 private:
  struct Place {
    uint32_t begin;
    uint32_t end;
    Part part;
  };

  std::string_view json_;  // while parts are noted
  std::string text_;
  std::vector<Place> parts_;  // by place
  bool kept_ = false;
};

}  // namespace krafla
