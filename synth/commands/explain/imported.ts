/**
 * One ServiceImport of the MCS API: what the export of this cluster and the import say of themselves, and what clients reach
 * in each cluster that it is made of.
 */
import { derivedName, derivingName } from '../../../crds/mcs/derived-name.ts';
import { Label, McsApi } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { ENDPOINT_SLICES, type EndpointSlice } from '../../../operator/kube/objects.ts';
import { isOfImport } from '../../../operator/mcs/membership.ts';
import type { ServiceImport } from '../../../operator/mcs/objects.ts';
import type { ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import type { Cluster } from '../common/cluster.ts';
import { linkspan, type NamedCluster } from '../common/command-text.ts';
import { exportFinding, findExport, findImport, importFinding } from '../common/imports.ts';
import { conditionOf } from '../common/link-status.ts';
import { byKubectl, quoted } from '../common/remedies.ts';
import type { ServiceRef } from './facts.ts';
import { ok, type Step, stop, unknown, warning } from './step.ts';
import type { Explanation } from './steps.ts';

/** What the source cluster has of a ServiceImport. */
export interface ImportFacts {
  /** The source. */
  readonly source: NamedCluster;
  /** The exported Services, and the ServiceImport. */
  readonly ref: ServiceRef;
  /** Undefined if there is none. */
  readonly serviceImport: ServiceImport | undefined;
  /** The ServiceExport of the source itself; undefined if there is none. */
  readonly serviceExport: ServiceExport | undefined;
  /** Those that DNS reads. */
  readonly slices: readonly EndpointSlice[];
}

/**
 * Reads what is known of a ServiceImport, by its own name or that of the Service derived from it; undefined if the cluster has
 * neither an import nor an export of that name, or they may not be read.
 */
export const importFactsOf = async (
  source: Pick<Cluster, 'context' | 'kubeconfig' | 'find' | 'list'>,
  { namespace, name }: ServiceRef,
): Promise<ImportFacts | undefined> => {
  for (const candidate of [derivingName(name), name]) {
    if (candidate === undefined) continue;
    const ref = { namespace, name: candidate };
    const [serviceImport, serviceExport] = await Promise.all([findImport(source, ref), findExport(source, ref)]);
    if (serviceImport === undefined && serviceExport === undefined) continue;
    const labelSelector = `${Label.importedService}=${candidate}`;
    return {
      source: { kubeconfig: source.kubeconfig, context: source.context },
      ref,
      serviceImport,
      serviceExport,
      slices: await source.list<EndpointSlice>(ENDPOINT_SLICES, { namespace, labelSelector }),
    };
  }
  return undefined;
};

/** Explains one ServiceImport. */
export const explainImport = (facts: ImportFacts): Explanation => {
  const { serviceImport, source, ref } = facts;
  const start = [...exportSteps(facts), importStep(facts)];
  if (serviceImport === undefined || start.at(-1)?.state === 'stop') return { steps: start, reached: [] };
  const clusters = (serviceImport.status?.clusters ?? []).map(({ cluster }) => clusterStep(facts, cluster));
  const steps = [...start, ...clusters.map(({ step }) => step)];
  const reached = [...new Set(clusters.flatMap(({ addresses }) => addresses))];
  if (reached.length > 0) return { steps, reached };
  const remedy = `see ${byKubectl(source, '-n', ref.namespace, 'describe', `serviceimports.${McsApi.group}`, ref.name)}`;
  return { steps: [...steps, stop('endpoints', 'no cluster has a ready address', remedy)], reached };
};

const exportSteps = ({ serviceExport, ref, source }: ImportFacts): readonly Step[] => {
  if (serviceExport === undefined) return [];
  const title = `ServiceExport ${ref.namespace}/${ref.name} of ${source.context}`;
  const finding = exportFinding(serviceExport);
  switch (finding?.what) {
    case 'unreported':
      return [warning('export', `nobody has reported on ${title}`, `see ${quoted(linkspan(source, 'check'))}`)];
    case 'invalid':
      return [warning('export', `${title} is not valid, ${said(finding.condition)}`)];
    case 'conflict':
      return [warning('export', `${title} conflicts with others, ${said(finding.condition)}`)];
    case undefined: {
      const { message = '' } = conditionOf(serviceExport, 'Conflict') ?? {};
      return [ok('export', `${title} is valid, and conflicts with no other; ${cut(message)}`)];
    }
  }
};

const importStep = ({ serviceImport, ref, source }: ImportFacts): Step => {
  const title = `ServiceImport ${ref.namespace}/${ref.name}`;
  if (serviceImport === undefined)
    return stop('import', `${title} is not in ${source.context}: no cluster exports it validly`);
  if (!isOfImport(ref.name, serviceImport)) {
    return stop('import', `${title} of ${source.context} is not the operator's`, 'rename or delete it');
  }
  const finding = importFinding(serviceImport);
  if (finding !== undefined) {
    const state = finding.status === 'False' ? stop : unknown;
    return state('import', `${title} is not ready, ${said(finding)}`, `see ${quoted(linkspan(source, 'check'))}`);
  }
  const { type, ips = [] } = serviceImport.spec ?? {};
  const how = type === 'Headless' ? 'is headless' : `has ${ips.join(', ')}, by Service ${derivedName(ref.name)}`;
  return ok('import', `${title} is in ${source.context}, and ${how}`);
};

const said = ({ reason, message }: { readonly reason: string; readonly message: string }): string =>
  `${cut(reason)}${message === '' ? '' : `: ${cut(message)}`}`;

/** One cluster that the ServiceImport is made of, and what of it clients reach. */
const clusterStep = (
  { slices, source, ref }: ImportFacts,
  cluster: string,
): { readonly step: Step; readonly addresses: readonly string[] } => {
  const addresses = slices
    .filter(({ metadata }) => metadata.labels?.[Label.sourceCluster] === cluster)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready ?? true)
    .flatMap((endpoint) => endpoint.addresses.map((address) => cut(address)));
  if (addresses.length > 0) {
    return { step: ok('cluster', `of cluster ${cluster}, clients reach ${addresses.join(', ')}`), addresses };
  }
  const label = `${Label.importedService}=${ref.name}`;
  const remedy = `see ${byKubectl(source, '-n', ref.namespace, 'get', 'endpointslices', '-l', label)}`;
  const message = `cluster ${cluster} has no ready address: its gateway is down, or no pod is ready`;
  return { step: warning('cluster', message, remedy), addresses };
};
