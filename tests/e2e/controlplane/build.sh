#!/bin/bash
# Builds etcd, kube-apiserver, kube-scheduler, kwok and kubectl from the Go module proxy alone and keeps
# them in a folder outside the source tree, named after what they were built from: a second call
# with the same go.mod and sources finds them there and builds nothing.
#
# usage: build.sh          prints the folder with the programs on stdout; everything else goes to stderr
# KRAFLA_E2E_CACHE         where to keep them (default ~/.cache/krafla)
# exit 3                   Go is missing or too old
set -euo pipefail
cd "$(dirname "$0")"

wanted_minor=26
version=$(go env GOVERSION 2>/dev/null || true)
if [[ ! $version =~ ^go1\.([0-9]+) ]] || ((BASH_REMATCH[1] < wanted_minor)); then
  echo "build.sh: needs Go 1.$wanted_minor or newer, found ${version:-no Go at all}" >&2
  exit 3
fi

key=$(cat build.sh go.mod go.sum */main.go | sha256sum | cut -c1-16)
cache=${KRAFLA_E2E_CACHE:-$HOME/.cache/krafla}
bin=$cache/controlplane-$key
if [[ -e $bin/complete ]]; then
  echo "$bin"
  exit 0
fi

# Built beside and moved into place: an interrupted build leaves nothing that looks finished, and
# two builds at once do not see each other's halves.
mkdir -p "$cache"
work=$(mktemp -d "$cache/building.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "building the test control plane into $bin (about ten CPU-minutes, once)" >&2
ldflags=-X=k8s.io/component-base/version
export CGO_ENABLED=0 GOTOOLCHAIN=local
go build -p 2 -mod=readonly -trimpath -o "$work/" \
  -ldflags "-s -w $ldflags.gitVersion=v1.36.1 $ldflags.gitMajor=1 $ldflags.gitMinor=36 $ldflags.gitTreeState=clean" \
  ./etcd ./kube-apiserver ./kube-scheduler ./kwok ./kubectl >&2

# kwok does nothing without stages; its own standard ones travel with its module.
stages=$(go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
  pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
  echo '---'
  cat "$stages/$stage.yaml"
done >"$work/kwok-stages.yaml"
touch "$work/complete"
if ! mv -T "$work" "$bin" 2>/dev/null; then
  [[ -e $bin/complete ]]
fi
echo "$bin"
