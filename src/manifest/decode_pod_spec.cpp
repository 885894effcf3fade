#include "manifest/decode_pod_spec.h"

#include <algorithm>
#include <array>
#include <string>

#include "manifest/decode_affinity.h"
#include "manifest/decode_resources.h"
#include "manifest/pod_requests.h"

namespace krafla {

namespace {

using ProtocolWord = std::pair<std::string_view, Protocol>;
constexpr std::array kProtocols = {ProtocolWord{"TCP", Protocol::kTcp},
                                   ProtocolWord{"UDP", Protocol::kUdp},
                                   ProtocolWord{"SCTP", Protocol::kSctp}};
constexpr int32_t kMaxPort = 65535;

// As kube-scheduler looks images up: a name without tag and digest means ":latest".
std::string NormalisedImage(std::string_view image) {
  const size_t slash = image.rfind('/');
  const size_t from = slash == std::string_view::npos ? 0 : slash;
  const bool tagged = image.find(':', from) != std::string_view::npos;
  return std::string(image) + (tagged ? "" : ":latest");
}

struct ContainerPort {
  HostPort host;
  int32_t container_port = 0;
};

struct Container {
  std::string_view name;
  std::string_view image;
  ContainerRequests requests;
  std::vector<ContainerPort> ports;
};

struct ContainerStatus {
  std::string_view name;
  ResourceList in_force;
  ResourceList granted;
};

// One decoding; the fields of a digest come in any order, and some need others.
class Decoding {
 public:
  Decoding(ObjectReader& reader, StringPool& strings, ResourceKinds& kinds, const Metadata& pod)
      : reader_(reader), strings_(strings), kinds_(kinds), pod_(pod) {}

  DecodedPodSpec Run(simdjson::ondemand::document& document) {
    JsonObject root;
    if (const auto error = document.get_object().get(root)) {
      reader_.Malformed(error);
      return {};
    }
    // Whether the pod was admitted decides how other fields are read.
    reader_.ForEachField(root, [&](std::string_view key, JsonValue&) {
      if (key == kNotAdmittedFlag) scope_.admitted = false;
      if (key == kResizeInfeasibleFlag) requests_.resize_infeasible = true;
    });
    if (reader_.malformed()) return {};  // the document has given up
    document.rewind();
    if (const auto error = document.get_object().get(root)) {
      reader_.Malformed(error);
      return {};
    }
    reader_.ForEachField(root, [&](std::string_view key, JsonValue& value) { Field(key, value); });
    Finish();
    return {std::move(spec_), scope_.used_labels || used_name_};
  }

 private:
  void Field(std::string_view key, JsonValue& value) {
    if (key == "containers") {
      containers_ = DecodeContainers(value);
    } else if (key == "initContainers") {
      init_containers_ = DecodeContainers(value);
    } else if (key == "affinity") {
      DecodeAffinity(scope_, value, spec_);
    } else if (key == "tolerations") {
      DecodeTolerations(scope_, value, spec_);
    } else if (key == "topologySpreadConstraints") {
      DecodeSpread(scope_, value, spec_);
    } else if (key == "nodeSelector") {
      TextMap selector;
      DecodeTextMap(reader_, value, selector);
      spec_.node_selector = InternLabelSet(selector, strings_);
    } else if (key == "schedulingGates") {
      DecodeGates(value);
    } else if (key == "resourceClaims") {
      reader_.ForEachItem(value, [&](JsonValue&) { spec_.needs_resource_claims = true; });
    } else if (key == "volumes") {
      reader_.ForEachItem(value, [&](JsonValue& item) { DecodeVolume(item); });
    } else if (key == "overhead") {
      requests_.overhead = DecodeResourceList(reader_, value);
    } else if (key == "resources") {
      requests_.pod_level.asked = DecodeRequestsOf(value);
    } else if (key == "hostNetwork") {
      host_network_ = reader_.Bool(value);
    } else if (key == "containerStatuses" || key == "initContainerStatuses") {
      reader_.ForEachItem(value, [&](JsonValue& item) { DecodeStatus(item); });
    } else if (key == "statusResources") {
      requests_.pod_level.has_status = true;
      requests_.pod_level.in_force = DecodeRequestsOf(value);
    } else if (key == "statusAllocatedResources") {
      requests_.pod_level.granted = DecodeResourceList(reader_, value);
    }
  }

  // {requests: {…}, limits: {…}}; limits decide nothing but must be amounts.
  ResourceList DecodeRequestsOf(JsonValue& value) {
    ResourceList requests;
    reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
      if (key == "requests") requests = DecodeResourceList(reader_, field);
      if (key == "limits") DecodeResourceList(reader_, field);
      if (key == "claims")
        reader_.ForEachItem(field, [&](JsonValue&) { spec_.needs_resource_claims = true; });
    });
    return requests;
  }

  std::vector<Container> DecodeContainers(JsonValue& value) {
    std::vector<Container> containers;
    reader_.ForEachItem(value, [&](JsonValue& item) {
      Container container;
      reader_.ForEachField(item, [&](std::string_view key, JsonValue& field) {
        if (key == "name") {
          container.name = reader_.Text(field);
        } else if (key == "image") {
          container.image = reader_.Text(field);
        } else if (key == "resources") {
          container.requests.requests.asked = DecodeRequestsOf(field);
        } else if (key == "restartPolicy") {
          container.requests.sidecar = reader_.Text(field) == "Always";
        } else if (key == "ports") {
          reader_.ForEachItem(
              field, [&](JsonValue& port) { container.ports.push_back(DecodePort(port)); });
        }
      });
      containers.push_back(std::move(container));
    });
    return containers;
  }

