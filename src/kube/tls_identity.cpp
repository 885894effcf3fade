#include "kube/tls_identity.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/whole_file.h"

namespace krafla {

namespace {

constexpr long kSecondsOfAnHour = 3600;
constexpr long kSecondsOfTenYears = 10L * 365 * 24 * kSecondsOfAnHour;

std::string WhyNot() {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return text;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

// A host name that would end an entry of the extension, or begin another one, is left out.
std::string AlternativeNames() {
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
  const std::string host = HostName();
  const bool plain =
      host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
      std::string::npos;
  if (!host.empty() && host.size() < 64 && plain && host != "localhost") names += ",DNS:" + host;
  return names;
}

bool AddExtension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Signed with its own key.
bool MakeCertificate(X509* certificate, EVP_PKEY* key) {
  unsigned char serial[8];
  if (RAND_bytes(serial, sizeof serial) != 1) return false;
  uint64_t number = 0;
  std::memcpy(&number, serial, sizeof number);
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* const common_name = reinterpret_cast<const unsigned char*>("krafla");
  return X509_set_version(certificate, 2) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -kSecondsOfAnHour) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), kSecondsOfTenYears) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 &&
         AddExtension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(certificate, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, NID_subject_alt_name, AlternativeNames().c_str()) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

void TlsIdentity::FreeContext::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

// What a connection costs in memory and in time is bounded here: no renegotiation, no tickets, no
// sessions, and buffers that go when they are not needed.
TlsIdentity::Context TlsIdentity::NewContext() {
  Context context(SSL_CTX_new(TLS_server_method()));
  KRAFLA_CHECK(context != nullptr, "out of memory");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                         SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_max_cert_list(context.get(), 32 << 10);
  return context;
}

Result<TlsIdentity::Context> TlsIdentity::Read(const TlsFiles& files) {
  for (const auto& [flag, path] : {std::pair("--tls-cert-file", &files.certificate),
                                   std::pair("--tls-private-key-file", &files.key),
                                   std::pair("--ca-cert-file", &files.client_authority)}) {
    if (path->empty()) continue;
    // OpenSSL's word for it is "error:80000002".
    if (const auto text = ReadWholeFile(*path); !text)
      return Fail(fmt::format("{} {}: {}", flag, *path, text.error().message));
  }
  Context context = NewContext();
  ERR_clear_error();
  // A key with a pass phrase cannot be read: there is no terminal to type one.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    return Fail(fmt::format("--tls-cert-file {}: expected a certificate in PEM: {}",
                            files.certificate, WhyNot()));
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Fail(fmt::format(
        "--tls-private-key-file {}: expected the certificate's key in PEM, not encrypted: {}",
        files.key, WhyNot()));
  if (files.client_authority.empty()) return context;
  if (SSL_CTX_load_verify_locations(context.get(), files.client_authority.c_str(), nullptr) != 1)
    return Fail(fmt::format("--ca-cert-file {}: expected certificates in PEM: {}",
                            files.client_authority, WhyNot()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);  // if there is one
  return context;
}

TlsIdentity::Stamps TlsIdentity::StampsOf(const TlsFiles& files) {
  return {StampOf(files.certificate), StampOf(files.key),
          files.client_authority.empty() ? FileStamp{} : StampOf(files.client_authority)};
}

Result<std::unique_ptr<TlsIdentity>> TlsIdentity::FromFiles(TlsFiles files) {
  auto identity = std::make_unique<TlsIdentity>();
  // Before they are read: what changes meanwhile is seen as a change.
  identity->seen_ = StampsOf(files);
  Result<Context> context = Read(files);
  if (!context) return Fail(context.error().message);
  identity->context_ = std::move(*context);
  identity->files_ = std::move(files);
  return identity;
}

Result<std::unique_ptr<TlsIdentity>> TlsIdentity::SelfSigned() {
  ERR_clear_error();
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  auto identity = std::make_unique<TlsIdentity>();
  identity->context_ = NewContext();
  if (key == nullptr || certificate == nullptr || !MakeCertificate(certificate.get(), key.get()) ||
      SSL_CTX_use_certificate(identity->context(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(identity->context(), key.get()) != 1)
    return Fail(fmt::format("cannot make a self-signed certificate: {}", WhyNot()));
  return identity;
}

std::string TlsIdentity::Fingerprint() const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const X509* const certificate = SSL_CTX_get0_certificate(context());
  if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest, &size) != 1)
    return {};
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  return text;
}

std::optional<std::string> TlsIdentity::ReloadIfChanged() {
  if (files_.certificate.empty()) return std::nullopt;
  const Stamps now = StampsOf(files_);
  if (now == seen_) return std::nullopt;
  seen_ = now;
  Result<Context> context = Read(files_);
  if (!context)
    return fmt::format("certificate refused; the one read before stays error=\"{}\"",
                       context.error().message);
  context_ = std::move(*context);
  return fmt::format("certificate read again file={} sha256={}", files_.certificate, Fingerprint());
}

}  // namespace krafla
