/**
 * What a test cluster is, whichever server stands behind it: the interface that the real API server (real.ts) and the
 * simulated one (sim/) both keep, so that one suite runs on both. Plain types; nothing here starts anything.
 */

/** Which API server a test runs on. */
export type Backing = 'real' | 'simulated';

/** A user besides the admin: known by a bearer token, allowed what RBAC grants and no more. */
export interface TestUser {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly token: string;
}

/** What a cluster is started with. */
export interface StartOptions {
  /** Names the cluster, its kubeconfig context and its temporary directory. */
  readonly name: string;
  /**
   * Kubernetes' own controllers to run, by their kube-controller-manager names, e.g. `endpointslice-controller`.
   * @default none
   */
  readonly controllers?: readonly string[];
  /**
   * CoreDNS over this cluster, for `cluster.local`, or, with the kind ServiceImport installed, for `clusterset.local` as
   * well (real backing only).
   * @default false
   */
  readonly dns?: boolean | 'clusterset';
  /**
   * Services may have addresses of both families (real backing only).
   * @default false: IPv4 alone
   */
  readonly dualStack?: boolean;
  /**
   * Users besides the admin, authenticated by bearer token, authorized by RBAC only.
   * @default none
   */
  readonly users?: readonly TestUser[];
  /**
   * Pod Security Standard of namespaces that have no label for it (real backing only).
   * @default privileged
   */
  readonly podSecurity?: 'privileged' | 'baseline' | 'restricted';
  /**
   * Keep an audit log (level Metadata, stage RequestReceived left out).
   * @default true
   */
  readonly audit?: boolean;
}

/** One request that the API server has answered, or a watch that has ended. */
export interface AuditEntry {
  /** get, list, watch, create, update, patch, delete or deletecollection. */
  readonly verb: string;
  readonly user: string;
  readonly userAgent: string;
  /** The API group; empty for the core group and for paths that are not resources. */
  readonly group: string;
  /** The plural resource; empty for paths that are not resources. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** HTTP status of the answer. */
  readonly code: number;
  readonly uri: string;
}

/** A running API server, and what a test may do to it. */
export interface TestCluster {
  readonly name: string;
  readonly backing: Backing;
  /** `https://127.0.0.1:PORT`; the same over kill() and start(). */
  readonly server: string;
  /** The server's CA: PEM, base64. */
  readonly caData: string;
  /** Returns a token with these claims, signed as the API server signs those of ServiceAccounts (real backing only). */
  readonly signToken?: (claims: object) => Promise<string>;
  /** Bearer token of a user in group system:masters. */
  readonly adminToken: string;
  /** Kubeconfig of the admin: YAML, self-contained, its context named after the cluster. */
  readonly kubeconfig: string;
  /** A file that holds {@link kubeconfig}. */
  readonly kubeconfigFile: string;
  /** The same kubeconfig for another bearer token. */
  kubeconfigFor(token: string): string;
  /** Where CoreDNS answers (UDP and TCP), if it was asked for. */
  readonly dns?: { readonly address: string; readonly port: number };
  /** Requests completed since the start or the last {@link clearAudit}, oldest first. */
  audit(): Promise<readonly AuditEntry[]>;
  clearAudit(): Promise<void>;
  /** The API server stops answering, its connections stay open: SIGSTOP, or the simulated equal of it. */
  pause(): void;
  /** Undoes {@link pause}. */
  resume(): void;
  /** Ends the API server at once and keeps its data. */
  kill(): Promise<void>;
  /** Brings a killed API server back, on the same port with the same data. */
  start(): Promise<void>;
  /** Ends every process of the cluster and removes its files. Safe to call twice. */
  stop(): Promise<void>;
}
