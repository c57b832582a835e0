/**
 * Exports Services to the clusters that link to this one, by the label that Links select, or by a ServiceExport of the MCS
 * API. Works for every Service of a chart: of cdk8s-plus, an imported chart, or a construct of your own.
 *
 * cdk8s has no aspects. It validates the whole tree before it renders anything, and `Exported` adds labels and
 * ServiceExports then, also for Services that were added after the call of `Exported.of`.
 */
import { ApiObject } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { type FieldError, fieldError } from '../../crds/field-error.ts';
import { type Client, clientErrors, CLIENTS_MAX_LENGTH, clientsText, MAX_CLIENTS } from '../../crds/clients.ts';
import { Annotation, Label, Value } from '../../crds/wire.ts';
import { InvalidPropsError } from '../common/invalid-props.ts';
import { acceptOptions } from '../common/props.ts';
import type { MirrorMode } from '../rendered/index.ts';
import { EXPORT_OPTIONS } from './schema.gen.ts';
import { type ExportedMetadata, exportedMetadataErrors, exportManifest } from './service-export.ts';

/** Options of an export. */
export interface ExportOptions extends ExportedMetadata {
  /**
   * What exports a Service: a label of Linkerd, or a ServiceExport of the MCS API, whose CRD `McsCrds` renders.
   * @default linkerd
   */
  readonly api?: 'linkerd' | 'mcs' | undefined;
  /**
   * Mode of mirrors: through the gateway, or from pod to pod on a flat network. With the MCS API it is the Links that say.
   * @default gateway
   */
  readonly mode?: MirrorMode | undefined;
  /**
   * Clients that may reach the Services through the gateway, where the operator of this cluster has `gatewayAccess`. An empty
   * list: nobody.
   * @default - every meshed client, or nobody if `gatewayAccess` is `clients`
   */
  readonly clients?: readonly Client[] | undefined;
}

const exported = new WeakMap<IConstruct, ExportOptions>();

/** The export of a Service, or of every Service of a construct tree. */
export class Exported {
  /**
   * Labels every Service in the tree of `scope`, which may be a Service itself, or adds a ServiceExport to each. Of two
   * calls for one Service, that for the nearer construct takes effect. A label that the Service already has is kept.
   * Mirrors and Services of the multicluster extension are never exported.
   */
  static of(scope: IConstruct, options: ExportOptions = {}): void {
    const accepted = acceptOptions<ExportOptions>(
      requireConstruct('Exported', scope),
      EXPORT_OPTIONS,
      options,
      undefined,
      (given) => ({ construct: 'Exported', found: optionErrors(given) }),
    );
    const first = !exported.has(scope);
    exported.set(scope, accepted);
    if (!first) return;
    scope.node.addValidation({
      validate: () => {
        const services = scope.node.findAll().filter(isExportable);
        for (const each of services) {
          if (nearest(each) === scope) exportService(each, exported.get(scope) ?? {});
        }
        return services.length > 0 ? [] : [noService('Exported', scope)];
      },
    });
  }
}

/** The message for a tree without a Service. */
export const noService = (what: string, scope: IConstruct): string => {
  const found = ApiObject.isApiObject(scope) ? `is a ${scope.kind}` : 'has no Service to export';
  return `${what}.of needs a Service: ${scope.node.path || 'the app'} ${found} (call it for a Service, or for a construct around one)`;
};

/**
 * Returns the scope of a call.
 * @throws InvalidPropsError if it is not a construct
 */
export const requireConstruct = (what: string, scope: unknown): Construct => {
  if (Construct.isConstruct(scope)) return scope;
  throw new InvalidPropsError(`${what}.of`, [
    fieldError('scope', scope, 'must be a construct', 'pass a Service or a chart'),
  ]);
};

/** Reports whether a construct is a Service that can be exported: neither a mirror nor part of the extension. */
export const isExportable = (construct: IConstruct): construct is ApiObject =>
  ApiObject.isApiObject(construct) &&
  construct.kind === 'Service' &&
  construct.apiVersion === 'v1' &&
  [Label.mirroredService, Label.mirroredGateway, Label.extension].every(
    (key) => construct.metadata.getLabel(key) === undefined,
  );

/** The innermost construct around this one that is exported. */
const nearest = (construct: IConstruct): IConstruct | undefined =>
  construct.node.scopes.findLast((scope) => exported.has(scope));

/** Exports a Service. Synthesis may happen more than once, and what is there is kept then. */
const exportService = (service: ApiObject, { api = 'linkerd', mode, clients, ...metadata }: ExportOptions): void => {
  if (clients !== undefined && (service.metadata.toJson() as Annotated).annotations?.[Annotation.clients] === undefined)
    service.metadata.addAnnotation(Annotation.clients, clientsText(clients));
  if (api === 'mcs') {
    if (service.node.tryFindChild(EXPORT_ID) !== undefined) return;
    new ApiObject(service, EXPORT_ID, exportManifest(service.name, service.metadata.namespace, metadata));
    return;
  }
  if (service.metadata.getLabel(Label.exported) !== undefined) return;
  service.metadata.addLabel(Label.exported, mode === 'remote-discovery' ? Value.remoteDiscovery : Value.true);
};

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>>;
}

const EXPORT_ID = 'ServiceExport';

/** Options of the other API. */
const optionErrors = ({
  api = 'linkerd',
  mode,
  clients = [],
  exportedLabels,
  exportedAnnotations,
}: ExportOptions): readonly (FieldError | undefined)[] => [
  mode !== undefined && api === 'mcs'
    ? fieldError(
        'mode',
        mode,
        'may only be set if api is linkerd',
        'remove it: the Links say how they reach the Service',
      )
    : undefined,
  ...Object.entries({ exportedLabels, exportedAnnotations }).map(([field, value]) =>
    value !== undefined && api === 'linkerd'
      ? fieldError(field, value, 'may only be set if api is mcs', 'remove it: mirrors have the labels of the Service')
      : undefined,
  ),
  ...clients.flatMap((client, index) => clientErrors(`clients[${index}].`, client)),
  tooManyClients(clients),
  mode === 'remote-discovery' && clients.length > 0
    ? fieldError('clients', undefined, 'may only be set if mode is gateway', 'remove it: no gateway is used')
    : undefined,
  ...exportedMetadataErrors({ exportedLabels, exportedAnnotations }),
];

/** More than the operator reads of the annotation (rule M3): it would admit nobody. */
const tooManyClients = (clients: readonly Client[]): FieldError | undefined => {
  if (clients.length > MAX_CLIENTS)
    return fieldError(
      'clients',
      undefined,
      `must have at most ${MAX_CLIENTS} items`,
      'let several share a ServiceAccount',
    );
  return clientsText(clients).length > CLIENTS_MAX_LENGTH
    ? fieldError(
        'clients',
        undefined,
        `must have at most ${CLIENTS_MAX_LENGTH} characters as an annotation`,
        'name fewer ServiceAccounts',
      )
    : undefined;
};
