/**
 * Exports Services to the clusters that link to this one, by the label that Links select on. Works on any Service of a
 * chart, whoever made it: cdk8s-plus, an imported chart, a company's own construct.
 *
 * cdk8s has no aspects. Its validation goes over the whole tree before anything is rendered, so that is when the labels
 * are put on: also on Services that were added after `Exported.of` was called.
 */
import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { Label, Value } from '../../crds/wire.ts';
import type { MirrorMode } from '../mirror/index.ts';

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
  static of(scope: IConstruct, { mode = 'gateway' }: ExportOptions = {}): void {
    const first = !exported.has(scope);
    exported.set(scope, mode);
    if (!first) return;
    scope.node.addValidation({
      validate: () => {
        for (const each of scope.node.findAll()) {
          if (isExportable(each) && nearest(each) === scope) label(each, exported.get(scope));
        }
        return [];
      },
    });
  }
}

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
