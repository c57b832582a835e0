/**
 * The Link that `linkspan link` wants. A Link that is there keeps every setting that no flag gives, whoever has set it, also
 * those that this version does not know. What was read of the target anew, and what flags give, is changed. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Annotation, LinkApi, COMMAND_LINE } from '../../../crds/wire.ts';
import { type FieldPath, managersOf, valueAt } from '../common/change-set/fields.ts';
import type { Cluster } from '../common/cluster.ts';
import { kubectl } from '../common/command-text.ts';
import type { Problem } from '../common/command-error.ts';
import type { LinkObject } from '../common/link-object.ts';
import type { LinkFlags } from './flags.ts';
import type { Given } from './given.ts';
import { annotated } from './manifests.ts';

/** What flags may say of a Link. */
export type LinkSettingFlags = Pick<
  LinkFlags,
  | 'gateway'
  | 'flat'
  | 'federation'
  | 'serviceExports'
  | 'enableHeadlessServices'
  | 'enableNamespaceCreation'
  | 'excludedAnnotations'
  | 'excludedLabels'
  | 'exportNamespaces'
>;

export interface WantedLink {
  /** The whole Link, with what it keeps. */
  readonly whole: ApiJson;
  /** What is applied: what differs, and what this command line has set before. */
  readonly applied: ApiJson;
  /** The fields that flags give. */
  readonly takes: readonly FieldPath[];
}

type Spec = Readonly<Record<string, unknown>>;

/** What a Link says of its target, which is read anew each time. */
const FACTS = [
  'targetClusterName',
  'targetClusterDomain',
  'targetClusterLinkerdNamespace',
  'gatewayAddress',
  'gatewayPort',
  'gatewayIdentity',
  'probeSpec',
];

/** What is read of the probe; the rest of it are settings. */
const PROBE_FACTS = ['path', 'port', 'period'];

const GATEWAY = ['gatewayAddress', 'gatewayPort', 'gatewayIdentity', 'probeSpec'];

/** The fields that flags give, by their names; one without a value, or with an empty list, is to go. */
const givenOf = (flags: LinkSettingFlags, live: Spec, manifest: Spec): ReadonlyMap<string, unknown> => {
  const fields = new Map<string, unknown>();
  const set = (field: string, flag: unknown): void => {
    if (flag !== undefined) fields.set(field, Array.isArray(flag) && flag.length === 0 ? undefined : flag);
  };
  if (flags.gateway === false) for (const field of GATEWAY) fields.set(field, undefined);
  if (flags.gateway === true && live['selector'] === undefined) fields.set('selector', manifest['selector']);
  set('federation', flags.federation);
  set('serviceExports', flags.serviceExports);
  set('enableHeadlessServices', flags.enableHeadlessServices);
  set('enableNamespaceCreation', flags.enableNamespaceCreation);
  set('excludedAnnotations', flags.excludedAnnotations);
  set('excludedLabels', flags.excludedLabels);
  set('targetNamespaces', flags.exportNamespaces);
  const field = 'remoteDiscoverySelector';
  if (flags.flat === false) fields.set(field, undefined);
  if (flags.flat === true && Object.keys((live[field] as Spec | undefined) ?? {}).length === 0) {
    fields.set(field, manifest[field]);
  }
  return fields;
};

/** The fields of the gateway that flags give. */
const givenFacts = ({ addresses, port, gatewayName }: Given): readonly string[] => [
  ...(gatewayName === undefined ? [] : GATEWAY),
  ...(addresses === undefined ? [] : ['gatewayAddress']),
  ...(port === undefined ? [] : ['gatewayPort']),
];

/**
 * The Link, as it is to be.
 * @param manifest the Link as it would be if there were none
 */
export const wantedLink = (
  live: LinkObject | undefined,
  manifest: ApiJson,
  flags: LinkSettingFlags,
  given: Given,
): WantedLink => {
  const recorded = annotated(manifest, { [Annotation.given]: given.record });
  if (live === undefined) return { whole: recorded, applied: recorded, takes: [] };
  const before = (live.spec ?? {}) as Spec;
  const fresh = manifest['spec'] as Spec;
  const facts = FACTS.filter((field) => fresh[field] !== undefined).map((field) => [
    field,
    field === 'probeSpec' ? probeOf(before[field] as Spec | undefined, fresh[field] as Spec) : fresh[field],
  ]);
  const byFlag = givenOf(flags, before, fresh);
  const spec = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(facts), ...Object.fromEntries(byFlag) } as Spec).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const takes = [...byFlag.keys(), ...givenFacts(given)].map((field) => ['spec', field]);
  const applied = { ...recorded, spec: differing(live, spec, ['spec']) };
  return { whole: { ...recorded, spec }, applied, takes };
};

/** The probe: what was read of the gateway, and the settings that it has. */
const probeOf = (before: Spec | undefined, fresh: Spec): Spec => ({
  ...fresh,
  ...before,
  ...Object.fromEntries(PROBE_FACTS.map((field) => [field, fresh[field]])),
});

/** What is to be written of some fields: not what others alone have set, as it is. Theirs stays theirs. */
const differing = (live: LinkObject, wanted: Spec, path: FieldPath): Spec =>
  Object.fromEntries(
    Object.entries(wanted).flatMap(([field, value]) => {
      const at = [...path, field];
      if (isDeepStrictEqual(valueAt(live, at), value)) return isOurs(live, at) ? [[field, value]] : [];
      // A probe is a map of settings of their own; other maps, as selectors, are one value.
      return [[field, field === 'probeSpec' ? differing(live, value as Spec, at) : value]];
    }),
  );

const isOurs = (live: LinkObject, path: FieldPath): boolean => managersOf(live, path, '').includes(COMMAND_LINE);

/** What flags take away, and would stay since others have set it: nobody but them can take it away by an apply. */
export const stayingProblems = (
  source: Cluster,
  live: LinkObject | undefined,
  { whole, takes }: WantedLink,
): readonly Problem[] =>
  takes.flatMap((path) => {
    const [field = ''] = path.slice(1);
    if (live === undefined || valueAt(whole, path) !== undefined || valueAt(live, path) === undefined) return [];
    const owners = managersOf(live, path, COMMAND_LINE);
    if (owners.length === 0) return [];
    const { namespace = '', name } = live.metadata;
    const patch = JSON.stringify([{ op: 'remove', path: `/spec/${field}` }]);
    const remove = kubectl(source, '-n', namespace, 'patch', LinkApi.crd, name, '--type=json', `--patch=${patch}`);
    return [
      {
        object: source.title('Link', live.metadata),
        reason: `${path.join('.')} would stay, since ${owners.join(', ')} has set it`,
        remedy: `remove it first: \`${remove}\``,
      },
    ];
  });
