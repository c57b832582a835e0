/**
 * Finds the slices that others give our Services (rule C3). Somebody may create such slices by hand. Kubernetes creates
 * them if somebody gives one of our Services a selector, and leaves them when the selector is removed. The slices that
 * Kubernetes creates have the labels of their Service, and are watched by these labels. Of all these slices, little
 * more than the names is kept.
 */
import { Label, SELECTED_SLICE_MANAGER } from '../../crds/wire.ts';
import { type EndpointSlice, hasSelector, keyOf, type Service } from '../kube/objects.ts';
import type { ForeignSlices } from '../runtime/plan.ts';
import { Store } from '../runtime/store.ts';
import { trimForeignSlice } from './trim.ts';

/** Slices that Kubernetes makes for some of our Services. */
export interface SelectedSlices {
  /** The label that these Services share, and by which their slices are watched. */
  readonly label: string;
  readonly labelSelector: string;
  readonly store: Store<EndpointSlice>;
}

export interface SlicesOfOthersOptions {
  /** The operator's own namespace, where probe Services are. */
  readonly namespace: string;
  /** The only namespaces that are read; undefined for all. */
  readonly within: ReadonlySet<string> | undefined;
  /**
   * The slices that Kubernetes' own controllers did not make. Its index `foreign` has those that are not ours, by
   * `namespace/name` of their Services.
   */
  readonly written: Store<EndpointSlice>;
  readonly listener: SlicesListener;
}

/** Receives changes of the slices that Kubernetes makes for our Services. */
export interface SlicesListener {
  /**
   * Called when the slices that Kubernetes made for a Service have changed.
   * @param service `namespace/name`
   */
  slicesChanged(service: string): void;
}

export class SlicesOfOthers {
  /** Slices that Kubernetes made for mirrors and federated Services, and for probe Services. */
  readonly selected: readonly SelectedSlices[];
  /** Slices that Kubernetes made for Services that are derived from ServiceImports. */
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

  /** All slices that Kubernetes made for our Services. */
  get all(): readonly SelectedSlices[] {
    return [...this.selected, this.derived];
  }

  /**
   * Returns the slices that others gave to these Services of ours, by Service; undefined if there are none. Services
   * that have a selector now are left out.
   * @param mayHaveEndpoints whether such Services may have v1 Endpoints that are not watched
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
    // A slice that is ours again may still be in another store, and a slice of a mirror in the operator's namespace is
    // in two.
    const byKey = new Map(foreign.map((slice) => [keyOf(slice), slice]));
    return [...byKey.values()].filter((slice) => [undefined, slice].includes(this.#written.get(keyOf(slice))));
  }
}

/** Returns `namespace/name` of the Service that a slice names, if it names one. */
export const servicesOf = ({ metadata: { namespace = '', labels } }: EndpointSlice): readonly string[] => {
  const name = labels?.[Label.serviceName];
  return name === undefined ? [] : [`${namespace}/${name}`];
};
