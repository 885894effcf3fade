#include "manifest/parcel_decoder.h"

#include <utility>

#include <fmt/format.h>

namespace krafla {

std::vector<std::string> ProblemLines(const Diagnostics& problems) {
  std::vector<std::string> lines;
  for (const Diagnostic& problem : problems.items())
    lines.push_back(problem.field.empty() ? problem.message
                                          : fmt::format("{}: {}", problem.field, problem.message));
  return lines;
}

ParcelDecoder::ParcelDecoder(DecodeOptions options) : options_(std::move(options)) {
  Begin();
}

ParcelDecoder::~ParcelDecoder() = default;

void ParcelDecoder::Begin() {
  decoder_.reset();
  problems_ = {};
  facts_ = {};
  sender_ = std::make_unique<FactSender>();
  decoder_ = std::make_unique<ObjectDecoder>(*sender_, options_, problems_, facts_);
}

std::unique_ptr<FactParcel> ParcelDecoder::Decode(std::string_view json, std::string_view name) {
  if (sender_->HasSaidMuch()) Begin();
  decoder_->Decode({json, name, {}}, Origin::kWritten);
  auto parcel = std::make_unique<FactParcel>(sender_->Pack());
  parcel->problems = ProblemLines(std::exchange(problems_, {}));
  return parcel;
}

}  // namespace krafla
