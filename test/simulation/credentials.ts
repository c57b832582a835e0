/** The credentials of targets, as users put them into Secrets. */
import { LINKS_NAMESPACE } from '../support/builders.ts';
import type { HistoryCluster } from './cluster.ts';
import { type CredentialsKind, type LinkName, TARGET_OF, type TargetName } from './command.ts';
import type { World } from './world/world.ts';

const SECRET_TYPE = 'mirror.linkerd.io/remote-kubeconfig';

/** How long the token of credentials that came early is not admitted yet. */
const EARLY_MS = 5_000;

export interface CredentialsOptions {
  readonly world: World;
  readonly east: HistoryCluster;
  /** All clusters that there may be credentials for. */
  readonly clusters: readonly HistoryCluster[];
  /** What each target is at present. */
  readonly targets: () => Readonly<Record<TargetName, HistoryCluster>>;
}

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #readTokens = new Map<HistoryCluster, string>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
    for (const cluster of options.clusters) this.#readTokens.set(cluster, cluster.admit());
  }

  put(name: LinkName, as: CredentialsKind): void {
    const { east, targets } = this.#options;
    const secret = `credentials-${name}`;
    if (as === 'absent') {
      east.remove('v1', 'Secret', LINKS_NAMESPACE, secret);
      return;
    }
    const target = targets()[TARGET_OF[name]];
    const text = as === 'garbage' ? 'no kubeconfig: {' : target.kubeconfigFor(this.#tokenFor(target, as));
    east.put({
      apiVersion: 'v1',
      kind: 'Secret',
      type: SECRET_TYPE,
      metadata: { name: secret, namespace: LINKS_NAMESPACE },
      data: { kubeconfig: Buffer.from(text).toString('base64') },
    });
  }

  /** Whether the Secret of a Link leads to another cluster than its target, as one of a backup may; one that is no good leads nowhere. */
  isAstray(name: LinkName): boolean {
    const { east, clusters, targets } = this.#options;
    const secret = east.get('v1', 'Secret', LINKS_NAMESPACE, `credentials-${name}`);
    const { kubeconfig = '' } = (secret?.['data'] ?? {}) as { readonly kubeconfig?: string };
    const text = Buffer.from(kubeconfig, 'base64').toString();
    const home = targets()[TARGET_OF[name]];
    return clusters.some((cluster) => cluster !== home && text.includes(`https://${cluster.at}\n`));
  }

  #tokenFor(target: HistoryCluster, as: CredentialsKind): string {
    switch (as) {
      case 'renewed':
        this.#readTokens.set(target, target.admit());
        break;
      case 'early': {
        const old = this.#readTokens.get(target)!;
        const { token, admit } = target.admitLater();
        this.#readTokens.set(target, token);
        // In the mean time some of the servers know one token, and some the other.
        const { world } = this.#options;
        world.after(world.users, EARLY_MS, () => {
          admit();
          target.expel(old);
        });
        break;
      }
      case 'unauthorized':
        return 'expired';
      case 'without watch':
      case 'without slices':
        return target.admit(as);
      default:
    }
    return this.#readTokens.get(target)!;
  }
}
