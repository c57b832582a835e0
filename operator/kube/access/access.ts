/**
 * How an API server is reached, and with which credentials: all that a client needs of a kubeconfig, or of a pod's own
 * account. Nothing here loads client-node, whose generated API takes 35 MB of memory and is not needed in a cluster.
 */

/** Options of a TLS connection; `ca`, `cert` and `key` are PEM. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** Name in the server's certificate. @default the host of the URL */
  readonly servername?: string | undefined;
  /** @default true */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface ClusterAccess {
  /** URL of the API server, with its path if it has one. */
  readonly server: string;
  readonly tls: TlsMaterial;
  /** Headers that authenticate a request. Called again from time to time, since tokens are rotated. */
  readonly authorization: () => Promise<Readonly<Record<string, string>>>;
  /** The TLS options as they are now, if they may change; called as often as `authorization`. @default - as in `tls` */
  readonly currentTls?: () => Promise<TlsMaterial>;
}

/** The header of a bearer token. */
export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
