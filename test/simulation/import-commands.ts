/** What happens in a history with imports, besides what happens in any: see command.ts. */
import type { OfSource, TargetName } from './command.ts';

/** A cluster that may export: a target, or the source itself. */
export type Exporter = 'east' | TargetName;

/** An export of a cluster. */
export interface OfExporter extends OfSource {
  readonly at: Exporter;
}

/** The kinds of the MCS API, and of the About API beside it. */
export const IMPORT_KINDS = ['ServiceExport', 'ServiceImport', 'ClusterProperty'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What users do to an object that the operator derived. */
export type ImportEdit = 'delete' | 'label' | 'annotation' | 'content' | 'status' | 'finalizer' | 'disown';

export type ImportCommand =
  /** A ServiceExport: `metadata` is an index into the labels and annotations that are exported. */
  | ({ readonly do: 'put export'; readonly metadata: number } & OfExporter)
  | ({ readonly do: 'remove export' } & OfExporter)
  /** Exports, or takes back, the dozen Services of `put many`. */
  | { readonly do: 'export many'; readonly link: TargetName; readonly exported: boolean }
  /** All ServiceExports are lost at once without watch events; or a third of them, by the number in the name. */
  | { readonly do: 'lose exports'; readonly link: TargetName; readonly part?: 0 | 1 | 2 }
  /** How the Service of an export treats sessions, by an index; or whom it sends them to. */
  | ({ readonly do: 'set traffic'; readonly index: number } & OfExporter)
  /** The id that a cluster claims; none: it claims none. */
  | { readonly do: 'claim id'; readonly at: Exporter; readonly id?: string }
  /** Somebody's own object under the name of a ServiceImport, or of its derived Service. */
  | ({ readonly do: 'put own' | 'remove own'; readonly kind: 'ServiceImport' | 'Service' } & OfSource)
  | {
      readonly do: 'edit import';
      readonly kind: 'ServiceImport' | 'Service' | 'EndpointSlice';
      /** Which of those there are, modulo their number; and which of several edits. */
      readonly index: number;
      readonly how: ImportEdit;
    }
  /** All that was derived is deleted by hand, by its label. */
  | { readonly do: 'clear imports' }
  /** A CRD goes with all that there is of it, or comes back. */
  | { readonly do: 'remove crd' | 'put crd'; readonly at: Exporter; readonly kind: ImportKind }
  /** The right to read ServiceExports is taken away for so long. */
  | { readonly do: 'forbid exports'; readonly at: Exporter; readonly ms: number }
  /** The API server takes so long to give back the addresses of Services that are gone. */
  | { readonly do: 'release late'; readonly ms: number };
