#include "app/explain_server.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "app/server_token.h"
#include "base/check.h"
#include "base/did_you_mean.h"
#include "kube/listen_address.h"

namespace krafla {

namespace {

constexpr long kConnectSeconds = 10;
// A search for changes ends after 20 s; what comes around it takes less.
constexpr long kAnswerSeconds = 60;
constexpr size_t kMostBytes = 64 << 20;
constexpr int kMostRetryAfterSeconds = 3600;
constexpr std::chrono::milliseconds kLeastWait{100};

std::string UrlOf(const std::string& text) {
  std::string url = text.find("://") == std::string::npos ? "http://" + text : text;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// What an answer of ours says went wrong; nothing when it is none of ours.
std::optional<std::string> ErrorIn(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view message;
  if (parser.parse(body).get(root) || root["error"].get_string().get(message)) return std::nullopt;
  return std::string(message);
}

// Read here, not by the library, which would take a path, a user name or another scheme too.
struct Address {
  bool tls = false;
  std::string host;
  int port = 0;
};
std::optional<Address> ReadAddress(std::string_view url) {
  Address address{.tls = url.starts_with("https://")};
  if (!address.tls && !url.starts_with("http://")) return std::nullopt;
  url.remove_prefix(address.tls ? 8 : 7);
  address.port = address.tls ? 443 : 80;
  size_t end = url.find(':');
  if (url.starts_with('[')) {  // an IPv6 address, which has colons of its own
    const size_t bracket = url.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    address.host = url.substr(1, bracket - 1);
    end = bracket + 1;
  } else {
    end = std::min(end, url.size());
    address.host = url.substr(0, end);
  }
  const std::string_view rest = url.substr(end);
  if (address.host.empty() || address.host.find_first_of("/?#@ ") != std::string::npos)
    return std::nullopt;
  if (rest.empty()) return address;
  const char* const last = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 1, last, address.port);
  if (rest[0] != ':' || error != std::errc{} || stop != last || address.port < 1 ||
      address.port > 65535)
    return std::nullopt;
  return address;
}

// What is wrong with the file, if anything.
std::optional<std::string> ProblemWithAuthority(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad())
    return fmt::format("{} cannot be read; does it exist, and may we read it?", path);
  if (text.find("-----BEGIN CERTIFICATE-----") == std::string::npos)
    return fmt::format("expected certificates in PEM: {} has no -----BEGIN CERTIFICATE----- line",
                       path);
  return std::nullopt;
}

// What the server's certificate is verified with; both empty: the certificates of the system.
struct Trust {
  std::string authority;    // a file
  std::string fingerprint;  // the bytes of the SHA-256 of the one certificate that is trusted
  std::string system = {};  // a file instead of the certificates of the system

  std::string Name() const {
    return !fingerprint.empty() ? "--server-fingerprint"
           : authority.empty()  ? "those of the system"
                                : authority;
  }
};

struct Answer {
  CURLcode result = CURLE_OK;  // otherwise there is none
  long verified = X509_V_OK;   // what OpenSSL says of the server's certificate
  bool connected = false;
  int status = 0;
  bool from_krafla = false;
  std::string retry_after;
  std::string body;
  std::string seen_fingerprint;  // of a certificate that is not the one it should be
};

std::string HexOf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{}{:02X}", text.empty() ? "" : ":", static_cast<unsigned char>(byte));
  return text;
}