  ContainerPort DecodePort(JsonValue& value) {
    ContainerPort port;
    reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
      if (key == "hostPort") {
        port.host.port = reader_.Int32(field, 0, kMaxPort).value_or(0);
      } else if (key == "containerPort") {
        port.container_port = reader_.Int32(field, 0, kMaxPort).value_or(0);
      } else if (key == "protocol") {
        port.host.protocol = reader_.Word<Protocol>(field, kProtocols, Protocol::kTcp);
      } else if (key == "hostIP") {
        const std::string_view ip = reader_.Text(field);
        if (ip != "0.0.0.0") port.host.host_ip = strings_.Intern(ip);
      }
    });
    return port;
  }

  void DecodeGates(JsonValue& value) {
    reader_.ForEachItem(value, [&](JsonValue& item) {
      std::string_view name;
      reader_.ForEachField(item, [&](std::string_view key, JsonValue& field) {
        if (key == "name") name = reader_.Text(field);
      });
      spec_.scheduling_gates.push_back(strings_.Intern(name));
    });
  }

  void DecodeVolume(JsonValue& value) {
    std::string_view name;
    bool ephemeral = false;
    reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
      if (key == "name") {
        name = reader_.Text(field);
      } else if (key == "ephemeral") {
        ephemeral = true;
      } else if (key == "persistentVolumeClaim") {
        const char* at = ObjectReader::At(field);
        std::string_view claim;
        reader_.ForEachField(field, [&](std::string_view part, JsonValue& text) {
          if (part == "claimName") claim = reader_.Text(text);
        });
        if (claim.empty()) reader_.Wrong(at, "expected a claimName");
        spec_.claims.push_back({.claim = strings_.Intern(claim)});
      } else if (key == "image") {
        reader_.ForEachField(field, [&](std::string_view part, JsonValue& text) {
          if (part == "reference") volume_images_.push_back(reader_.Text(text));
        });
      }
    });
    if (!ephemeral) return;
    used_name_ = true;
    std::string claim(pod_.name);
    claim.append("-").append(name);
    spec_.claims.push_back({.claim = strings_.Intern(claim), .ephemeral = true});
  }

  void DecodeStatus(JsonValue& value) {
    ContainerStatus status;
    reader_.ForEachField(value, [&](std::string_view key, JsonValue& field) {
      if (key == "name") {
        status.name = reader_.Text(field);
      } else if (key == "resources") {
        status.in_force = DecodeRequestsOf(field);
      } else if (key == "allocatedResources") {
        status.granted = DecodeResourceList(reader_, field);
      }
    });
    statuses_.push_back(std::move(status));
  }

  void AddContainer(Container& container, std::vector<ContainerRequests>& to) {
    for (ContainerStatus& status : statuses_) {
      if (status.name != container.name) continue;
      RequestState& state = container.requests.requests;
      state.has_status = true;
      state.in_force = std::move(status.in_force);
      state.granted = std::move(status.granted);
      break;
    }
    if (!container.image.empty())
      spec_.images.push_back(strings_.Intern(NormalisedImage(container.image)));
    to.push_back(std::move(container.requests));
  }

  void AddPorts(const Container& container) {
    for (ContainerPort port : container.ports) {
      if (host_network_ && !scope_.admitted && port.host.port == 0)
        port.host.port = port.container_port;  // the API server's default
      if (port.host.port > 0) spec_.host_ports.push_back(port.host);
    }
  }

  void Finish() {
    for (Container& container : init_containers_) {
      if (container.requests.sidecar) AddPorts(container);
      AddContainer(container, requests_.init_containers);
    }
    for (Container& container : containers_) {
      AddPorts(container);
      AddContainer(container, requests_.containers);
    }
    for (const std::string_view image : volume_images_)
      if (!image.empty()) spec_.images.push_back(strings_.Intern(NormalisedImage(image)));
    spec_.container_count = static_cast<int32_t>(containers_.size() + init_containers_.size());
    if (!reader_.HasErrors()) SetRequests(requests_, kinds_, reader_, spec_);
  }

  ObjectReader& reader_;
  StringPool& strings_;
  ResourceKinds& kinds_;
  const Metadata& pod_;
  AffinityScope scope_{reader_, strings_, pod_};

  PodSpec spec_;
  PodRequests requests_;
  std::vector<Container> containers_;
  std::vector<Container> init_containers_;
  std::vector<ContainerStatus> statuses_;
  std::vector<std::string_view> volume_images_;
  bool host_network_ = false;
  bool used_name_ = false;
};

}  // namespace

DecodedPodSpec PodSpecDecoder::Decode(std::string_view digest, const Metadata& pod) {
  simdjson::ondemand::document document;
  if (const auto error =
          parser_.iterate(digest.data(), digest.size(), digest.size() + simdjson::SIMDJSON_PADDING)
              .get(document)) {
    reader_.Malformed(error);
    return {};
  }
  return Decoding(reader_, strings_, kinds_, pod).Run(document);
}

}  // namespace krafla
