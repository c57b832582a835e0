/** What a request asks for beside its path: in its headers, its query and its body. */
import type { IncomingMessage } from 'node:http';
import type { Resource } from './kinds/resources.ts';
import { isProtobuf, jsonOfProtobuf } from './kubectl/protobuf.ts';
import type { IncludeObject } from './kubectl/table.ts';
import { flag, type RequestInfo } from './request.ts';
import { type DeleteOptions, parseBody, type WriteOptions } from './storage/registry.ts';
import { parseFieldSelector, parseLabelSelector, type Predicate } from './storage/selectors.ts';
import { ApiError } from './storage/status.ts';

/** The text of a body, as JSON whichever form it came in. */
export async function bodyOf(message: IncomingMessage): Promise<string> {
  if (message.method === 'GET') return '';
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return isProtobuf(body) ? jsonOfProtobuf(body) : body.toString('utf8');
}

/** The media type of a body. */
export const contentTypeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';')[0]!.trim();

/** Whether it asks for a table, as kubectl does. */
export const wantsTable = ({ headers }: IncomingMessage): boolean => /as=Table/.test(headers.accept ?? '');

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
  message: IncomingMessage,
): WriteOptions {
  const manager = query.get('fieldManager') ?? userAgent.split('/')[0]!;
  if (contentTypeOf(message) === 'application/apply-patch+yaml' && !query.get('fieldManager')) {
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
  const grace = query.get('gracePeriodSeconds');
  const { preconditions, gracePeriodSeconds = grace === null ? undefined : Number(grace) } = body;
  return {
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    dryRun: query.has('dryRun') || Array.isArray(body.dryRun),
  };
}
