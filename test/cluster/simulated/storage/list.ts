/**
 * Lists: of the present, of a past version, and in pages. All pages of one list show the same moment; a page that can
 * no longer do so is refused with a token to go on without that guarantee.
 */
import type { KubeObject } from './object.ts';
import type { Predicate } from './selectors.ts';
import { badRequest, expired, tooLargeResourceVersion } from './status.ts';
import type { Collection, Storage } from './storage.ts';

/** One page, or all of a list. */
export interface Page {
  readonly objects: readonly KubeObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

interface Token {
  readonly v: 'meta.k8s.io/v1';
  /** The version all pages show; -1 for whatever there is now. */
  readonly rv: number;
  /** The key after which the next page begins. */
  readonly start: string;
}

const encode = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url');

function decode(text: string): Token {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;
  } catch {
    throw badRequest('continue key is not valid: invalid character');
  }
}

/** Answers a list request. */
export function listOf(
  storage: Storage,
  collection: Collection,
  namespace: string | undefined,
  matches: Predicate,
  query: URLSearchParams,
): Page {
  const limit = Number(query.get('limit') ?? 0);
  const token = query.get('continue') ? decode(query.get('continue')!) : undefined;
  const asked = Number(query.get('resourceVersion') || 0);
  if (token === undefined && asked > storage.revision) throw tooLargeResourceVersion(asked, storage.revision);
  const exact = query.get('resourceVersionMatch') === 'Exact' ? asked : undefined;
  const revision = token === undefined || token.rv === -1 ? (exact ?? storage.revision) : token.rv;
  const entries = revision === storage.revision ? collection.entries() : collection.entriesAt(revision);
  if (entries === undefined) throw tooOld(token);

  const prefix = namespace === undefined ? '' : `${namespace}/`;
  const found: [string, KubeObject][] = entries.filter(
    ([key, object]) => key.startsWith(prefix) && (token === undefined || key > token.start) && matches(object),
  );
  const page = limit > 0 ? found.slice(0, limit) : found;
  const last = page.at(-1)?.[0] ?? '';
  const left = page.length < limit || limit === 0 ? 0 : keysAfter(entries, prefix, last);
  const unselected = !query.get('labelSelector') && !query.get('fieldSelector');
  return {
    objects: page.map(([, object]) => object),
    metadata: {
      resourceVersion: String(revision),
      ...(left > 0 ? { continue: encode({ v: 'meta.k8s.io/v1', rv: revision, start: last }) } : {}),
      ...(left > 0 && unselected ? { remainingItemCount: left } : {}),
    },
  };
}

/** How many keys come after one: selected or not, since the server does not look ahead for a match. */
const keysAfter = (entries: readonly [string, KubeObject][], prefix: string, last: string): number =>
  entries.filter(([key]) => key.startsWith(prefix) && key > last).length;

const tooOld = (token: Token | undefined): Error =>
  token === undefined
    ? expired('The resourceVersion for the provided list is too old.')
    : expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
        { continue: encode({ ...token, rv: -1 }) },
      );
