#include "base/base64.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(Base64, TheVectorsOfTheRfc) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    EXPECT_EQ(EncodeBase64(plain), coded);
    EXPECT_EQ(DecodeBase64(coded).value(), plain);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)).value(), bytes);
}

TEST(Base64, LineBreaksArePassedOver) {
  EXPECT_EQ(DecodeBase64("Zm9v\nYmFy\r\n").value(), "foobar");
}

TEST(Base64, WhatIsNotBase64IsSaid) {
  EXPECT_EQ(DecodeBase64("Zm9v!mFy").error().message,
            "is not base64: byte 5 does not belong there");
  EXPECT_EQ(DecodeBase64("Zg==Zg==").error().message,
            "is not base64: byte 5 does not belong there");
  EXPECT_EQ(DecodeBase64("Zm9vY").error().message, "is not base64: it ends too early");
  EXPECT_EQ(DecodeBase64("Zg").error().message, "is not base64: it ends too early");
  EXPECT_EQ(DecodeBase64("Z===").error().message, "is not base64: it ends too early");
}

}  // namespace
}  // namespace krafla
