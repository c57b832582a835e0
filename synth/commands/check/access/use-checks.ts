/** What would be refused if the gateway were closed, of what is used and of what is exported. Pure. */
import { Annotation, Label, Value } from '../../../../crds/wire.ts';
import type { Export } from '../../../../operator/access/exports.ts';
import { keyOf, type KubeObject, splitKey } from '../../../../operator/kube/objects.ts';
import { clientOf, identityText, nameClients } from '../../common/clients.ts';
import { fieldProblem } from '../../common/command-error.ts';
import { byKubectl } from '../../common/remedies.ts';
import { type Check, error, type Finding, type Judgement, judged, skipped, warning } from '../check-type.ts';
import { nothingKnown, partlyKnown } from './usage-findings.ts';
import type { AccessFacts, Closing, JudgedUse, Outlook } from './verdicts.ts';

/** Clients that a finding names. */
const NAMED = 5;

interface Judging {
  readonly facts: AccessFacts;
  readonly outlook: Outlook;
  readonly mode: Closing;
}

const serviceOf = ({ services }: AccessFacts, key: string): KubeObject | undefined =>
  services.ok ? services.value.find((each) => keyOf(each) === key) : undefined;

/** `shop/a, shop/b and 3 more have opened 12 connections` */
const openers = (uses: readonly JudgedUse[], { names }: Outlook): string => {
  const clients = [...new Set(uses.map(({ client }) => identityText(client, names)))].sort();
  const more = clients.length > NAMED ? ` and ${clients.length - NAMED} more` : '';
  const count = uses.reduce((sum, { connections }) => sum + connections, 0);
  return `${clients.slice(0, NAMED).join(', ')}${more} opened ${count} connection${count === 1 ? '' : 's'}`;
};

/** Names all clients that one Service refuses, whatever for: a second command is not to take away whom the first has named. */
const nameThem = ({ facts, outlook, mode }: Judging, service: KubeObject): string => {
  const refused = outlook.uses.filter(
    ({ asked, verdicts }) => asked?.key === keyOf(service) && verdicts[mode] !== 'admitted',
  );
  const clients = [...new Set(refused.map(({ client }) => client))].sort().map((each) => clientOf(each, outlook.names));
  const named = clients.filter((each) => each !== undefined);
  return named.length < clients.length
    ? 'name * for every meshed client: no annotation can name an identity of another control plane namespace'
    : nameClients(facts, service, named, 'them');
};

/** Why these uses of one Service are refused, all for one reason. */
const refusedFinding = (judging: Judging, key: string, uses: readonly JudgedUse[]): Finding => {
  const { facts, outlook, mode } = judging;
  const { namespace, name } = splitKey(key);
  const object = `Service ${key}`;
  const who = openers(uses, outlook);
  const found = outlook.exports[mode].get(key);
  const service = serviceOf(facts, key);
  if (service === undefined)
    return warning(
      `host ${uses[0]?.host ?? ''}`,
      `${who} to it, and there is no such Service`,
      'see who still asks for it',
    );
  const verdict = uses[0]?.verdicts[mode] ?? '';
  if (found === undefined) {
    const label = ['label', 'service', name, `${Label.exported}=${Value.true}`, '--overwrite'];
    const remedy = `export it: ${byKubectl(facts, '-n', namespace, ...label)}; or have them use it no more`;
    return error(object, `is not exported, and ${who} to it: ${verdict}`, remedy);
  }
  if (verdict === 'closed') return opaqueFinding(judging, service, found, uses);
  const pods = [...new Set(uses.flatMap(({ asked }) => asked?.pod ?? []))].sort();
  if (pods.length > 0 && found.hosts.length === 1) {
    const reason = `is not headless, and ${who} to pods of it by name (${pods.slice(0, NAMED).join(', ')}): ${verdict}`;
    return error(object, reason, 'have them use the Service, or export a headless one');
  }
  const [mistake] = mistakesOf(found);
  if (mistake !== undefined) return { ...mistake, reason: `${mistake.reason}, and ${who}` };
  return found.identities.length === 0
    ? error(object, `names no clients, and ${who} to it: ${verdict}`, nameThem(judging, service))
    : error(object, `names other clients, and ${who} to it: ${verdict}`, nameThem(judging, service));
};

/** What is wrong with the clients that an export names: then nobody is admitted. */
const mistakesOf = ({ key, errors }: Export): readonly Finding[] =>
  errors.map((each) => {
    const { object, reason, remedy } = fieldProblem(`Service ${key}`, each);
    return error(object, `annotation ${Annotation.clients} ${reason}: nobody is admitted`, remedy);
  });

const opaqueFinding = (judging: Judging, service: KubeObject, found: Export, uses: readonly JudgedUse[]): Finding => {
  const { outlook, mode } = judging;
  const object = `Service ${found.key}`;
  const ports = [...new Set(uses.map(({ port }) => port))].sort((a, b) => a - b).join(', ');
  const reason = `${openers(uses, outlook)} to port ${ports}, which Linkerd does not look into: closed`;
  if (outlook.tcp[mode] === 'none')
    return error(object, `${reason}, as gatewayTcp of the operator is none`, `${TCP_REMEDY}, and name them`);
  if (found.opaquePorts.length === 0) {
    const remedy = `name the port in annotation ${Annotation.opaquePorts} of the Service, which counts for all who use it`;
    return error(object, `${reason}, as the Service does not call it opaque`, remedy);
  }
  const [mistake] = mistakesOf(found);
  return mistake === undefined
    ? error(object, `${reason}, as no export with an opaque port names them`, nameThem(judging, service))
    : { ...mistake, reason: `${mistake.reason}, and ${reason}` };
};

