#include "app/explain_server.h"

#include <httplib.h>
#include <simdjson.h>

#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "base/did_you_mean.h"

namespace krafla {

namespace {

// A search for changes ends after 20 s; what comes around it takes less.
constexpr int kPatienceSeconds = 60;

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
  // The library throws on schemes it does not know.
  std::optional<httplib::Client> client;
  if (url.starts_with("http://")) client.emplace(url);
  if (!client || !client->is_valid())
    diagnostics.Error("--server", {},
                      fmt::format("expected an address such as http://127.0.0.1:8080, got {}",
                                  Quoted(options.server)));
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  client->set_connection_timeout(10);
  client->set_read_timeout(kPatienceSeconds);
  const std::string as = options.output == "json" ? "json" : options.color ? "color" : "text";
  const httplib::Result answer =
      client->Get("/api/v1/explain",
                  httplib::Params{{"kind", options.kind}, {"name", options.name}, {"as", as}}, {});
  if (!answer) {
    const bool nobody = answer.error() == httplib::Error::Connection;
    err << fmt::format("error: {} cannot be reached: {}\n", url,
                       nobody ? "no connection; is krafla serve running there, with "
                                "--enable-metrics and that --listen-address?"
                              : httplib::to_string(answer.error()));
    return kWrongInput;
  }
  if (!IsExplanation(*answer)) {
    const std::optional<std::string> said = ErrorIn(answer->body);
    if (said && answer->has_header("X-Krafla")) {
      err << fmt::format("error: {}{}\n", *said,
                         answer->status == 503 ? fmt::format(" ({}; try again)", url) : "");
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
