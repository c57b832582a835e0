/** What Argo CD has done to a cluster, by its audit log. */
import type { AuditEntry } from '../cluster/index.ts';
import { ARGOCD_NAMESPACE } from './application.ts';
import { ARGOCD_USER } from './argocd.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** A write that has changed something, or could have. */
export const isWrite = ({ verb, code, uri }: AuditEntry): boolean =>
  WRITES.has(verb) && code < 300 && !uri.includes('dryRun=');

/** Argo CD's writes of other objects than its own. */
export const isApplied = (entry: AuditEntry): boolean =>
  isWrite(entry) &&
  entry.user === ARGOCD_USER.name &&
  entry.group !== 'argoproj.io' &&
  entry.namespace !== ARGOCD_NAMESPACE;

/** As in `patch services shop/web`. */
export const nameOf = ({ verb, resource, namespace = '', name = '' }: AuditEntry): string =>
  `${verb} ${resource} ${namespace}/${name}`;
