#!/usr/bin/env bash
# Prints the base images of a Dockerfile, `ARG NAME_BASE=image:tag`, by digest: `NAME_BASE=image@sha256:…`. Fails for an
# image that is not there for each of our platforms. The digest is that of the index, which holds them all.
set -euo pipefail
bases=$(sed -n 's/^ARG \([A-Z_]*_BASE\)=\(.*\)$/\1 \2/p' "$1")
test -n "$bases"
while read -r name image; do
  index=$(docker buildx imagetools inspect "$image" --format '{{json .Manifest}}')
  for platform in amd64 arm64; do
    jq --exit-status --arg platform "$platform" \
      'any(.manifests[]; .platform.os == "linux" and .platform.architecture == $platform)' <<<"$index" >/dev/null ||
      { echo "$image: is not there for linux/$platform" >&2; exit 1; }
  done
  digest=$(jq --raw-output .digest <<<"$index")
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$image: has no digest: $digest" >&2; exit 1; }
  printf '%s=%s@%s\n' "$name" "${image%:*}" "$digest"
done <<<"$bases"
