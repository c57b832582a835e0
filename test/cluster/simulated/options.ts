/** What a request asks for beside its path: in its headers, its query and its body. */
import type { Exchange } from './exchange.ts';
import type { Resource } from './kinds/resources.ts';
import type { IncludeObject } from './kubectl/table.ts';
import { flag, type RequestInfo } from './request.ts';
import { type DeleteOptions, parseBody, type WriteOptions } from './storage/registry.ts';
import { parseFieldSelector, parseLabelSelector, type Predicate } from './storage/selectors.ts';
import { ApiError } from './storage/status.ts';

/** The media type of a body. */
export const contentTypeOf = ({ headers }: Exchange): string =>
  String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim();

/** Whether it asks for a table, as kubectl does. */
export const wantsTable = ({ headers }: Exchange): boolean => /as=Table/.test(String(headers['accept'] ?? ''));

/** How much of each object the rows of a table are to hold. */
export const includeObject = (query: URLSearchParams): IncludeObject =>
  (query.get('includeObject') ?? 'Metadata') as IncludeObject;

/** The selectors of a request as one predicate. */
export function selectionOf({ kind }: Resource, query: URLSearchParams): Predicate {
  const labels = parseLabelSelector(query.get('labelSelector'));
  const fields = parseFieldSelector(query.get('fieldSelector'), kind);
  return (object) => (labels?.(object) ?? true) && (fields?.(object) ?? true);
}

/** How a write is to be made. @throws ApiError 422 for an apply without a field manager */
export function writeOptions(
  { version, subresource, query, userAgent }: RequestInfo,
  exchange: Exchange,
): WriteOptions {
  const manager = query.get('fieldManager') ?? userAgent.split('/')[0]!;
  if (contentTypeOf(exchange) === 'application/apply-patch+yaml' && !query.get('fieldManager')) {
    throw new ApiError(
      422,
      'Invalid',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      {
        group: 'meta.k8s.io',
        kind: 'PatchOptions',
        causes: [
          {
            reason: 'FieldValueRequired',
            message: 'Required value: is required for apply patch',
            field: 'fieldManager',
          },
        ],
      },
    );
  }
  return {
    manager: manager === '' ? 'unknown' : manager,
    version,
    ...(subresource === 'status' ? { subresource } : {}),
    dryRun: query.has('dryRun'),
    force: flag(query, 'force'),
  };
}

/** What a deletion demands. */
export function deleteOptions(text: string, query: URLSearchParams): DeleteOptions {
  const body = (text === '' ? {} : parseBody(text)) as DeleteOptions & { dryRun?: readonly string[] };
  // With a body, the query is not read.
  const grace = text === '' ? query.get('gracePeriodSeconds') : null;
  const { preconditions, gracePeriodSeconds = grace === null ? undefined : Number(grace) } = body;
  return {
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    dryRun: text === '' ? query.has('dryRun') : Array.isArray(body.dryRun),
  };
}