// Asks one server, over one connection while it lasts.
class Client {
 public:
  Client(const Address& address, const Trust& trust)
      : address_(address), fingerprint_(trust.fingerprint) {
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_NOPROXY, "*");
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    Set(CURLOPT_TIMEOUT, kConnectSeconds + kAnswerSeconds);
    Set(CURLOPT_SSL_VERIFYPEER, 1L);
    Set(CURLOPT_SSL_VERIFYHOST, 2L);
    if (!trust.system.empty()) Set(CURLOPT_CAINFO, trust.system.c_str());
    if (!trust.authority.empty()) {
      Set(CURLOPT_CAINFO, trust.authority.c_str());
      Set(CURLOPT_CAPATH, nullptr);  // these, and not those of the system
    }
    if (!fingerprint_.empty()) {
      // The certificate is the name.
      Set(CURLOPT_SSL_VERIFYHOST, 0L);
      Set(CURLOPT_SSL_CTX_FUNCTION, &Client::SetUpTls);
      Set(CURLOPT_SSL_CTX_DATA, this);
    }
    Set(CURLOPT_WRITEFUNCTION, &Client::Take);
  }
  // With all requests from now on.
  void SendToken(const std::string& token) {
    const std::string line = "Authorization: Bearer " + token;
    headers_.reset(curl_slist_append(nullptr, line.c_str()));
    KRAFLA_CHECK(headers_ != nullptr, "out of memory");
    Set(CURLOPT_HTTPHEADER, headers_.get());
  }
  Answer Get(const std::string& target) {
    const bool is_ipv6 = address_.host.find(':') != std::string::npos;
    const std::string url =
        fmt::format("{}://{}:{}{}", address_.tls ? "https" : "http",
                    is_ipv6 ? "[" + address_.host + "]" : address_.host, address_.port, target);
    Answer answer;
    Set(CURLOPT_URL, url.c_str());
    Set(CURLOPT_WRITEDATA, &answer);
    seen_fingerprint_.clear();
    answer.result = curl_easy_perform(handle_.get());
    answer.seen_fingerprint = seen_fingerprint_;
    long connections = 0;
    long status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_SSL_VERIFYRESULT, &answer.verified);
    curl_easy_getinfo(handle_.get(), CURLINFO_NUM_CONNECTS, &connections);
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    double connect_s = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_CONNECT_TIME, &connect_s);
    answer.connected = connections == 0 || connect_s > 0;
    answer.status = static_cast<int>(status);
    answer.from_krafla = Header("X-Krafla").has_value();
    answer.retry_after = Header("Retry-After").value_or("");
    return answer;
  }
  // As part of a URL.
  std::string Escaped(const std::string& text) const {
    char* const escaped =
        curl_easy_escape(handle_.get(), text.data(), static_cast<int>(text.size()));
    KRAFLA_CHECK(escaped != nullptr, "out of memory");
    std::string result = escaped;
    curl_free(escaped);
    return result;
  }

 private:
  template <class Value>
  void Set(CURLoption option, Value value) {
    const CURLcode result = curl_easy_setopt(handle_.get(), option, value);
    KRAFLA_CHECK(result == CURLE_OK, curl_easy_strerror(result));
  }
  std::optional<std::string> Header(const char* name) const {
    curl_header* found = nullptr;
    if (curl_easy_header(handle_.get(), name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
      return std::nullopt;
    return found->value;
  }
  static CURLcode SetUpTls(CURL*, void* context, void* self) {
    SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), &Client::IsTheCertificate,
                                     self);
    return CURLE_OK;
  }
  // Instead of OpenSSL's own verification of the chain.
  static int IsTheCertificate(X509_STORE_CTX* chain, void* self) {
    Client& client = *static_cast<Client*>(self);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const X509* const certificate = X509_STORE_CTX_get0_cert(chain);
    const bool hashed =
        certificate != nullptr && X509_digest(certificate, EVP_sha256(), digest, &size) == 1;
    const std::string seen(reinterpret_cast<const char*>(digest), hashed ? size : 0);
    const bool expected = seen == client.fingerprint_;
    if (!expected) client.seen_fingerprint_ = seen;
    X509_STORE_CTX_set_error(chain, expected ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
    return expected ? 1 : 0;
  }
  static size_t Take(const char* piece, size_t, size_t bytes, Answer* answer) {
    if (answer->body.size() + bytes > kMostBytes) return 0;
    answer->body.append(piece, bytes);
    return bytes;
  }

  Address address_;
  const std::string fingerprint_;
  std::string seen_fingerprint_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr,
                                                                       curl_slist_free_all};
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_{curl_easy_init(), curl_easy_cleanup};
};

