#!/bin/sh
# usage: ./credentials.sh SOURCE TARGET URL
#
# Lets the operator of cluster SOURCE read what cluster TARGET exports: asks TARGET for a token of the account of SOURCE,
# and puts it into SOURCE, in the Secret that its Link to TARGET names. The operator renews it from then on. SOURCE and
# TARGET are contexts of your kubeconfig too; URL is where SOURCE reaches the API server of TARGET.
set -eu
if [ $# -ne 3 ]; then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
source=$1 target=$2 url=$3
namespace=linkerd-multicluster

in_target() {
  kubectl --context="$target" --namespace="$namespace" "$@"
}
authority=$(in_target get configmap kube-root-ca.crt --output='jsonpath={.data.ca\.crt}' | base64 | tr -d '\n')
# What the commands of Linkspan know TARGET by. They do without it where you may not read it.
uid=$(in_target get namespace kube-system --output='jsonpath={.metadata.uid}') || uid=
# Two days are how long the operator may be away. Whoever deletes the Secret in TARGET voids the token.
token=$(in_target create token "linkerd-service-mirror-remote-access-$source" --duration=48h \
  --bound-object-kind=Secret --bound-object-name="linkspan-peer-$source")

# The token is in no command line, where other users of this machine could see it.
kubectl --context="$source" apply --server-side --filename=- <<SECRET
apiVersion: v1
kind: Secret
type: mirror.linkerd.io/remote-kubeconfig
metadata:
  name: cluster-credentials-$target
  namespace: $namespace
${uid:+  annotations:
    linkspan.dev/target-cluster-uid: $uid}
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
