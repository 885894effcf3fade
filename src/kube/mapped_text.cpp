#include "kube/mapped_text.h"

#include <sys/mman.h>

#include <cstring>

namespace krafla {

namespace {

constexpr size_t kShortBytes = 32 << 10;

}  // namespace

MappedText::MappedText(std::string text) {
  void* pages = MAP_FAILED;
  if (text.size() > kShortBytes)
    pages =
        ::mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {  // the heap has it already
    text_ = std::move(text);
    return;
  }
  std::memcpy(pages, text.data(), text.size());
  mapped_ = static_cast<char*>(pages);
  size_ = text.size();
}

MappedText::~MappedText() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

}  // namespace krafla
