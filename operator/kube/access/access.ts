/**
 * How an API server is reached, and as whom: all that a client needs to know of a kubeconfig, or of a pod's own
 * account. Nothing here loads client-node, whose generated API takes 35 MB of memory and is of no use in a cluster.
 */

/** What a TLS connection is made with; `ca`, `cert` and `key` are PEM. */
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
  /** Headers that say who asks. Asked again from time to time, since tokens are replaced. */
  readonly authorization: () => Promise<Readonly<Record<string, string>>>;
}

/** The header of a bearer token. */
export const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
