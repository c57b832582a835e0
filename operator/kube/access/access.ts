/**
 * How an API server is reached, and with which credentials: all that a client needs of a kubeconfig, or of a pod's own
 * account.
 */

/** Headers of a request; one that is there several times has several values. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

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
  /** The proxy that requests go through; it may hold a password, so that no message may quote it. @default - none */
  readonly proxy?: URL | undefined;
  /** Headers that authenticate a request. Called again from time to time, since tokens are rotated. */
  readonly authorization: () => Promise<Headers>;
  /** How long the headers that `authorization` returned last may be reused. @default - 30 s */
  readonly reuseMs?: () => number;
  /** Called when the server has refused the credentials. @default - nothing happens */
  readonly refused?: () => void;
  /** The TLS options as they are now, if they may change; called as often as `authorization`. @default - as in `tls` */
  readonly currentTls?: () => Promise<TlsMaterial>;
}

/** The header of a bearer token. */
export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
