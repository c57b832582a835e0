import type { Defect } from '../defect.ts';

const CREDENTIALS = ['test/synth/commands/credentials/credentials.test.ts'];
const LINK_GEN = ['test/synth/commands/link/link-gen.test.ts'];
const LINK = ['test/synth/commands/link/link.test.ts'];

const INSTALL = ['test/synth/commands/install/install.test.ts'];
const UNINSTALL = ['test/synth/commands/install/uninstall.test.ts'];
const UPGRADE = ['test/synth/commands/install/upgrade.test.ts'];
const MANIFESTS = ['test/synth/commands/install/manifests.test.ts'];
const VALUES = ['test/synth/commands/install/values.test.ts'];

export const COMMANDS: readonly Defect[] = [
  {
    name: 'a misspelt key of a values file has no effect',
    file: 'synth/commands/install/values.ts',
    find: 'errors.push(fieldError(at, undefined, "is not a value of Linkerd\'s multicluster chart", meant(key, name)));',
    replace: '',
    tests: VALUES,
  },
  {
    name: 'a gateway that a values file switches off is rendered',
    file: 'synth/commands/install/values.ts',
    find: 'if (keepsFalse && was === false) continue;',
    replace: '',
    tests: VALUES,
  },
  {
    name: 'the operator of an installation may read no Secret that a Link will name',
    file: 'synth/commands/install/manifests.ts',
    find: "credentialsSecrets: 'any'",
    replace: "credentialsSecrets: ['none']",
    tests: MANIFESTS,
  },
  {
    name: "objects of Linkerd's extension are called ours",
    file: 'synth/commands/install/ownership.ts',
    find: 'return found === undefined || isOurs(found) ? object : withoutMark(object);',
    replace: 'return found === undefined || isOurs(found) ? object : object;',
    tests: INSTALL,
  },
  {
    name: 'an installation is written to a cluster without Linkerd',
    file: 'synth/commands/install/install.ts',
    find: '...(await clusterProblems(cluster, namespace, linkerdNamespace, objects)),',
    replace: '...(await clusterProblems(cluster, namespace, linkerdNamespace, objects)).slice(99),',
    tests: INSTALL,
  },
  {
    name: 'an installation is taken away although something needs it',
    file: 'synth/commands/install/uninstall.ts',
    find: 'refuseProblems(await usedBy(cluster, namespace));',
    replace: 'await usedBy(cluster, namespace);',
    tests: UNINSTALL,
  },
  {
    name: "the CRD is deleted with another namespace's Links",
    file: 'synth/commands/install/uninstall.ts',
    find: 'if (kind === CRDS) return (await cluster.list(LINKS, {})).map((object) => ({ of: LINKS, object }));',
    replace: 'if (kind === CRDS) return [];',
    tests: UNINSTALL,
  },
  {
    name: 'the namespace is deleted with what others have in it',
    file: 'synth/commands/install/namespace-content.ts',
    find: '.filter((object) => !isOurs(object) && !isDerived(of, object))',
    replace: '.filter((object) => !isOurs(object) && !isDerived(of, object) && false)',
    tests: UNINSTALL,
  },
  {
    name: "what Linkerd's chart has made is deleted because of a label",
    file: 'synth/commands/install/ownership.ts',
    find: '!(Annotation.createdBy in annotations) &&',
    replace: '',
    tests: UNINSTALL,
  },
  {
    name: 'the labels that install puts on a namespace stay there',
    file: 'synth/commands/install/uninstall.ts',
    find: 'await releaseNamespace(cluster, namespace, report);',
    replace: '',
    tests: UNINSTALL,
  },
  {
    name: 'an upgrade without flags switches high availability off',
    file: 'synth/commands/install/settings.ts',
    find: 'ha: ha ?? before.ha,',
    replace: 'ha,',
    tests: UPGRADE,
  },
  {
    name: 'an upgrade writes before it is asked to',
    file: 'synth/commands/common/cluster.ts',
    find: 'return this.#ask(() => this.#client.tryApply<T>(resourceOf(object), object));',
    replace: 'return this.#ask(() => this.#client.apply<T>(resourceOf(object), object));',
    tests: UPGRADE,
  },
  {
    name: 'an upgrade leaves what an earlier version has made',
    file: 'synth/commands/install/upgrade.ts',
    find: 'await deleteAll(cluster, stale, report);',
    replace: '',
    tests: UPGRADE,
  },
  {
    name: 'an installation of a newer version is changed',
    file: 'synth/commands/install/upgrade.ts',
    find: '...versionProblems(cluster, record),',
    replace: '',
    tests: UPGRADE,
  },
  {
    name: 'a cluster file is overwritten',
    file: 'synth/commands/init/init.ts',
    find: "if (existsSync(file)) throw refusedFile(file, 'EEXIST');",
    replace: "if (existsSync(file)) await writeFile(file, '');",
    tests: ['test/synth/commands/init/init.test.ts'],
  },
  {
    name: 'a context puts lines of its own into a cluster file',
    file: 'synth/commands/init/file-text.ts',
    find: "text.replaceAll(/[\\s\\p{Cc}]+/gu, ' ');",
    replace: 'text;',
    tests: ['test/synth/commands/init/file-text.test.ts'],
  },
  {
    name: 'a gateway without an identity is linked to',
    file: 'synth/commands/link/gateway.ts',
    find: "if (identity === '') {",
    replace: 'if (identity === undefined) {',
    tests: ['test/synth/commands/link/gateway.test.ts'],
  },
  {
    name: 'the address of an API server that only this machine reaches is written into credentials',
    file: 'synth/commands/link/api-server.ts',
    find: "OWN_MACHINE.addSubnet('127.0.0.0', 8);",
    replace: '',
    tests: ['test/synth/commands/link/api-server.test.ts'],
  },
  {
    name: 'credentials are deleted while mirrors are left',
    file: 'synth/commands/link/unlink.ts',
    find: 'await untilRemoved(source, names.targetName, flags);',
    replace: '',
    tests: LINK,
  },
  {
    name: 'a Link is written without --apply',
    file: 'synth/commands/link/link.ts',
    find: 'if (!flags.apply) {',
    replace: 'if (flags.output) {',
    tests: LINK,
  },
  {
    name: 'credentials are made of the token of another account',
    file: 'synth/commands/link/token.ts',
    find: '.filter(({ metadata }) => metadata.annotations?.[Annotation.serviceAccountName] === name)',
    replace: '.filter(({ metadata }) => metadata.name !== name)',
    tests: LINK_GEN,
  },
  {
    name: 'allow gives rights to an account that others have made',
    file: 'synth/commands/link/allow.ts',
    find: 'if (found === undefined) return;',
    replace: 'if (found !== undefined) return;',
    tests: LINK_GEN,
  },
  {
    name: 'a label query that excludes a label asks for it',
    file: 'synth/commands/link/label-query.ts',
    find: "negation === '!'",
    replace: "negation === '-'",
    tests: ['test/synth/commands/link/label-query.test.ts'],
  },
  {
    name: 'the old token is removed before the operator uses the new one',
    file: 'synth/commands/credentials/rotate.ts',
    find: 'return valid.message === inUseMessage(fingerprint)',
    replace: 'return valid.message !== fingerprint',
    tests: CREDENTIALS,
  },
  {
    name: 'a token that other clusters may use is removed',
    file: 'synth/commands/credentials/rotate.ts',
    find: 'isOwn: revoke === true ||',
    replace: 'isOwn: revoke !== true ||',
    tests: CREDENTIALS,
  },
  {
    name: "the control plane's copy of rotated credentials is changed in place",
    file: 'synth/commands/credentials/rotate.ts',
    find: 'await deleteAll(source, [{ of: SECRETS, object: copy }], report);',
    replace: '',
    tests: CREDENTIALS,
  },
  {
    name: 'credentials that are on trial are reported as in use',
    file: 'operator/target/credentials.ts',
    find: 'return this.inUse && this.#fingerprint !== undefined',
    replace: 'return this.#fingerprint !== undefined',
    tests: ['test/operator/target/credentials.test.ts'],
  },
  {
    name: 'a report about an older generation of a Link counts',
    file: 'synth/commands/common/link-status.ts',
    find: 'ready === undefined || !isCurrent',
    replace: 'ready === undefined',
    tests: ['test/synth/commands/common/link-status.test.ts'],
  },
  {
    name: 'text that a cluster has reaches the terminal with its control characters',
    file: 'synth/commands/common/link-status.ts',
    find: "? cut(value, MAX_CONDITION_MESSAGE) : ''",
    replace: "? value.slice(0, MAX_CONDITION_MESSAGE) : ''",
    tests: ['test/synth/commands/common/link-status.test.ts'],
  },
  {
    name: 'a gateway that nobody has probed is alive',
    file: 'synth/commands/gateways/gateways.ts',
    find: 'const alive = gatewayAlive === true;',
    replace: 'const alive = gatewayAlive !== false;',
    tests: ['test/synth/commands/gateways/gateways.test.ts'],
  },
];
