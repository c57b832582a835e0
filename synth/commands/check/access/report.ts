/** What is printed of the use of a gateway, before what is wrong with it; text of proxies and clusters is cut. Pure. */
import { cut } from '../../../../operator/kube/errors.ts';
import { identityText } from '../../common/clients.ts';
import { type Column, tableText } from '../../common/table.ts';
import { type AccessFacts, isCounted, type JudgedUse } from './verdicts.ts';

/** What the counts of proxies never show: it is said whatever they show. */
const NOT_SEEN: readonly string[] = [
  'who has not connected since the proxies were started, or has connected to a pod of the gateway that is gone',
  'what is asked for within a connection: it is counted by the Service that its client has opened it for',
  'whether connections were admitted: those that a policy has refused are counted as well',
];

/** Uses that a table shows; JSON has all. */
const SHOWN = 50;

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'CLIENT', value: ({ client }) => client },
  { heading: 'SERVICE', value: ({ service }) => service },
  { heading: 'PORT', value: ({ port }) => String(port) },
  { heading: 'OPAQUE', value: ({ opaque }) => (opaque ? 'yes' : 'no') },
  { heading: 'CONNECTIONS', value: ({ connections }) => String(connections) },
  { heading: 'EXPORTED', value: ({ exported }) => exported },
  { heading: 'CLIENTS', value: ({ clients }) => clients },
];

interface Row {
  readonly client: string;
  readonly identity: string;
  /** `shop/web`, `shop/one.web` of a pod, or the host if it is no name of a Service. */
  readonly service: string;
  readonly host: string;
  readonly port: number;
  readonly opaque: boolean;
  readonly connections: number;
  readonly exported: string;
  readonly clients: string;
}

/** The use of a gateway for programs. */
export interface UsageReport {
  readonly proxies: readonly { readonly pod: string | undefined; readonly since: string | undefined }[];
  readonly uses: readonly Row[];
  readonly notSeen: readonly string[];
}

export const usageReport = (facts: AccessFacts): UsageReport => {
  const since = startOf(facts);
  const pods = [...new Set(facts.counted.filter(isCounted).map(({ pod }) => pod))];
  return {
    proxies: pods.map((pod) => ({ pod: pod && cut(pod), since: since.get(pod ?? '') })),
    uses: (facts.outlook?.uses ?? []).map((use) => rowOf(use, facts)),
    notSeen: NOT_SEEN,
  };
};

/** When the proxies of pods that run have started, as the kubelet reports it. */
const startOf = ({ pods }: AccessFacts): ReadonlyMap<string, string> => {
  const started = (pods.ok ? pods.value : []).flatMap(({ metadata, status }) => {
    const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const at = all.find(({ name }) => name === 'linkerd-proxy')?.state?.running?.startedAt;
    return at === undefined ? [] : [[metadata.name, cut(at)] as const];
  });
  return new Map(started);
};

const rowOf = ({ asked, verdicts, isOpaque, ...use }: JudgedUse, { outlook }: AccessFacts): Row => {
  const [namespace = '', name = ''] = asked?.key.split('/') ?? [];
  const service =
    asked === undefined ? use.host : `${namespace}/${asked.pod === undefined ? '' : `${asked.pod}.`}${name}`;
  return {
    client: cut(outlook === undefined ? use.client : identityText(use.client, outlook.names)),
    identity: cut(use.client),
    service: cut(service),
    host: cut(use.host),
    port: use.port,
    opaque: isOpaque,
    connections: use.connections,
    exported: verdicts.exported,
    clients: verdicts.clients,
  };
};

/** The table of uses, and what it does not show. */
export const usageText = ({ proxies, uses, notSeen }: UsageReport): string => {
  const counted = proxies.map(({ pod = 'a proxy', since }) => `${pod} since ${since ?? 'it was started'}`);
  const more = uses.length > SHOWN ? `and ${uses.length - SHOWN} more, which -o json prints\n` : '';
  return [
    `connections through the gateway, as counted by ${counted.length === 0 ? 'nobody' : counted.join(', ')},\n`,
    'and what becomes of them with gatewayAccess exported, and clients:\n\n',
    tableText(uses.slice(0, SHOWN), COLUMNS),
    more,
    `\nnot seen: ${notSeen.join('; ')}\n\n`,
  ].join('');
};
