/** What a test and the application of a pod say to each other. */

/** How a request is made: of HTTP/1.1, of HTTP/2, of HTTP/2 as gRPC makes it, or a line over TCP. */
export type Protocol = 'http1' | 'http2' | 'grpc' | 'tcp';

/** Requests that an application makes. */
export interface Batch {
  readonly protocol: Protocol;
  /** A name that the DNS of the cluster knows, or an IP address. */
  readonly host: string;
  readonly port: number;
  /** Host and port that a request of HTTP names. @default - those above */
  readonly authority?: string;
  /** How many requests; at most 5,000. */
  readonly count: number;
  /** How many at a time. @default 1 */
  readonly concurrency?: number;
  /** Milliseconds between a request and the next of the same client. @default 0 */
  readonly pauseMs?: number;
  /** Ends the batch early, without breaking off what is in flight. @default none */
  readonly deadlineMs?: number;
}

/**
 * How often each came: the name of the pod that answered, the status of a refusal (`403`, `grpc 7`), or what went wrong
 * (`ECONNRESET`, `timeout`).
 */
export type Outcomes = Readonly<Record<string, number>>;

/** How long answers took, in milliseconds: half of them, and 99 of 100, at most. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A message to an application. */
export type Order = { readonly id: number } & ({ readonly batch: Batch } | { readonly served: true });

/** Its answer. */
export interface Reply {
  readonly id: number;
  readonly outcomes?: Outcomes;
  readonly latency?: Latency;
  /** How many requests it has answered, by protocol. */
  readonly served?: Outcomes;
  readonly error?: string;
}

/** Ports that every application listens on. */
export const AppPort = { http1: 8080, http2: 8081, tcp: 9000 } as const;
