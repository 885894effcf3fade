#include "app/explain_server.h"

#include <httplib.h>
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
#include "base/did_you_mean.h"

namespace krafla {

namespace {

// A search for changes ends after 20 s; what comes around it takes less.
constexpr int kPatienceSeconds = 60;
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

// Read here: the library throws on schemes and ports it does not know, and takes what it cannot
// read for a name.
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

std::unique_ptr<httplib::ClientImpl> MakeClient(const Address& address) {
  if (address.tls) return std::make_unique<httplib::SSLClient>(address.host, address.port);
  return std::make_unique<httplib::ClientImpl>(address.host, address.port);
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

// Why there is no answer, and what to look at.
std::string WhyNoAnswer(const httplib::Result& answer, const httplib::ClientImpl& client,
                        const std::string& authority) {
  const auto* const tls = dynamic_cast<const httplib::SSLClient*>(&client);
  switch (answer.error()) {
    case httplib::Error::Connection:
      return "no connection; is krafla serve running there, with --enable-metrics and that "
             "--listen-address?";
    case httplib::Error::ConnectionTimeout:
      return "no connection within 10 s";
    case httplib::Error::SSLConnection:
      return "it does not speak TLS as we do; is it http:// there?";
    case httplib::Error::SSLLoadingCerts:
      return fmt::format("the certificates of {} cannot be used",
                         authority.empty() ? "the system" : authority);
    case httplib::Error::SSLServerVerification: {
      const long why = tls != nullptr ? tls->get_openssl_verify_result() : X509_V_OK;
      if (why == X509_V_OK) return "its certificate is for another name";
      return fmt::format("its certificate cannot be verified with {}: {}{}",
                         authority.empty() ? "those of the system" : authority,
                         X509_verify_cert_error_string(why),
                         authority.empty() ? "; --certificate-authority names others" : "");
    }
    case httplib::Error::Read:
      return fmt::format("the connection ended without an answer{}",
                         tls != nullptr ? "" : "; is it https:// there?");
    default:
      return httplib::to_string(answer.error());
  }
}

// When a server that cannot answer now wants to be asked again: it says so, or a second later.
std::chrono::milliseconds WaitBeforeNext(const httplib::Response& response) {
  const std::string text = response.get_header_value("Retry-After");
  int seconds = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0) seconds = 1;
  return std::max<std::chrono::milliseconds>(
      std::chrono::seconds(std::min(seconds, kMostRetryAfterSeconds)), kLeastWait);
}

bool IsExplanation(const httplib::Response& response) {
  return response.status == 200 && response.has_header("X-Krafla");
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
  const std::unique_ptr<httplib::ClientImpl> client = address ? MakeClient(*address) : nullptr;
  if (!client || !client->is_valid())
    diagnostics.Error("--server", {},
                      fmt::format("expected an address such as http://127.0.0.1:8080 or "
                                  "https://krafla:8080, got {}",
                                  Quoted(options.server)));
  const std::string& authority = options.certificate_authority;
  if (!authority.empty()) {
    if (client && !url.starts_with("https://"))
      diagnostics.Error("--certificate-authority", {},
                        fmt::format("only for an https:// server, got {}", Quoted(url)));
    if (const auto problem = ProblemWithAuthority(authority))
      diagnostics.Error("--certificate-authority", {}, *problem);
  }
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  if (!authority.empty()) client->set_ca_cert_path(authority);
  client->enable_server_certificate_verification(true);
  client->set_connection_timeout(10);
  client->set_read_timeout(kPatienceSeconds);
  const std::string as = options.output == "json" ? "json" : options.color ? "color" : "text";
  const auto ask = [&] {
    return client->Get("/api/v1/explain",
                       httplib::Params{{"kind", options.kind}, {"name", options.name}, {"as", as}},
                       {});
  };
  httplib::Result answer = ask();
  // Busy with somebody else's question, or not yet ready: that is over in a moment, mostly.
  std::chrono::milliseconds waited{0};
  while (answer && answer->status == 503 && answer->has_header("X-Krafla")) {
    const std::chrono::milliseconds wait = WaitBeforeNext(*answer);
    if (waited + wait > options.server_patience) break;
    std::this_thread::sleep_for(wait);
    waited += wait;
    answer = ask();
  }
  if (!answer) {
    err << fmt::format("error: {} cannot be reached: {}\n", url,
                       WhyNoAnswer(answer, *client, authority));
    return kWrongInput;
  }
  if (!IsExplanation(*answer)) {
    const std::optional<std::string> said = ErrorIn(answer->body);
    if (said && answer->has_header("X-Krafla")) {
      err << fmt::format("error: {}{}\n", *said,
                         answer->status == 503
                             ? fmt::format(" ({}; asked again for {:.1f} s; try again later)", url,
                                           std::chrono::duration<double>(waited).count())
                             : std::string());
    } else {
      err << fmt::format(
          "error: {} does not answer as krafla serve does (status {}); is it the address of its "
          "metrics (--enable-metrics, --listen-address)?\n",
          url, answer->status);
    }
    return kWrongInput;
  }
  out << answer->body;
  out.flush();
  if (!out) {
    err << "error: the explanation could not be written\n";
    return kNotWritten;
  }
  return 0;
}

}  // namespace krafla