// Why there is no answer, and what to look at.
std::string WhyNoAnswer(const Answer& answer, bool tls, const Trust& trust) {
  if (!answer.seen_fingerprint.empty())
    return fmt::format("its certificate is another one: its SHA-256 is {}, not {}",
                       HexOf(answer.seen_fingerprint), HexOf(trust.fingerprint));
  switch (answer.result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no connection; is krafla serve running there, with --enable-metrics and that "
             "--listen-address?";
    case CURLE_OPERATION_TIMEDOUT:
      return answer.connected ? fmt::format("no answer within {} s", kAnswerSeconds)
                              : fmt::format("no connection within {} s", kConnectSeconds);
    case CURLE_SSL_CONNECT_ERROR:
      return "it does not speak TLS as we do; is it http:// there?";
    case CURLE_SSL_CACERT_BADFILE:
      return fmt::format("the certificates of {} cannot be used",
                         trust.authority.empty() ? "the system" : trust.authority);
    case CURLE_PEER_FAILED_VERIFICATION:
      // libcurl says "unspecified" of a chain that is good: the name is what is wrong.
      if (answer.verified == X509_V_OK || answer.verified == X509_V_ERR_UNSPECIFIED)
        return "its certificate is for another name";
      return fmt::format("its certificate cannot be verified with {}: {}{}", trust.Name(),
                         X509_verify_cert_error_string(answer.verified),
                         trust.authority.empty()
                             ? "; --certificate-authority names others, --server-fingerprint one "
                               "certificate alone (the server logs its own at the start)"
                             : "");
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
      return fmt::format("the connection ended without an answer{}",
                         tls ? "" : "; is it https:// there?");
    case CURLE_WRITE_ERROR:
      return fmt::format("its answer is larger than {} MiB", kMostBytes >> 20);
    default:
      return curl_easy_strerror(answer.result);
  }
}

// When a server that cannot answer now wants to be asked again: it says so, or a second later.
std::chrono::milliseconds WaitBeforeNext(const Answer& answer) {
  const std::string& text = answer.retry_after;
  int seconds = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0) seconds = 1;
  return std::max<std::chrono::milliseconds>(
      std::chrono::seconds(std::min(seconds, kMostRetryAfterSeconds)), kLeastWait);
}

// Behind what the server says.
std::string WhatToDo(int status, const std::string& url, const ServerToken& token, bool only_named,
                     std::chrono::milliseconds waited) {
  switch (status) {
    case 401:
      if (token.text.empty() && only_named)
        return fmt::format(
            " ({}; no token was sent: its certificate is one of many that the system trusts; "
            "--kubeconfig or --token-file names the token, --certificate-authority or "
            "--server-fingerprint the certificate)",
            url);
      return token.text.empty()
                 ? fmt::format(
                       " ({}; no token was sent{}{}; --token-file names one, kubectl create "
                       "token makes one)",
                       url, token.origin.empty() ? "" : ": ", token.origin)
                 : fmt::format(" ({}; the token was that of {})", url, token.origin);
    case 403:
      return fmt::format(" ({}{}{})", url, token.text.empty() ? "" : "; the token was that of ",
                         token.text.empty() ? "" : token.origin);
    case 503:
      return fmt::format(" ({}; asked again for {:.1f} s; try again later)", url,
                         std::chrono::duration<double>(waited).count());
    default:
      return {};
  }
}

}  // namespace

