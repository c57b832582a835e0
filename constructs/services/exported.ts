/**
 * Exports Services to the clusters that link to this one, by the label that Links select on. Works on any Service of a
 * chart, whoever made it: cdk8s-plus, an imported chart, a company's own construct.
 *
 * cdk8s has no aspects. Its validation goes over the whole tree before anything is rendered, so that is when the labels
 * are put on: also on Services that were added after `Exported.of` was called.
 */
import { ApiObject } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { fieldError } from '../../crds/field-error.ts';
import { Label, Value } from '../../crds/wire.ts';
import { InvalidPropsError } from '../common/invalid-props.ts';
import { acceptProps } from '../common/props.ts';
import type { MirrorMode } from '../mirror/index.ts';
import { EXPORT_OPTIONS } from './schema.ts';

/** How Services are exported. */
export interface ExportOptions {
  /**
   * Through the gateway, or from pod to pod on a flat network.
   * @default gateway
   */
  readonly mode?: MirrorMode | undefined;
}

const exported = new WeakMap<IConstruct, MirrorMode>();

/** The export of a Service, or of every Service of a construct tree. */
export class Exported {
  /**
   * Labels the Service that `scope` is or has made, or every one in the tree below it. Of two calls for one Service the
   * one for the nearer construct holds, and a label that the Service has by itself holds before either. Mirrors and
   * Services of the multicluster extension are left out: they are never exported.
   */
  static of(scope: IConstruct, options: ExportOptions = {}): void {
    const { mode = 'gateway' } = acceptProps<ExportOptions>(
      requireConstruct('Exported', scope),
      EXPORT_OPTIONS,
      options,
      undefined,
      () => ({ construct: 'Exported', found: [] }),
    );
    const first = !exported.has(scope);
    exported.set(scope, mode);
    if (!first) return;
    scope.node.addValidation({
      validate: () => {
        const services = scope.node.findAll().filter(isExportable);
        for (const each of services) {
          if (nearest(each) === scope) label(each, exported.get(scope));
        }
        return services.length > 0 ? [] : [noService('Exported', scope)];
      },
    });
  }
}

/** What is said of a tree without a Service. */
export const noService = (what: string, scope: IConstruct): string => {
  const found = ApiObject.isApiObject(scope) ? `is a ${scope.kind}` : 'has none that other clusters may use';
  return `${what}.of needs a Service: ${scope.node.path || 'the app'} ${found} (call it for a Service, or for what is around one)`;
};

/**
 * What a call is for, as it is.
 * @throws InvalidPropsError if it is no construct
 */
export const requireConstruct = (what: string, scope: unknown): Construct => {
  if (Construct.isConstruct(scope)) return scope;
  throw new InvalidPropsError(`${what}.of`, [
    fieldError('scope', scope, 'must be a construct', 'a Service, or a chart'),
  ]);
};

/** Whether a construct is a Service that other clusters may use: no mirror, and nothing of the extension. */
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

/** Synthesis may happen more than once: what was put on by us is put on again. */
const label = (service: ApiObject, mode: MirrorMode | undefined): void => {
  if (service.metadata.getLabel(Label.exported) !== undefined) return;
  service.metadata.addLabel(Label.exported, mode === 'remote-discovery' ? Value.remoteDiscovery : Value.true);
};
