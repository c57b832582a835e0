/**
 * Asks a target for the hostnames in the slices of a Service, before an object that stands for one of the Service's
 * pods is deleted: an endpoint mirror, or a Service of a ServiceImport (rules D5, D11). One paged list covers all
 * slices of the Service, even those that are not watched.
 */
import { Label } from '../../../crds/wire.ts';
import type { KubeClient } from '../../kube/client.ts';
import { listPages } from '../../kube/list-pages.ts';
import { ENDPOINT_SLICES, type EndpointSlice, type Service, splitKey } from '../../kube/objects.ts';
import { weightOf } from '../../runtime/weight.ts';
import { MAX_BYTES, MAX_OBJECTS } from '../read/bounds.ts';
import { slicesBehind } from '../read/exported.ts';
import { readSlice } from '../read/objects.ts';
import { SharedBytes } from '../read/shared-bytes.ts';
import type { PodAnswers } from '../aspect.ts';
import { Questions, type QuestionsOptions } from './questions.ts';

export interface PodRereadsOptions extends Omit<QuestionsOptions<Hostnames, Asking>, 'askNow'> {
  /** Returns a Service as the watch shows it. */
  readonly get: (key: string) => Service | undefined;
  /**
   * Reports whether slices with these labels count as labelled ({@link slicesBehind}). Every slice does if no label
   * selects slices.
   */
  readonly isLabelled: (labels: Readonly<Record<string, string>> | undefined) => boolean;
  /** Maximum total size of the answers that are being read, in bytes. @default 64 MiB */
  readonly maxBytes?: number;
}

type Hostnames = ReadonlySet<string>;

/** The methods of a client that are used to ask the target. */
type Asking = Pick<KubeClient, 'listEach'>;

/** Slices in one page. Pages are small, because a slice has up to 1,000 endpoints. */
const PAGE_SIZE = 50;

export class PodRereads extends Questions<Hostnames, Asking> implements PodAnswers {
  constructor(options: PodRereadsOptions) {
    const shared = new SharedBytes();
    super({ ...options, askNow: (key, client, signal) => hostnamesNow({ ...options, shared }, key, client, signal) });
  }

  /**
   * Reports whether the target has answered that no pod of a Service has this hostname.
   * @param key `namespace/name` of the Service
   */
  lacks(key: string, hostname: string): boolean {
    return this.answer(key)?.has(hostname) === false;
  }
}

interface Asked extends Pick<PodRereadsOptions, 'get' | 'isLabelled' | 'maxBytes'> {
  readonly shared: SharedBytes;
}

/**
 * Returns the hostnames in the slices of a Service, as the target lists them now. Only slices that {@link slicesBehind}
 * chooses count, or all slices if the watch does not show the Service. Slices of address type FQDN never count.
 */
async function hostnamesNow(
  { get, isLabelled, maxBytes = MAX_BYTES, shared }: Asked,
  key: string,
  client: Asking,
  signal: AbortSignal,
): Promise<Hostnames> {
  const { namespace, name } = splitKey(key);
  const all: EndpointSlice[] = [];
  const labelled: EndpointSlice[] = [];
  const share = shared.share();
  let bytes = 0;
  const sink = {
    get bytes() {
      return shared.bytes;
    },
    listed: (item: EndpointSlice): void => {
      const result = readSlice(item);
      if (!('object' in result)) return;
      const slice = withHostnames(result.object);
      bytes += weightOf(slice);
      share.take(bytes);
      all.push(slice);
      if (isLabelled(item.metadata.labels)) labelled.push(slice);
    },
  };
  const select = { namespace, labelSelector: `${Label.serviceName}=${name}` };
  const limits = { maxObjects: MAX_OBJECTS, maxBytes };
  try {
    await listPages({ client: () => client, resource: ENDPOINT_SLICES, select, sink, ...limits }, PAGE_SIZE, signal);
  } finally {
    share.leave();
  }
  const service = get(key);
  const behind = service === undefined ? all : slicesBehind(service, labelled, all);
  const counted = (behind ?? all).filter(({ addressType }) => addressType !== 'FQDN');
  return new Set(counted.flatMap((slice) => [...hostnamesOf(slice)]));
}

/** Returns a slice with its metadata and address type, and with only the hostnames of its endpoints. */
const withHostnames = ({ metadata, addressType, endpoints }: EndpointSlice): EndpointSlice => ({
  metadata,
  addressType,
  endpoints: (endpoints ?? []).map(({ hostname }) => ({ addresses: [], ...(hostname !== undefined && { hostname }) })),
});

/** Returns the hostnames in a slice. */
const hostnamesOf = (slice: EndpointSlice | undefined): Hostnames =>
  new Set((slice?.endpoints ?? []).flatMap(({ hostname }) => hostname ?? []));

/** Returns the hostnames that a change removed from a slice. */
export const leftOf = (before: EndpointSlice | undefined, after: EndpointSlice | undefined): readonly string[] => {
  const there = hostnamesOf(after);
  return [...hostnamesOf(before)].filter((hostname) => !there.has(hostname));
};

/** Reports whether a change of a slice added or removed hostnames. */
export const haveMoved = (before: EndpointSlice | undefined, after: EndpointSlice | undefined): boolean =>
  leftOf(before, after).length > 0 || leftOf(after, before).length > 0;