const TCP_REMEDY = 'set gatewayTcp of the operator to clients, which admits them to every Service';

/** What is used, and would be refused. */
const usedFindings = (judging: Judging): readonly Finding[] => {
  const { outlook, mode } = judging;
  const refused = outlook.uses
    .filter(({ verdicts }) => verdicts[mode] !== 'admitted')
    // What both refuse is a finding of the first.
    .filter(({ verdicts }) => mode === 'exported' || verdicts.exported === 'admitted');
  const unknown = refused.filter(({ asked }) => asked === undefined);
  const groups = Map.groupBy(
    refused.filter(({ asked }) => asked !== undefined),
    ({ asked, verdicts }) => JSON.stringify([asked?.key, asked?.pod !== undefined, verdicts[mode]]),
  );
  return [
    ...[...groups.values()].map((uses) => refusedFinding(judging, uses[0]?.asked?.key ?? '', uses)),
    ...unknown.map((use) =>
      warning(
        `host ${use.host}`,
        `${openers([use], outlook)} to it, and it is no Service of this cluster`,
        'see who asks for it',
      ),
    ),
  ];
};

const judgeUse =
  (mode: Closing) =>
  (facts: AccessFacts): Judgement => {
    const { outlook } = facts;
    if (outlook === undefined) return skipped('what is exported is not known');
    const why = nothingKnown(facts);
    return why === undefined ? judged(usedFindings({ facts, outlook, mode }), partlyKnown(facts)) : skipped(why);
  };

/** Judges each export by itself, whether it is used or not. */
const judgeExports =
  (mode: Closing, judge: (each: Export, outlook: Outlook, facts: AccessFacts) => readonly Finding[]) =>
  (facts: AccessFacts): Judgement => {
    const { outlook } = facts;
    if (outlook === undefined) return skipped('what is exported is not known');
    return judged([...outlook.exports[mode].values()].flatMap((each) => judge(each, outlook, facts)));
  };

const unnamedFindings = ({ key, identities, errors }: Export, _: Outlook, facts: AccessFacts): readonly Finding[] => {
  if (identities.length > 0 || errors.length > 0) return [];
  const { namespace, name } = splitKey(key);
  const annotate = byKubectl(
    facts,
    '-n',
    namespace,
    'annotate',
    'service',
    name,
    `${Annotation.clients}=*`,
    '--overwrite',
  );
  return [
    warning(
      `Service ${key}`,
      'names no clients: everyone gets 404',
      `name them in annotation ${Annotation.clients}, or everyone: ${annotate}`,
    ),
  ];
};

const EXPORTED = 'gatewayAccess: exported';
const CLIENTS = 'gatewayAccess: clients';

export const USE_CHECKS: readonly Check<AccessFacts>[] = [
  {
    id: 'exported-used',
    category: EXPORTED,
    title: 'all that is used stays reachable',
    means:
      'Clients use through the gateway what `gatewayAccess: exported` would refuse them: a Service that is not exported, one that names other clients, a pod by its name of a Service that is not headless, or an opaque port.',
    remedy:
      'Export the Service, name its clients, or see [what opaque connections cost](gateway-access.md#what-it-cannot-do).',
    judge: judgeUse('exported'),
  },
  {
    id: 'exported-clients',
    category: EXPORTED,
    title: 'the clients that exports name can be read',
    means: `Annotation \`${Annotation.clients}\` of an export has an error: nobody reaches it, with \`clients\` as well.`,
    remedy: 'Correct the annotation: `namespace/serviceaccount`, separated by commas, or `*`.',
    judge: judgeExports('exported', mistakesOf),
  },
  {
    id: 'exported-opaque',
    category: EXPORTED,
    title: 'opaque ports of exports are admitted',
    means:
      'An export has ports that Linkerd does not look into, and `gatewayTcp` admits nobody to them, with `clients` as well.',
    remedy: 'Set `gatewayTcp`, if they are used by other clusters: it counts for the whole gateway.',
    judge: judgeExports('exported', ({ key, opaquePorts }, { tcp }) =>
      opaquePorts.length === 0 || tcp.exported !== 'none'
        ? []
        : [
            warning(
              `Service ${key}`,
              `its opaque ports ${opaquePorts.join(', ')} admit nobody, as gatewayTcp of the operator is none`,
              `${TCP_REMEDY}; nothing, if no other cluster uses them`,
            ),
          ],
    ),
  },
  {
    id: 'clients-used',
    category: CLIENTS,
    title: 'all that is used stays reachable, but for what `exported` refuses',
    means: 'Clients use through the gateway an export that names nobody: `gatewayAccess: clients` would refuse them.',
    remedy: `Name them in annotation \`${Annotation.clients}\` of the Service.`,
    judge: judgeUse('clients'),
  },
  {
    id: 'clients-named',
    category: CLIENTS,
    title: 'every export names its clients',
    means: 'An export names nobody: with `gatewayAccess: clients`, everyone gets 404.',
    remedy: `Name them in annotation \`${Annotation.clients}\`, or write \`*\` for every meshed client.`,
    judge: judgeExports('clients', unnamedFindings),
  },
];
