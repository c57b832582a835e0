/**
 * Whether a client comes through the gateway of a target to a Service, by Linkerd's policy as it is there, and by which
 * object; and if not, what to do, by what the Service exports (rule M7). Pure.
 */
import { type Export, readExports } from '../../../operator/access/exports.ts';
import { type AccessRoute, setOf } from '../../../operator/access/objects.ts';
import { Annotation, Default, Label, remoteFqName, Value } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import { keyOf, type Service } from '../../../operator/kube/objects.ts';
import { clientOf, clientsProblem, identityText, type MeshNames, nameClients } from '../common/clients.ts';
import { fieldProblem } from '../common/command-error.ts';
import { byKubectl, operatorLog } from '../common/remedies.ts';
import type { AdmissionFacts } from './admission-facts.ts';
import { type Admission, GatewayPolicyModel } from './gateway-policy.ts';
import { ok, type Step, stop, unknown, warning } from './step.ts';

/** What is explained of a client. */
export interface AdmissionExplained {
  readonly steps: readonly Step[];
  /** Ports of the Service that the client is admitted to. */
  readonly admitted: readonly number[];
  /** Ports that it is refused, with what it is answered: 403, 404, or the end of the connection. */
  readonly refused: readonly { readonly port: number; readonly answer: '403' | '404' | 'closed' }[];
}

/** What is judged: all that the steps have in common. */
interface Judging {
  readonly facts: AdmissionFacts;
  readonly names: MeshNames & { readonly clusterDomain: string };
  readonly service: Service;
  readonly model: GatewayPolicyModel;
  /** What the operator reads of the Service; undefined if it is not exported. */
  readonly found: Export | undefined;
}

const nothing = (...steps: readonly Step[]): AdmissionExplained => ({ steps, admitted: [], refused: [] });

/** Explains whether a client is admitted. */
export const explainAdmission = (facts: AdmissionFacts): AdmissionExplained => {
  const { target, ref, unread, domains, service, policy, linkerdNamespace, client } = facts;
  const { context } = target;
  if (unread.length > 0) {
    return nothing(
      ...unread.map((each) => unknown('access', cut(each), 'use a context of the target that may read it')),
    );
  }
  if (domains === undefined) {
    return nothing(
      unknown(
        'access',
        `there is no Linkerd in namespace ${linkerdNamespace} of ${context}`,
        'name its namespace with --linkerd-namespace',
      ),
    );
  }
  if (service === undefined) {
    return nothing(
      stop('Service', `Service ${ref.namespace}/${ref.name} is not in ${context}`, 'check its name and namespace'),
    );
  }
  if (policy.server === undefined) {
    const message = `no Server ${target.namespace}/${Default.gatewayName} protects the gateway: the default policy of its pods decides`;
    return nothing(unknown('Server', message, 'install the policy of the gateway'));
  }
  const names = { ...domains, controlPlaneNamespace: linkerdNamespace };
  const judging = {
    facts,
    names,
    service,
    model: new GatewayPolicyModel(policy, names),
    found: exportOf(facts, service, names),
  };
  const opaque = new Set(opaquePorts(judging));
  const ports = (service.spec?.ports ?? []).map(({ port }) => port);
  const looked = ports.filter((port) => !opaque.has(port));
  const requests = looked.length === 0 ? [] : hostsOf(judging).map((host) => requestSteps(judging, host));
  const connections = opaque.size === 0 ? undefined : connectionSteps(judging, [...opaque]);
  const answer = requests.find((each) => each.answer !== undefined)?.answer;
  return {
    steps: [
      ok('client', `${identityText(client, names)} is ${cut(client)}`),
      ...requests.flatMap(({ steps }) => steps),
      ...(connections?.steps ?? []),
    ],
    admitted: [...(answer === undefined ? looked : []), ...(connections?.answer === undefined ? opaque : [])],
    refused: [
      ...(answer === undefined ? [] : looked.map((port) => ({ port, answer }))),
      ...(connections?.answer === undefined ? [] : [...opaque].map((port) => ({ port, answer: 'closed' as const }))),
    ],
  };
};

/** What the operator makes of the Service. Without a setting of the operator, annotations are read as `exported` has them. */
const exportOf = (facts: AdmissionFacts, service: Service, names: Judging['names']): Export | undefined => {
  const { serviceExport, config } = facts;
  const exports = new Map(serviceExport === undefined ? [] : [[keyOf(service), serviceExport]]);
  return [...readExports([service], exports, config?.gatewayAccess ?? 'exported', names)][0];
};

/** Ports that Linkerd does not look into, exported or not. */
const opaquePorts = ({ found, service, names }: Judging): readonly number[] => {
  if (found !== undefined) return found.opaquePorts;
  const as = { ...service, metadata: { ...service.metadata, labels: { [Label.exported]: Value.true } } };
  return [...readExports([as], new Map(), 'exported', names)][0]?.opaquePorts ?? [];
};

interface Asked {
  readonly step: string;
  readonly host: string;
}

/** What the gateway is asked for: the name of the Service, and of a pod of a headless one. */
const hostsOf = ({ service, names }: Judging): readonly Asked[] => {
  const { name, namespace = '' } = service.metadata;
  const host = remoteFqName(name, namespace, names.clusterDomain);
  const pods = service.spec?.clusterIP === 'None' ? [{ step: 'pods', host: `any-pod.${host}` }] : [];
  return [{ step: 'requests', host }, ...pods];
};

interface Judged {
  readonly steps: readonly Step[];
  /** Undefined if the client is admitted. */
  readonly answer: '403' | '404' | 'closed' | undefined;
}

