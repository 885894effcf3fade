// Who a TLS server is: certificate and key, from files that are read again when they change, or
// made in memory at the start. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file_stamp.h"
#include "base/result.h"

struct ssl_ctx_st;  // SSL_CTX of OpenSSL

namespace krafla {

// A server's certificate and key, and the authority of the certificates that clients may show.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_authority;  // empty: clients are not asked for one
};

class TlsIdentity {
 public:
  static Result<std::unique_ptr<TlsIdentity>> FromFiles(TlsFiles files);
  // For localhost, the loopback addresses and this host's name. Clients can encrypt, but cannot
  // know whom they talk to.
  static Result<std::unique_ptr<TlsIdentity>> SelfSigned();

  // For new connections. Those that are open keep the one they began with.
  ssl_ctx_st* context() const { return context_.get(); }
  // SHA-256 of the certificate: "AB:CD:…".
  std::string Fingerprint() const;

  // Looks at the files. A line for the log when they have changed: they were read, or they cannot
  // be used and what was read before stays.
  std::optional<std::string> ReloadIfChanged();

 private:
  struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, FreeContext>;
  struct Stamps {
    FileStamp certificate;
    FileStamp key;
    FileStamp client_authority;
    bool operator==(const Stamps&) const = default;
  };

  static Context NewContext();
  static Result<Context> Read(const TlsFiles& files);
  static Stamps StampsOf(const TlsFiles& files);

  TlsFiles files_;  // none: self-signed
  Stamps seen_;
  Context context_;
};

}  // namespace krafla
