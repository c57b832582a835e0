/**
 * The three clusters of the gitops example, as they are before anything of ours is there, and what others than Argo CD
 * do in them: controllers and a kubelet, a cloud that gives addresses to gateways, the operator's pod once its
 * Deployment asks for one, and a team that carries tokens from target to source.
 */
import { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { peerSecretName, remoteAccessName } from '../../crds/wire.ts';
import { addOperatorFlags, type FlagValues } from '../../operator/config/flags.ts';
import { startCluster, type TestCluster } from '../cluster/index.ts';
import { type Api, api, eventually, installCrd, type Kubelet, startKubelet } from '../cluster/workload/index.ts';
import { credentials, LINKS_NAMESPACE, namespace } from '../support/builders.ts';
import { TestGateway } from '../support/gateway.ts';
import { meshCrds } from '../support/mesh-crds.ts';
import { ARGOCD_USER } from './argocd.ts';
import { LASTING_LEASE, TestOperator } from '../support/operator.ts';
import { requestToken } from '../support/tokens.ts';

/** Where the gateways of the clusters are, as far as anybody can tell from outside. */
export const GATEWAYS = { east: '203.0.113.1', west: '203.0.113.2', north: '203.0.113.3' } as const;

/** What requests of the fleet's kubelets say of themselves. */
export const KUBELET = 'linkspan-test-kubelet';

/** A cluster of the fleet. */
export type Member = keyof typeof GATEWAYS;

export const MEMBERS = Object.keys(GATEWAYS) as readonly Member[];

const OPERATOR = 'linkspan-operator';
const DEADLINE_MS = 120_000;

const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  // A PodDisruptionBudget is Progressing to Argo CD until it has a status.
  'disruption-controller',
  'endpointslice-controller',
  'namespace-controller',
  'garbage-collector-controller',
];

/** What Linkerd itself has installed. */
const LINKERD_CRDS = [...meshCrds].filter(({ metadata }) => metadata.name.endsWith('.policy.linkerd.io'));

interface Deployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

/** Silence is as long as in production: a watch that ends among many changes may list, and hold deletions back. */
const PATIENT = {
  sourceTimings: { backoff: { baseMs: 50, capMs: 500 } },
  targetTimings: { backoff: { baseMs: 50, capMs: 500 } },
};

/** Three clusters. */
export class Fleet {
  /** Of all clusters: alive or not, all are. */
  readonly gateway = new TestGateway();
  readonly #dir: string;
  readonly #clusters: Readonly<Record<Member, TestCluster>>;
  readonly #apis: Readonly<Record<Member, Api>>;
  readonly #kubelets: Kubelet[] = [];
  readonly #operators = new Map<Member, TestOperator>();
  /** Arguments that the operator of each was started with. */
  readonly #args = new Map<Member, string>();

  private constructor(dir: string, clusters: Readonly<Record<Member, TestCluster>>) {
    this.#dir = dir;
    this.#clusters = clusters;
    this.#apis = { east: api(clusters.east), west: api(clusters.west), north: api(clusters.north) };
  }

  /** Starts the clusters, with Linkerd's CRDs and a namespace `shop`. */
  static async start(dir: string): Promise<Fleet> {
    const start = (name: Member) =>
      startCluster({ backing: 'real', name, controllers: CONTROLLERS, users: [ARGOCD_USER] });
    const [east, west, north] = await Promise.all([start('east'), start('west'), start('north')]);
    const fleet = new Fleet(dir, { east, west, north });
    await fleet.gateway.revive();
    // As the Deployment sets it: it spares a look at Service default/kubernetes.
    process.env['POD_IPS'] = '10.244.0.1';
    for (const member of MEMBERS) {
      const cluster = fleet.cluster(member);
      await Promise.all(LINKERD_CRDS.map((crd) => installCrd(cluster, crd)));
      await fleet.api(member).apply(namespace('shop'));
      fleet.#kubelets.push(await startKubelet(cluster));
    }
    return fleet;
  }

  cluster(member: Member): TestCluster {
    return this.#clusters[member];
  }

  api(member: Member): Api {
    return this.#apis[member];
  }

  /** All that others do once Argo CD has applied what they do it to. */
  async attend(...members: readonly Member[]): Promise<void> {
    await Promise.all(
      members.flatMap((member) => [
        this.giveAddress(member),
        this.startOperator(member),
        ...members.filter((target) => target !== member).map((target) => this.fillCredentials(member, target)),
      ]),
    );
  }

