/**
 * What of Linkspan is installed: from flags and values files, and as the ConfigMap `linkspan-install` of the cluster records
 * it, so that an upgrade keeps what was chosen. Pure, but for the files.
 */
import { Yaml } from 'cdk8s';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { Label, Value } from '../../../crds/wire.ts';
import type { GatewayAccess, GatewayTcp } from '../../../operator/access/exports.ts';
import { parseYaml } from '../../../operator/kube/access/yaml.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { SettingFlags } from './flags.ts';
import { loadValues, type Values } from './values.ts';

/** What was chosen. What is undefined has its default, also after an upgrade whose default is another. */
export interface Settings {
  readonly image?: string | undefined;
  readonly ha?: boolean | undefined;
  readonly gateway?: boolean | undefined;
  readonly linkerdNamespace: string;
  /** Of Linkerd's chart. */
  readonly values?: Values | undefined;
  /** Networks that clients of the gateway connect from. @default - all */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** Whether the operator may keep Linkerd's copies of credentials. @default false */
  readonly flat?: boolean | undefined;
  /** Whether the operator may create namespaces, for Links that have them created. @default false */
  readonly grantNamespaceCreation?: boolean | undefined;
  /** Who may come through the gateway. @default - whoever may by the policy that there is */
  readonly gatewayAccess?: GatewayAccess | undefined;
  /** Who may open connections through it that Linkerd does not look into. @default none */
  readonly gatewayTcp?: GatewayTcp | undefined;
}

/** Settings of an installation, and the version of Linkspan that has installed it. */
export interface InstallRecord {
  readonly version: string;
  readonly settings: Settings;
}

/** Name of the ConfigMap. */
export const RECORD_NAME = 'linkspan-install';

/**
 * Settings by flags; what no flag gives stays as it was.
 * @throws CommandError for a values file that cannot be read
 */
export const settingsOf = async (
  flags: SettingFlags & { readonly linkerdNamespace?: string | undefined },
  before: Settings,
): Promise<Settings> => ({
  image: flags.image ?? before.image,
  ha: flags.ha ?? before.ha,
  gateway: flags.gateway ?? before.gateway,
  linkerdNamespace: flags.linkerdNamespace ?? before.linkerdNamespace,
  values: flags.values === undefined ? before.values : await loadValues(flags.values),
  sourceNetworks: flags.sourceNetworks ?? before.sourceNetworks,
  flat: flags.flat ?? before.flat,
  grantNamespaceCreation: flags.grantNamespaceCreation ?? before.grantNamespaceCreation,
  gatewayAccess: flags.gatewayAccess ?? before.gatewayAccess,
  gatewayTcp: flags.gatewayTcp ?? before.gatewayTcp,
});

/** The ConfigMap. */
export const recordManifest = (namespace: string, { version, settings }: InstallRecord): ApiJson => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: RECORD_NAME, namespace, labels: { [Label.extension]: Value.extension } },
  data: { version, settings: Yaml.stringify(JSON.parse(JSON.stringify(settings))) },
});

/** The ConfigMap as the API server has it. */
export interface RecordObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads the ConfigMap. @throws Error if it is not as {@link recordManifest} writes it */
export const readRecord = ({ data }: RecordObject): InstallRecord => {
  const { version, settings } = data ?? {};
  const read = parseYaml(settings ?? '');
  if (version === undefined || typeof read !== 'object' || read === null || !('linkerdNamespace' in read)) {
    throw new Error('it has no version, or no settings');
  }
  return { version, settings: read as Settings };
};

/** Reports whether two settings are the same. */
export const isSame = (one: Settings, other: Settings): boolean => text(one) === text(other);

const text = ({ image, ha, gateway, linkerdNamespace, values, sourceNetworks, flat, ...rest }: Settings): string =>
  JSON.stringify([
    image,
    ha ?? false,
    gateway ?? true,
    linkerdNamespace,
    values ?? {},
    sourceNetworks ?? [],
    flat ?? false,
    rest.grantNamespaceCreation ?? false,
    rest.gatewayAccess ?? 'unset',
    rest.gatewayTcp ?? 'none',
  ]);
