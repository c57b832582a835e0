/** Linkerd's control plane of a cluster: identity, destination and policy controllers, on the address of its node. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { Default } from '../../crds/wire.ts';
import { httpStatus } from '../cluster/real/http-status.ts';
import type { Processes } from '../cluster/real/processes.ts';
import type { TestCluster } from '../cluster/types.ts';
import { type Api, installCrd, type ObjectRef } from '../cluster/workload/index.ts';
import { namespace } from '../support/builders.ts';
import { httpRouteCrds, tcpRouteCrd, tlsRouteCrd } from '../support/route-crds.ts';
import { linkerdBinary } from './binaries.ts';
import type { TrustAnchor } from './certificates.ts';
import { command } from './network.ts';

/** Namespace of the control plane. */
export const LINKERD = 'linkerd';
/** Ports of the node's address. A proxy finds them on its own loopback interface, where it asks for no TLS. */
export const ControlPort = { identity: 18080, strangers: 18081, destination: 18086, policy: 18090 } as const;
/** Trust domain of every cluster. */
export const TRUST_DOMAIN = 'cluster.local';
/** Trust domain of {@link ControlPort.strangers}, under the same anchor. */
export const OTHER_TRUST_DOMAIN = 'other.example';
/** Where Linkerd's controllers look for the trust anchor. */
const TRUST_ROOTS = '/run/linkerd/identity/trust-roots';

/** Where a control plane runs. */
export interface ControlPlaneProps {
  readonly cluster: TestCluster;
  readonly client: Api;
  readonly processes: Processes;
  readonly anchor: TrustAnchor;
  readonly address: string;
}

/** What Linkerd's charts leave in a cluster, as far as its controllers ask for it. */
const installed: readonly object[] = [
  namespace(LINKERD),
  namespace('linkerd-egress'),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'linkerd-config', namespace: LINKERD },
    data: { values: `clusterDomain: cluster.local\nidentityTrustDomain: ${TRUST_DOMAIN}\n` },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'linkerd-destination', namespace: LINKERD },
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } },
    },
  },
];

/** Installs the CRDs of Linkerd, as its command renders them, and of the Gateway API; starts the controllers. */
export const startControlPlane = async (props: ControlPlaneProps): Promise<void> => {
  const { cluster, client, anchor } = props;
  const rendered = await command(linkerdBinary('linkerd'), 'install', '--crds', '--ignore-cluster');
  const crds = (loadAll(rendered) as (ObjectRef | null)[]).filter(
    (each): each is ObjectRef => each?.kind === 'CustomResourceDefinition',
  );
  for (const crd of [...crds, ...httpRouteCrds(), tcpRouteCrd(), tlsRouteCrd()]) await installCrd(cluster, crd);
  for (const each of installed) await client.apply(each as ObjectRef);
  await mkdir(TRUST_ROOTS, { recursive: true });
  // What runs beside the other cluster reads it at any time: it is there whole, or not at all.
  const bundle = join(TRUST_ROOTS, `ca-bundle.${randomUUID()}`);
  await writeFile(bundle, anchor.certificate);
  await rename(bundle, join(TRUST_ROOTS, 'ca-bundle.crt'));
  await Promise.all([
    startIdentity(props, 'identity', TRUST_DOMAIN),
    startIdentity(props, 'strangers', OTHER_TRUST_DOMAIN),
    startDestination(props),
    startPolicy(props),
  ]);
};

const startIdentity = async (
  { cluster, processes, anchor, address }: ControlPlaneProps,
  name: 'identity' | 'strangers',
  trustDomain: string,
): Promise<void> => {
  const issuer = join(processes.dir, `${name}-issuer`);
  await mkdir(issuer);
  await writeFile(join(issuer, 'ca.crt'), anchor.certificate);
  await anchor.issuer(issuer, `identity.linkerd.${trustDomain}`);
  const admin = `${address}:${ControlPort[name] + 1_000}`;
  const running = processes.run({
    name,
    path: linkerdBinary('linkerd-controller'),
    args: [
      'identity',
      `-addr=${address}:${ControlPort[name]}`,
      `-admin-addr=${admin}`,
      `-kubeconfig=${cluster.kubeconfigFile}`,
      `-controller-namespace=${LINKERD}`,
      `-identity-trust-domain=${trustDomain}`,
      '-identity-issuance-lifetime=24h',
      '-identity-clock-skew-allowance=20s',
      '-identity-scheme=linkerd.io/tls',
      `-issuer=${issuer}`,
    ],
    env: { HOSTNAME: name },
  });
  await running.until(async () => (await httpStatus(`http://${admin}/ready`)) === 200);
};

const startDestination = async ({ cluster, processes, address }: ControlPlaneProps): Promise<void> => {
  const admin = `${address}:${ControlPort.destination + 1_000}`;
  const running = processes.run({
    name: 'destination',
    path: linkerdBinary('linkerd-controller'),
    args: [
      'destination',
      `-addr=${address}:${ControlPort.destination}`,
      `-metrics-addr=${admin}`,
      `-kubeconfig=${cluster.kubeconfigFile}`,
      `-controller-namespace=${LINKERD}`,
      `-identity-trust-domain=${TRUST_DOMAIN}`,
      '-cluster-domain=cluster.local',
      `-default-opaque-ports=${Default.opaquePorts}`,
    ],
    env: { HOSTNAME: 'destination' },
  });
  await running.until(async () => (await httpStatus(`http://${admin}/ready`)) === 200);
};

const startPolicy = async ({ cluster, processes, anchor, address }: ControlPlaneProps): Promise<void> => {
  const dir = join(processes.dir, 'policy-server');
  await mkdir(dir);
  await anchor.server(dir, 'linkerd-policy-validator.linkerd.svc');
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, unverified(cluster.kubeconfig));
  const admin = `${address}:${ControlPort.policy + 1_000}`;
  const running = processes.run({
    name: 'policy',
    path: linkerdBinary('linkerd-policy-controller'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--admin-addr=${admin}`,
      `--control-plane-namespace=${LINKERD}`,
      `--grpc-addr=${address}:${ControlPort.policy}`,
      `--server-addr=${address}:9443`,
      `--server-tls-key=${join(dir, 'tls.key.pkcs8')}`,
      `--server-tls-certs=${join(dir, 'tls.crt')}`,
      '--cluster-networks=10.0.0.0/8',
      '--probe-networks=0.0.0.0/0',
      `--identity-domain=${TRUST_DOMAIN}`,
      '--cluster-domain=cluster.local',
      '--default-policy=all-unauthenticated',
      '--default-opaque-ports=25',
    ],
    env: { HOSTNAME: 'policy' },
  });
  await running.until(async () => (await httpStatus(`http://${admin}/ready`)) === 200);
};

/** Rust takes no certificate of an authority for that of a server, and that of the test clusters is both. */
const unverified = (kubeconfig: string): string =>
  kubeconfig.replace(/certificate-authority-data: .*/, 'insecure-skip-tls-verify: true');
