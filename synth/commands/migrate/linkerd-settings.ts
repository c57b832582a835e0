/**
 * How Linkerd's controllers mirror, as far as it is not in the Link: by the arguments of their Deployments, else by the
 * values of Linkerd's chart, as Helm keeps them. Nothing of it can be read of a Link that the operator serves.
 */
import { gunzipSync } from 'node:zlib';
import type { OperatorConfig } from '../../../operator/config/config.ts';
import { type Secret, SECRETS } from '../../../operator/kube/objects.ts';
import type { FoundSettings } from '../common/operator-settings.ts';
import { ifAllowed } from '../common/readable.ts';
import type { ClusterReader } from '../common/reader.ts';
import { fixedSelector } from '../common/selectors.ts';
import { readValues, type Values } from '../install/values.ts';
import type { Deployment } from './state.ts';

/** Settings of the operator that do the same. What is undefined is not known. */
export interface LinkerdSettings {
  readonly enableHeadlessServices?: boolean | undefined;
  readonly enableNamespaceCreation?: boolean | undefined;
  readonly federatedSelector?: string | undefined;
}

/** A release of Linkerd's chart. */
export interface Release {
  readonly name: string;
  /** What was given when it was installed. */
  readonly values: Values;
}

const CHART = 'linkerd-multicluster';
const DEPLOYED = fixedSelector({ matchLabels: { owner: 'helm', status: 'deployed' } });
/** Longest release that is read, in bytes. */
const MAX_RELEASE = 32 * 1024 * 1024;

/** The release of Linkerd's chart in a namespace; undefined if there is none, or if it cannot be read. */
export const readRelease = async (reader: ClusterReader, namespace: string): Promise<Release | undefined> => {
  const read = await ifAllowed(() => reader.select<Secret>(SECRETS, { namespace, selector: DEPLOYED }));
  if (!('found' in read)) return undefined;
  return read.found.map(releaseOf).find((each) => each !== undefined);
};

/** Helm writes JSON, gzip, base64, and the API server base64 again. */
const releaseOf = ({ data }: Secret): Release | undefined => {
  try {
    const packed = Buffer.from(Buffer.from(data?.['release'] ?? '', 'base64').toString(), 'base64');
    const { name, chart, config } = JSON.parse(gunzipSync(packed, { maxOutputLength: MAX_RELEASE }).toString()) as {
      readonly name?: string;
      readonly chart?: { readonly metadata?: { readonly name?: string } };
      readonly config?: Values | null;
    };
    return chart?.metadata?.name === CHART && name !== undefined ? { name, values: config ?? {} } : undefined;
  } catch {
    return undefined;
  }
};

/** How the controller of a Link mirrors. */
export const settingsOfLink = (
  link: string,
  controllers: readonly Deployment[],
  release: Release | undefined,
): LinkerdSettings => {
  const flags = controllers.map(flagsOf).find((each) => each !== undefined);
  if (flags !== undefined) {
    const isOn = (flag: string): boolean => flags.get(flag) === 'true';
    return {
      enableHeadlessServices: isOn('enable-headless-services'),
      enableNamespaceCreation: isOn('enable-namespace-creation'),
    };
  }
  if (release === undefined) return {};
  const { enableHeadlessServices = false, enableNamespaceCreation = false } = operatorProps(release);
  return { enableHeadlessServices: ofLink(release, link) ?? enableHeadlessServices, enableNamespaceCreation };
};

/** How the local mirror chooses the members of federated Services. */
export const settingsOfLocal = (deployment: Deployment | undefined, release: Release | undefined): LinkerdSettings => {
  const selector = (deployment && flagsOf(deployment))?.get('federated-service-selector');
  return { federatedSelector: selector ?? (release && operatorProps(release).federatedSelector) };
};

const operatorProps = ({ values }: Release): LinkerdSettings => readValues(values).props.operator ?? {};

/** What the chart has for the controller of one Link alone. */
const ofLink = ({ values }: Release, link: string): boolean | undefined => {
  const { controllers } = values as { readonly controllers?: unknown };
  if (!Array.isArray(controllers)) return undefined;
  const own = (controllers as readonly ControllerValues[]).find((each) => each?.link?.ref?.name === link);
  return typeof own?.enableHeadlessServices === 'boolean' ? own.enableHeadlessServices : undefined;
};

interface ControllerValues {
  readonly link?: { readonly ref?: { readonly name?: unknown } };
  readonly enableHeadlessServices?: unknown;
}

/** Flags of a service mirror, as Go reads them; undefined if it has no arguments. */
const flagsOf = ({ spec }: Deployment): ReadonlyMap<string, string> | undefined => {
  const args = (spec?.template?.spec?.containers ?? []).map(({ args = [] }) => args).find(([of]) => of === MIRROR);
  return (
    args &&
    new Map(
      args.flatMap((arg) => {
        const [, flag, value = 'true'] = /^--?([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
        return flag === undefined ? [] : [[flag, value] as const];
      }),
    )
  );
};

/** The command of Linkerd's image that mirrors. */
const MIRROR = 'service-mirror';

/** The settings of the operator; where none is installed, with those of Linkerd's controllers in place of its defaults. */
export const asLinkerd =
  (linkerd: LinkerdSettings) =>
  (found: FoundSettings): FoundSettings => {
    if (found.isInstalled) return found;
    const known = Object.fromEntries(Object.entries(linkerd).filter(([, value]) => value !== undefined));
    return { ...found, config: { ...found.config, ...(known as Partial<OperatorConfig>) } };
  };
