/**
 * The kubeconfig of an administrator: of our own cluster, or of those that a command works on. It may use every feature
 * that kubectl has, and means what it means to kubectl; see docs/adr/0018. No message quotes a credential.
 */
import { cut } from '../errors.ts';
import { type SourceKubeconfig, within } from './kubeconfig-context.ts';
import { invalid, readKubeconfig } from './kubeconfig-files.ts';
import { readAuthority } from './kubeconfig-tls.ts';

export { kubeconfigAccess } from './kubeconfig-access.ts';

export interface SourceKubeconfigOptions {
  /** Path of a file. @default $KUBECONFIG, else ~/.kube/config */
  readonly kubeconfig?: string | undefined;
  /** @default the current context */
  readonly context?: string | undefined;
}

/**
 * Loads the kubeconfig of the source cluster.
 * @throws TerminalError `InvalidKubeconfig`, with the file or context that is missing, and the contexts that exist
 */
export function loadSourceKubeconfig({ kubeconfig, context }: SourceKubeconfigOptions): SourceKubeconfig {
  const { origin, contexts, clusters, users, currentContext } = readKubeconfig(kubeconfig);
  const name = context ?? currentContext;
  const known = contexts.size === 0 ? 'it has none' : `it has ${cut([...contexts.keys()].join(', '))}`;
  if (!name) throw invalid(`${origin} has no current context: name one with --context (${known})`);
  const found = contexts.get(name);
  if (found === undefined) throw invalid(`${origin} has no context "${cut(name)}" (${known})`);
  const { cluster: clusterName = '', user: userName = '' } = found;
  const cluster = clusters.get(clusterName);
  if (cluster === undefined) {
    throw invalid(`${origin}: context "${cut(name)}" names cluster "${cut(clusterName)}", which does not exist`);
  }
  const user = users.get(userName);
  if (user === undefined) {
    throw invalid(`${origin}: context "${cut(name)}" names user "${cut(userName)}", which does not exist`);
  }
  return { origin, context: name, clusterName, cluster, userName, user };
}

/**
 * Names of the contexts of a kubeconfig, in its order.
 * @throws TerminalError `InvalidKubeconfig` if it cannot be read, or has no context
 */
export function kubeconfigContexts(kubeconfig: string | undefined): readonly string[] {
  const { origin, contexts } = readKubeconfig(kubeconfig);
  if (contexts.size === 0) throw invalid(`${origin} has no contexts`);
  return [...contexts.keys()];
}

/** The address of the API server at a context, and what proves that server, as the kubeconfig has them. */
export interface KubeconfigServer {
  /** Name of the context. */
  readonly context: string;
  /** URL of the API server. */
  readonly server: string;
  /**
   * CA certificates of the server: PEM, in base64; undefined if the machine's own are used, or none.
   * @throws TerminalError `InvalidKubeconfig` if their file cannot be read
   */
  readonly caData: string | undefined;
  /** Name in the server's certificate, where it is not the host of the URL. */
  readonly tlsServerName: string | undefined;
}

/** How the kubeconfig reaches its cluster, for a kubeconfig that others reach it by. */
export function kubeconfigServer(config: SourceKubeconfig): KubeconfigServer {
  const { context, cluster } = config;
  return {
    context,
    server: cluster.server ?? '',
    get caData() {
      if (cluster['insecure-skip-tls-verify'] === true) return undefined;
      const ca = within(config, 'cluster', () => readAuthority(cluster));
      return ca && Buffer.from(ca).toString('base64');
    },
    tlsServerName: cluster['tls-server-name'] || undefined,
  };
}
