/** One client on its way through the gateway of a target to a Service: whether it is admitted, as it is printed. */
import { Default, Label } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import type { Cluster } from '../common/cluster.ts';
import { type AdmissionExplained, explainAdmission } from './admission.ts';
import { admissionFactsOf } from './admission-facts.ts';
import type { Explained } from './explained.ts';
import type { Facts, ServiceRef } from './facts.ts';
import { ok, unknown } from './step.ts';

/** A client, and what it asks for of which cluster. */
export interface ClientAsked {
  readonly cluster: string;
  /** Namespace of the gateway in the target. */
  readonly namespace: string;
  readonly ref: ServiceRef;
  readonly client: string;
  readonly linkerdNamespace: string;
  /** Why no gateway is passed; undefined if one is. */
  readonly direct: string | undefined;
}

/** What a client asks for, by a Link. */
export const askedOf = ({ report, ref, linkerdNamespace, local }: Facts): Omit<ClientAsked, 'client'> => {
  // The identity of a gateway is that of its ServiceAccount, whose namespace is its second part.
  const [, namespace = ''] = report.gateway?.identity.split('.') ?? [];
  const of = namespace === '' ? Default.multiclusterNamespace : namespace;
  const isFlat = local?.metadata.labels?.[Label.remoteDiscovery] !== undefined;
  const direct =
    report.gateway === undefined
      ? `Link ${report.name} has no gateway`
      : isFlat
        ? `${local.metadata.name} is in flat mode: its clients reach the pods without a gateway`
        : undefined;
  return { cluster: report.cluster, namespace: of, ref, linkerdNamespace, direct };
};

/** Explains whether it is admitted; without a target, that is not known. */
export const explainClient = async (
  target: Cluster | undefined,
  { cluster, namespace, ref, client, linkerdNamespace, direct }: ClientAsked,
): Promise<Explained> => {
  const title = `Client ${cut(client)} through the gateway of ${cluster} to Service ${ref.namespace}/${ref.name}`;
  const value = { ...ref, cluster, client };
  if (direct !== undefined) {
    const explanation = { steps: [ok('gateway', direct)], admitted: [], refused: [] };
    return {
      title,
      value,
      explanation,
      isWell: true,
      end: 'the policy of the pods decides whether the client is admitted',
    };
  }
  const explained =
    target === undefined
      ? NOT_READ
      : explainAdmission(await admissionFactsOf(target, namespace, ref, client, linkerdNamespace));
  return {
    title,
    value,
    explanation: explained,
    isWell: explained.refused.length === 0 && explained.admitted.length > 0,
    end: admissionEnd(explained),
  };
};

const NOT_READ: AdmissionExplained = {
  steps: [unknown('policy', 'who comes through a gateway is known in its cluster alone', 'name it with --to-context')],
  admitted: [],
  refused: [],
};

const admissionEnd = ({ steps, admitted, refused }: AdmissionExplained): string => {
  const ports = (numbers: readonly number[]): string => `port${numbers.length === 1 ? '' : 's'} ${numbers.join(', ')}`;
  const parts = [
    ...(admitted.length === 0 ? [] : [`the client is admitted to ${ports(admitted)}`]),
    ...[...Map.groupBy(refused, ({ answer }) => answer)].map(
      ([answer, all]) =>
        `${answer === 'closed' ? 'its connections are closed' : `it gets ${answer}`} at ${ports(all.map(({ port }) => port))}`,
    ),
  ];
  return parts.length > 0
    ? parts.join('; ')
    : `whether the client is admitted is not known: see ${steps.at(-1)?.step ?? 'nothing'}`;
};
