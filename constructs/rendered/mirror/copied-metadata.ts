/**
 * Which labels and annotations of a target Service its mirror takes over (rules B2 and B3).
 * Everything is copied but what would make other software act on the copy: Linkerd's own bookkeeping, trackers by which
 * a GitOps tool would claim or prune it, and orders to provision a load balancer or a DNS name.
 */
import { Annotation, LINKERD_DOMAINS, OWN_DOMAIN } from '../../../crds/wire.ts';

/** Labels or annotations, by key. */
export type Metadata = Readonly<Record<string, string>>;

/** Never copied. `prefix/*` is every key whose part before the slash is `prefix`; any other trailing `*` a key's beginning. */
const NEVER_COPIED: readonly string[] = [
  // Linkerd's multicluster bookkeeping: a copy would export, federate or re-route the mirror.
  ...LINKERD_DOMAINS.map((domain) => `${domain}/*`),
  // Our own: a copy would pass for what the operator has marked.
  `${OWN_DOMAIN}/*`,
  // Kubernetes': routing hints about the target's nodes, kubectl's memory, and who maintains an EndpointSlice.
  'service.kubernetes.io/topology-*',
  'kubectl.kubernetes.io/last-applied-configuration',
  'endpointslice.kubernetes.io/*',
  // GitOps and Helm: by these a tool in the source cluster takes the copy for its own.
  'argocd.argoproj.io/*',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'helm.sh/*',
  'meta.helm.sh/*',
  'kustomize.toolkit.fluxcd.io/*',
  'helm.toolkit.fluxcd.io/*',
  // DNS names outside the cluster.
  'external-dns.alpha.kubernetes.io/*',
  // Load balancers; the first prefix is every cloud provider's (aws-…, azure-…, do-…, oci-…) and of nothing else.
  'service.beta.kubernetes.io/*',
  'cloud.google.com/*',
  'networking.gke.io/*',
  'service.kubernetes.io/ibm-*',
  'service.kubernetes.io/qcloud-*',
  'kubernetes.digitalocean.com/*',
  'load-balancer.hetzner.cloud/*',
  'loadbalancer.openstack.org/*',
  'oci.oraclecloud.com/*',
  'oci-network-load-balancer.oraclecloud.com/*',
  'metallb.universe.tf/*',
  'metallb.io/*',
  'lbipam.cilium.io/*',
  'io.cilium/lb-ipam-*',
  'kube-vip.io/*',
  // cdk8s cannot render a map with this key.
  'constructor',
];

/** Copied whatever is excluded: it decides how proxies treat the Service's ports (rule B3). */
const ALWAYS_COPIED: ReadonlySet<string> = new Set([Annotation.opaquePorts]);

/** The labels that a mirror takes over; `excluded` holds exact keys, or `prefix/*`. */
export const copiedLabels = (labels: Metadata, excluded: readonly string[] = []): Record<string, string> =>
  copied(labels, excluded);

/** The annotations that a mirror takes over; `excluded` holds exact keys, or `prefix/*`. */
export const copiedAnnotations = (annotations: Metadata, excluded: readonly string[] = []): Record<string, string> =>
  copied(annotations, excluded, ALWAYS_COPIED);

const copied = (
  metadata: Metadata,
  excluded: readonly string[],
  always?: ReadonlySet<string>,
): Record<string, string> => {
  const result: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (always?.has(key) || !(neverCopied(key) || excludes(excluded, key))) result[key] = value;
  }
  return result;
};

/** True if the user's exclusions cover the key: named exactly, or by all of its prefix. */
const excludes = (excluded: readonly string[], key: string): boolean => {
  if (excluded.length === 0) return false;
  const slash = key.indexOf('/');
  return excluded.includes(key) || (slash > 0 && excluded.includes(`${key.slice(0, slash)}/*`));
};

const exact = new Set(NEVER_COPIED.filter((pattern) => !pattern.endsWith('*')));
const beginnings = NEVER_COPIED.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));

const neverCopied = (key: string): boolean =>
  exact.has(key) || beginnings.some((beginning) => key.startsWith(beginning));