int ExplainFromServer(const ExplainCommandOptions& options, std::ostream& out, std::ostream& err) {
  Diagnostics diagnostics;
  const auto not_with_server = [&](bool given, const char* flag) {
    if (given)
      diagnostics.Error(flag, {}, "not together with --server, which knows its own cluster");
  };
  not_with_server(!options.cluster.empty(), "--cluster");
  not_with_server(!options.config.empty(), "--config");
  not_with_server(!options.now.empty(), "--now");
  not_with_server(options.compatibility.has_value(), "--compatibility");
  not_with_server(options.lenient, "--lenient");
  const std::string url = UrlOf(options.server);
  const std::optional<Address> address = ReadAddress(url);
  if (!address)
    diagnostics.Error("--server", {},
                      fmt::format("expected an address such as http://127.0.0.1:8080 or "
                                  "https://krafla:8080, got {}",
                                  Quoted(options.server)));
  Trust trust{.authority = options.certificate_authority,
              .fingerprint = {},
              .system = options.system_certificates};
  const auto only_https = [&](const char* flag) {
    if (address && !address->tls)
      diagnostics.Error(flag, {}, fmt::format("only for an https:// server, got {}", Quoted(url)));
  };
  if (!trust.authority.empty()) {
    only_https("--certificate-authority");
    if (const auto problem = ProblemWithAuthority(trust.authority))
      diagnostics.Error("--certificate-authority", {}, *problem);
  }
  if (!options.server_fingerprint.empty()) {
    only_https("--server-fingerprint");
    if (!trust.authority.empty())
      diagnostics.Error("--server-fingerprint", {},
                        "not together with --certificate-authority: one of the two is trusted");
    const std::optional<std::string> bytes = ReadFingerprint(options.server_fingerprint);
    if (!bytes)
      diagnostics.Error("--server-fingerprint", {},
                        fmt::format("expected the SHA-256 of a certificate, 32 bytes as AB:CD:…, "
                                    "got {}",
                                    Quoted(options.server_fingerprint)));
    trust.fingerprint = bytes.value_or("");
  }
  ServerToken token;
  const char* const token_flag = !options.token_file.empty()   ? "--token-file"
                                 : !options.kubeconfig.empty() ? "--kubeconfig"
                                                               : nullptr;
  if (token_flag != nullptr) {
    if (!options.token_file.empty() && !options.kubeconfig.empty())
      diagnostics.Error("--token-file", {}, "not together with --kubeconfig: one token is sent");
    if (address && !address->tls && !IsLoopbackHost(address->host)) {
      diagnostics.Error(
          token_flag, {},
          fmt::format("only for an https:// server, or one on loopback: a token is not sent to {}",
                      Quoted(url)));
    } else {
      token = !options.token_file.empty()
                  ? ReadTokenFile(options.token_file, diagnostics)
                  : FindKubeToken(options.kubeconfig, ProcessSurroundings(), diagnostics);
    }
  }
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  Client client(*address, trust);
  if (!token.text.empty()) client.SendToken(token.text);
  const std::string as = options.output == "json" ? "json" : options.color ? "color" : "text";
  const std::string target =
      fmt::format("/api/v1/explain?kind={}&name={}&as={}", client.Escaped(options.kind),
                  client.Escaped(options.name), as);
  Answer answer = client.Get(target);
  // The kubeconfig's token is for the API server first of all: only a server that wants one gets
  // it, and only when a flag says whose certificate it has. Any host can have one of a public
  // authority.
  const bool pinned = !trust.authority.empty() || !trust.fingerprint.empty();
  const bool only_named = address->tls && !pinned;
  if (answer.result == CURLE_OK && answer.status == 401 && answer.from_krafla && address->tls &&
      pinned && token_flag == nullptr) {
    token = FindKubeToken({}, ProcessSurroundings(), diagnostics);
    if (!token.text.empty()) {
      client.SendToken(token.text);
      answer = client.Get(target);
    }
  }
  // Busy with another question, or not yet ready: that is over in a moment, mostly.
  std::chrono::milliseconds waited{0};
  while (answer.result == CURLE_OK && answer.status == 503 && answer.from_krafla) {
    const std::chrono::milliseconds wait = WaitBeforeNext(answer);
    if (waited + wait > options.server_patience) break;
    std::this_thread::sleep_for(wait);
    waited += wait;
    answer = client.Get(target);
  }
  if (answer.result != CURLE_OK) {
    err << fmt::format("error: {} cannot be reached: {}\n", url,
                       WhyNoAnswer(answer, address->tls, trust));
    return kWrongInput;
  }
  if (answer.status != 200 || !answer.from_krafla) {
    const std::optional<std::string> said = ErrorIn(answer.body);
    if (said && answer.from_krafla) {
      err << fmt::format("error: {}{}\n", *said,
                         WhatToDo(answer.status, url, token, only_named, waited));
    } else {
      err << fmt::format(
          "error: {} does not answer as krafla serve does (status {}); is it the address of its "
          "metrics (--enable-metrics, --listen-address)?\n",
          url, answer.status);
    }
    return kWrongInput;
  }
  out << answer.body;
  out.flush();
  if (!out) {
    err << "error: the explanation could not be written\n";
    return kNotWritten;
  }
  return 0;
}

}  // namespace krafla
