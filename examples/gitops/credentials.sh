#!/bin/sh
# usage: ./credentials.sh SOURCE TARGET URL
#
# Lets the operator of cluster SOURCE read what cluster TARGET exports: takes the token that TARGET has made for SOURCE,
# and puts it into SOURCE, in the Secret that its Link to TARGET names. SOURCE and TARGET are contexts of your kubeconfig
# too; URL is where SOURCE reaches the API server of TARGET. Run it again when a token was replaced.
set -eu
if [ $# -ne 3 ]; then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
source=$1 target=$2 url=$3
namespace=linkerd-multicluster

minted() {
  kubectl --context="$target" --namespace="$namespace" get secret \
    "linkerd-service-mirror-remote-access-$source-token" --output="jsonpath=$1"
}
authority=$(minted '{.data.ca\.crt}')
token=$(minted '{.data.token}' | base64 --decode)
if [ -z "$authority" ] || [ -z "$token" ]; then
  echo "$target has made no token for $source yet: try again in a moment" >&2
  exit 1
fi

# The token is in no command line, where other users of this machine could see it.
kubectl --context="$source" apply --server-side --filename=- <<SECRET
apiVersion: v1
kind: Secret
type: mirror.linkerd.io/remote-kubeconfig
metadata:
  name: cluster-credentials-$target
  namespace: $namespace
stringData:
  kubeconfig: |
    apiVersion: v1
    kind: Config
    current-context: $target
    clusters:
      - name: $target
        cluster:
          server: $url
          certificate-authority-data: $authority
    contexts:
      - name: $target
        context:
          cluster: $target
          user: $source
    users:
      - name: $source
        user:
          token: $token
SECRET
