/**
 * Slices that others give our Services (rule C3): those that somebody makes by hand, and those that Kubernetes makes of a
 * Service that somebody has given a selector, and leaves when the selector goes. The latter have the labels of their Service,
 * by which they are watched. Only names are kept.
 */
import { Label, SELECTED_SLICE_MANAGER } from '../../crds/wire.ts';
import { type EndpointSlice, hasSelector, keyOf, type Service } from '../kube/objects.ts';
import type { ForeignSlices } from '../runtime/plan.ts';
import { Store } from '../runtime/store.ts';
import { trimForeignSlice } from './trim.ts';

/** Slices that Kubernetes makes of some of our Services. */
export interface SelectedSlices {
  /** A label that these Services have, and no others. */
  readonly label: string;
  readonly labelSelector: string;
  readonly store: Store<EndpointSlice>;
}

export interface SlicesOfOthersOptions {
  /** The operator's own namespace, where probe Services are. */
  readonly namespace: string;
  /** The only namespaces that are read; undefined for all. */
  readonly within: ReadonlySet<string> | undefined;
  /** The slices that Kubernetes did not make; index `foreign` has those that are not ours, by their Services. */
  readonly written: Store<EndpointSlice>;
  readonly listener: SlicesListener;
}

/** Learns of slices that Kubernetes has made. */
export interface SlicesListener {
  /** Those of a Service, `namespace/name`, are others. */
  slicesChanged(service: string): void;
}

export class SlicesOfOthers {
  /** Those that Kubernetes made of mirrors and federated Services, and of probe Services. */
  readonly selected: readonly SelectedSlices[];
  /** Those of Services that are derived from ServiceImports. */
  readonly derived: SelectedSlices;
  readonly #written: Store<EndpointSlice>;
  readonly #all: readonly Store<EndpointSlice>[];

  constructor({ namespace, within, written, listener }: SlicesOfOthersOptions) {
    const others = within && [...within].filter((each) => each !== namespace);
    const labelled = (label: string, partitions: Iterable<string> | undefined): SelectedSlices => ({
      label,
      labelSelector: `${Label.endpointSliceManagedBy}=${SELECTED_SLICE_MANAGER},${label}`,
      store: new Store<EndpointSlice>({
        partitions,
        trim: trimForeignSlice,
        indexes: { foreign: servicesOf },
        listener: {
          changed: ({ before, after }) => {
            for (const slice of [before, after])
              for (const key of slice ? servicesOf(slice) : []) listener.slicesChanged(key);
          },
        },
      }),
    });
    this.selected = [labelled(Label.mirroredService, others), labelled(Label.clusterName, [namespace])];
    this.derived = labelled(Label.serviceImport, others);
    this.#written = written;
    this.#all = [written, ...this.all.map(({ store }) => store)];
  }

  /** All that Kubernetes made. */
  get all(): readonly SelectedSlices[] {
    return [...this.selected, this.derived];
  }

  /**
   * The slices of others of these Services of ours, as far as they have no selector; undefined if there are none.
   * @param mayHaveEndpoints whether v1 Endpoints of such Services are not watched
   */
  of(services: readonly Service[], mayHaveEndpoints: boolean): readonly ForeignSlices[] | undefined {
    if (this.#all.every((store) => store.indexed('foreign').next().done === true)) return undefined;
    const found = services
      .filter((service) => !hasSelector(service))
      .map((service) => ({ service, slices: this.#of(keyOf(service)), ...(mayHaveEndpoints && { mayHaveEndpoints }) }))
      .filter(({ slices }) => slices.length > 0);
    return found.length === 0 ? undefined : found;
  }

  #of(service: string): readonly EndpointSlice[] {
    const foreign = this.#all.flatMap((store) => store.by('foreign', service));
    // One that is ours again may be in another store yet, and a mirror in the operator's namespace is selected twice.
    const byKey = new Map(foreign.map((slice) => [keyOf(slice), slice]));
    return [...byKey.values()].filter((slice) => [undefined, slice].includes(this.#written.get(keyOf(slice))));
  }
}

/** Returns `namespace/name` of the Service that a slice names, if it names one. */
export const servicesOf = ({ metadata: { namespace = '', labels } }: EndpointSlice): readonly string[] => {
  const name = labels?.[Label.serviceName];
  return name === undefined ? [] : [`${namespace}/${name}`];
};
