/**
 * Makes Services members of the federated Service of their name, in the clusters that link to this one, by the label
 * that Links select, and in its own cluster. Independent of `Exported`: a Service may be exported, federated, or both.
 * Each operator creates the federated Service `<service>-federated` in its cluster.
 *
 * Like `Exported`, it adds labels when cdk8s validates the tree, also to Services that were added later.
 */
import type { IConstruct } from 'constructs';
import { Label, Value } from '../../crds/wire.ts';
import { isExportable, noService, requireConstruct } from './exported.ts';

const federated = new WeakSet<IConstruct>();

/** The membership of a Service, or of every Service of a construct tree. */
export class Federated {
  /**
   * Labels every Service in the tree of `scope`, which may be a Service itself. A label that the Service already has is
   * kept. Mirrors and Services of the multicluster extension are never members.
   */
  static of(scope: IConstruct): void {
    requireConstruct('Federated', scope);
    if (federated.has(scope)) return;
    federated.add(scope);
    scope.node.addValidation({
      validate: () => {
        const services = scope.node.findAll().filter(isExportable);
        for (const service of services) {
          if (service.metadata.getLabel(Label.federated) === undefined) {
            service.metadata.addLabel(Label.federated, Value.federatedMember);
          }
        }
        return services.length > 0 ? [] : [noService('Federated', scope)];
      },
    });
  }
}