const requestSteps = (judging: Judging, { step, host }: Asked): Judged => {
  const { facts, model } = judging;
  const { client, target } = facts;
  const asked = step === 'pods' ? `pods of ${host.replace('any-pod.', '')} by name` : host;
  if (model.routes.length === 0) {
    const admission = model.admitsEverywhere(client);
    const of = `Server ${target.namespace}/${Default.gatewayName} has no route: who may use the gateway may use every Service`;
    return admission === undefined
      ? refusal([warning('route', of)], '403', refusedEverywhere(judging, step))
      : { steps: [warning('route', of), ...admittedSteps(step, asked, admission)], answer: undefined };
  }
  const route = model.routeOf(host);
  if (route === undefined) return refusal([], '404', notFound(judging, step, asked));
  const before = routeSteps(judging, route, asked);
  const admission = model.admitsTo(route, client);
  return admission === undefined
    ? refusal(before, '403', refused(judging, step, route))
    : { steps: [...before, ...admittedSteps(step, asked, admission)], answer: undefined };
};

const refusal = (before: readonly Step[], answer: '403' | '404', steps: readonly Step[]): Judged => ({
  steps: [...before, ...steps],
  answer,
});

const routeSteps = ({ facts }: Judging, route: AccessRoute, asked: string): readonly Step[] => {
  const title = `HTTPRoute ${facts.target.namespace}/${route.metadata.name}`;
  return setOf(route) === undefined
    ? [warning('route', `${title}, which is not the operator's, has ${asked}: what it matches decides`)]
    : [ok('route', `${title} has ${asked}`)];
};

const admittedSteps = (step: string, asked: string, { by, networks }: Admission): readonly Step[] => [
  ok(step, `${by} admits the client to ${asked}`),
  ...(networks === undefined
    ? []
    : [
        warning(
          'networks',
          `it must connect from ${networks.map((each) => cut(each)).join(', ')}, as the gateway sees it`,
        ),
      ]),
];

/** Policies of an older kind may admit whom the others refuse. */
const olderSteps = ({ facts }: Judging): readonly Step[] =>
  facts.older.length === 0
    ? []
    : [
        unknown(
          'policy',
          `ServerAuthorization ${facts.older.map((each) => cut(each)).join(', ')} may admit it: that kind is not judged`,
        ),
      ];

/** What is to be done where the export does not admit the client: an annotation that names it already, or has an error, stays. */
const nameIt = (judging: Judging): string => {
  const { facts, names, service, found } = judging;
  const [mistake] = found?.errors ?? [];
  if (mistake !== undefined) return clientsProblem(fieldProblem(keyOf(service), mistake));
  if (found?.identities === '*' || found?.identities.includes(facts.client) === true)
    return `it names the client, and the policy does not yet: ${operatorLog(facts.target)}`;
  const client = clientOf(facts.client, names);
  return client === undefined
    ? `no export can name it: it is of another control plane than ${names.controlPlaneNamespace}`
    : nameClients(facts.target, service, [client], 'it');
};

const exportIt = ({ facts, service }: Judging): string => {
  const { name, namespace = '' } = service.metadata;
  const label = ['label', 'service', name, `${Label.exported}=${Value.true}`, '--overwrite'];
  return `export it: ${byKubectl(facts.target, '-n', namespace, ...label)}`;
};

const refused = (judging: Judging, step: string, route: AccessRoute): readonly Step[] => {
  const { facts, names, model, service } = judging;
  const to = model.identitiesOf(route).map((each) => identityText(each, names));
  const you = identityText(facts.client, names);
  const message = `403: ${keyOf(service)} is exported to ${to.length === 0 ? 'nobody' : to.map((each) => cut(each)).join(', ')}; the client is ${you}`;
  return [stop(step, message, nameIt(judging)), ...olderSteps(judging)];
};

const refusedEverywhere = (judging: Judging, step: string): readonly Step[] => [
  stop(step, '403: no policy admits the client to the gateway', 'see the AuthorizationPolicies of the gateway'),
  ...olderSteps(judging),
];

/** Why a host has no route. */
const notFound = (judging: Judging, step: string, asked: string): readonly Step[] => {
  const { facts, service, found } = judging;
  const key = keyOf(service);
  const message = (why: string): string => `404: no route of the gateway has ${asked}: ${why}`;
  if (found === undefined) return [stop(step, message(`${key} is not exported`), exportIt(judging))];
  const [mistake] = found.errors;
  if (mistake !== undefined) {
    const { reason, remedy } = fieldProblem(key, mistake);
    return [stop(step, message(`annotation ${Annotation.clients} ${cut(reason)}`), remedy)];
  }
  if (found.identities.length === 0) return [stop(step, message(`${key} names no clients`), nameIt(judging))];
  return [stop(step, message(`${key} is exported, and the policy does not have it yet`), operatorLog(facts.target))];
};

const connectionSteps = (judging: Judging, ports: readonly number[]): Judged => {
  const { facts, model, found } = judging;
  const text = `port${ports.length === 1 ? '' : 's'} ${ports.join(', ')}, which Linkerd does not look into`;
  const admission = model.admitsEverywhere(facts.client);
  if (admission !== undefined) return { steps: admittedSteps('opaque', text, admission), answer: undefined };
  const { gatewayTcp = 'none' } = facts.config ?? {};
  const remedies = {
    none: () => 'set gatewayTcp of the operator, which counts for the whole gateway',
    meshed: () => `the policy does not have it yet: ${operatorLog(facts.target)}`,
    clients: () => (found === undefined ? exportIt(judging) : nameIt(judging)),
  };
  const message = `closed: no policy for the whole gateway admits the client to ${text}; gatewayTcp of the operator is ${gatewayTcp}`;
  return { steps: [stop('opaque', message, remedies[gatewayTcp]()), ...olderSteps(judging)], answer: 'closed' };
};