  /** What a cloud does for a Service of type LoadBalancer. */
  async giveAddress(member: Member): Promise<void> {
    const gateway = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'linkerd-gateway', namespace: LINKS_NAMESPACE },
    };
    const status = { loadBalancer: { ingress: [{ ip: GATEWAYS[member] }] } };
    await eventually(
      `${member} has a gateway`,
      () => this.api(member).patch(gateway, { status }, { subresource: 'status' }),
      DEADLINE_MS,
    );
  }

  /** What the operator's pod does: under its ServiceAccount, with the arguments of its Deployment. */
  async startOperator(member: Member): Promise<void> {
    const name = OPERATOR;
    const deployment = await eventually(
      `${member} has the operator's Deployment`,
      () =>
        this.api(member).get<Deployment>({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name, namespace: LINKS_NAMESPACE },
        }),
      DEADLINE_MS,
    );
    const path = `/api/v1/namespaces/${LINKS_NAMESPACE}/serviceaccounts/${name}/token`;
    const { body } = await this.api(member).request<{ readonly status: { readonly token: string } }>('POST', path, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
    });
    this.#args.set(member, deployment.spec.template.spec.containers[0]!.args.join(' '));
    const kubeconfigFile = join(this.#dir, `operator-${member}.kubeconfig`);
    await writeFile(kubeconfigFile, this.cluster(member).kubeconfigFor(body.status.token));
    const [, ...args] = deployment.spec.template.spec.containers[0]!.args;
    const flags = addOperatorFlags(new Command()).parse(args, { from: 'user' }).opts<FlagValues>();
    const probeConnectTo = MEMBERS.map(
      (target) => `probe-${target}.${LINKS_NAMESPACE}.svc=127.0.0.1:${this.gateway.address.port}`,
    );
    const operator = new TestOperator(kubeconfigFile, this.gateway, {
      flags: { ...flags, ...LASTING_LEASE, adminAddress: '127.0.0.1:0', probeConnectTo },
      tuning: PATIENT,
    });
    this.#operators.set(member, operator);
  }

  /** Starts the operator anew once its Deployment has other arguments, as Kubernetes does. */
  async rollOut(member: Member): Promise<void> {
    const before = this.#args.get(member);
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: OPERATOR, namespace: LINKS_NAMESPACE } };
    await eventually(
      `the operator of ${member} has other arguments`,
      async () => {
        const deployment = await this.api(member).get<Deployment>(ref);
        return deployment?.spec.template.spec.containers[0]!.args.join(' ') !== before;
      },
      DEADLINE_MS,
    );
    await this.stopOperator(member);
    await this.startOperator(member);
  }

  async stopOperator(member: Member): Promise<void> {
    await this.#operators.get(member)?.stop();
    this.#operators.delete(member);
  }

  /** What a team does: the token that the target has minted for the source, put where the source's Link looks for it. */
  async fillCredentials(source: Member, target: Member): Promise<void> {
    const kubeconfig = this.cluster(target).kubeconfigFor(await this.#minted(source, target));
    // Its namespace comes with the source's Application.
    await eventually(
      `${source} has credentials of ${target}`,
      () => this.api(source).apply(credentials(target, kubeconfig), { fieldManager: 'team' }),
      DEADLINE_MS,
    );
  }

  async stop(): Promise<void> {
    delete process.env['POD_IPS'];
    await Promise.all([...this.#operators.keys()].map((member) => this.stopOperator(member)));
    await Promise.all([...this.#kubelets.map((kubelet) => kubelet.stop()), this.gateway.die()]);
    await Promise.all(MEMBERS.map((member) => this.api(member).close()));
    await Promise.all(MEMBERS.map((member) => this.cluster(member).stop()));
  }

  /** A token of the account of a source, bound to the Secret that the target's Application has for it. */
  async #minted(source: Member, target: Member): Promise<string> {
    const peer = { apiVersion: 'v1', kind: 'Secret', name: peerSecretName(remoteAccessName(source)) };
    const ref = { ...peer, metadata: { name: peer.name, namespace: LINKS_NAMESPACE } };
    await eventually(`${target} has an account for ${source}`, () => this.api(target).get(ref), DEADLINE_MS);
    const account = { namespace: LINKS_NAMESPACE, name: remoteAccessName(source) };
    return requestToken(this.cluster(target), account, peer, 24 * 3_600);
  }
}
