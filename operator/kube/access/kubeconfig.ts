/**
 * The kubeconfig of our own cluster. It comes from an administrator and may use every feature of kubeconfigs, which
 * client-node implements. No message quotes what it holds.
 */
import { findHomeDir, KubeConfig } from '@kubernetes/client-node';
import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions as HttpsOptions } from 'node:https';
import { join } from 'node:path';
import type { ClusterAccess, TlsMaterial } from './access.ts';
import { cut, TerminalError } from '../errors.ts';
import { parseErrorText } from './parse-error-text.ts';

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
export function loadSourceKubeconfig({ kubeconfig, context }: SourceKubeconfigOptions): KubeConfig {
  const config = new KubeConfig();
  const origin = load(config, kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const name = config.getCurrentContext();
  const contexts = config.getContexts().map((one) => one.name);
  const known = contexts.length === 0 ? 'it has none' : `it has ${cut(contexts.join(', '))}`;
  if (!name) throw invalid(`${origin} has no current context: name one with --context (${known})`);
  const found = config.getContextObject(name);
  if (found === null) throw invalid(`${origin} has no context "${cut(name)}" (${known})`);
  if (config.getCurrentCluster() === null) {
    throw invalid(`${origin}: context "${cut(name)}" names cluster "${cut(found.cluster)}", which does not exist`);
  }
  if (config.getCurrentUser() === null) {
    throw invalid(`${origin}: context "${cut(name)}" names user "${cut(found.user)}", which does not exist`);
  }
  return config;
}

/**
 * Names of the contexts of a kubeconfig, in its order.
 * @throws TerminalError `InvalidKubeconfig` if it cannot be read, or has no context
 */
export function kubeconfigContexts(kubeconfig: string | undefined): readonly string[] {
  const config = new KubeConfig();
  const origin = load(config, kubeconfig);
  const contexts = config.getContexts().map(({ name }) => name);
  if (contexts.length === 0) throw invalid(`${origin} has no contexts`);
  return contexts;
}

/**
 * What a client needs of a kubeconfig, at its current context.
 * @throws TerminalError `InvalidKubeconfig` if its credentials cannot be read
 */
export async function kubeconfigAccess(config: KubeConfig): Promise<ClusterAccess> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw invalid(`the kubeconfig has no cluster for context "${config.getCurrentContext()}"`);
  const { ca, cert, key, servername, rejectUnauthorized } = await applied(config);
  return {
    server: cluster.server,
    tls: { ca, cert, key, servername, rejectUnauthorized } as TlsMaterial,
    authorization: async () => {
      const { headers, auth } = await applied(config);
      const basic = typeof auth === 'string' && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
      return { ...(headers as Record<string, string>), ...basic };
    },
  };
}

/** The address of the API server at the current context, and what proves that server, as the kubeconfig has them. */
export interface KubeconfigServer {
  /** Name of the context. */
  readonly context: string;
  /** URL of the API server. */
  readonly server: string;
  /** CA certificates of the server: PEM, in base64; undefined if the machine's own are used, or none. */
  readonly caData: string | undefined;
  /** Name in the server's certificate, where it is not the host of the URL. */
  readonly tlsServerName: string | undefined;
}

/**
 * How the kubeconfig reaches its cluster, for a kubeconfig that others reach it by.
 * @throws TerminalError `InvalidKubeconfig` if the file of the CA cannot be read
 */
export function kubeconfigServer(config: KubeConfig): KubeconfigServer {
  const context = config.getCurrentContext();
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw invalid(`the kubeconfig has no cluster for context "${context}"`);
  const { server, caData, caFile, tlsServerName, skipTLSVerify } = cluster;
  const inFile = (file: string): string => {
    try {
      return readFileSync(file).toString('base64');
    } catch (error) {
      throw invalid(`the CA of context "${cut(context)}" cannot be read: ${parseErrorText(error)}`);
    }
  };
  const given = caData ?? (caFile === undefined ? undefined : inFile(caFile));
  return { context, server, caData: skipTLSVerify ? undefined : given, tlsServerName };
}

/** Request options from client-node, which reads the files and runs the programs that the kubeconfig names. */
async function applied(config: KubeConfig): Promise<HttpsOptions> {
  const options: HttpsOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

/** Loads the kubeconfig and returns its origin, for messages. */
function load(config: KubeConfig, file: string | undefined): string {
  const attempt = (origin: string, from: () => void): string => {
    try {
      from();
    } catch (error) {
      throw invalid(`${origin} cannot be read: ${parseErrorText(error)}`);
    }
    return origin;
  };
  if (file !== undefined) return attempt(`kubeconfig ${file}`, () => config.loadFromFile(file));
  const named = process.env['KUBECONFIG'];
  if (named) return attempt(`kubeconfig ${named} (from KUBECONFIG)`, () => config.loadFromDefault());
  const usual = join(findHomeDir() ?? '', '.kube', 'config');
  // client-node would fall back to http://localhost:8080.
  if (!existsSync(usual)) {
    throw invalid(`no kubeconfig: not in a cluster, KUBECONFIG is not set, and there is no ${usual}; use --kubeconfig`);
  }
  return attempt(`kubeconfig ${usual}`, () => config.loadFromFile(usual));
}

const invalid = (message: string): TerminalError => new TerminalError('InvalidKubeconfig', message);
