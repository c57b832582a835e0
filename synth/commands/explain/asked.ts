/**
 * What a person has in hand when a Service does not answer: its namespace and name, as kubectl or DNS has them, a URL of a
 * log, or an address. Pure.
 */
import { isIP } from 'node:net';
import { isDnsLabel } from '../../../crds/names.ts';

/** What was asked about. */
export type Asked =
  | { readonly ip: string }
  | {
      /** Undefined if it was not said. */
      readonly namespace: string | undefined;
      readonly name: string;
      /** Whether it is a name of the MCS API, as `web.shop.svc.clusterset.local`. */
      readonly isClusterSet: boolean;
    };

/** Kinds before a slash, as kubectl takes them. */
const KINDS: ReadonlySet<string> = new Set(['svc', 'service', 'services']);

/** Reads `shop/web`, `svc/web`, `web`, `web.shop`, `web.shop.svc.cluster.local:80`, a URL, or an address; undefined if it is none of these. */
export const readAsked = (text: string): Asked | undefined => {
  const [, scheme, rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(text.trim()) ?? [];
  if (scheme !== undefined) return ofHost(rest.replace(/[/?#].*$/s, '').replace(/^.*@/s, ''));
  const [first = '', second, ...more] = rest.split('/');
  if (second === undefined || first.includes('.') || first.includes(':')) return ofHost(first);
  if (more.length > 0) return undefined;
  return KINDS.has(first) ? named(undefined, second) : named(first, second);
};

const named = (namespace: string | undefined, name: string, isClusterSet = false): Asked | undefined =>
  isDnsLabel(name) && (namespace === undefined || isDnsLabel(namespace))
    ? { namespace, name, isClusterSet }
    : undefined;

/** Of a host, with a port or without. */
const ofHost = (text: string): Asked | undefined => {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  const host = bracketed ?? (isIP(text) > 0 ? text : text.replace(/:\d+$/, ''));
  if (isIP(host) > 0) return { ip: host };
  const labels = host.replace(/\.$/, '').split('.');
  const at = labels.indexOf('svc');
  // Before these there may be the name of a pod.
  if (at >= 2) return named(labels[at - 1], labels[at - 2] ?? '', labels[at + 1] === 'clusterset');
  const [name = '', namespace, ...more] = labels;
  return more.length > 0 ? undefined : named(namespace, name);
};
