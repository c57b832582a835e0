import type { Defect } from '../defect.ts';

const LINKS = { file: 'operator/link/links.ts', tests: ['test/operator/link/links.test.ts'] };

const STATUS_BEFORE = {
  file: 'operator/link/status/before.ts',
  tests: ['test/operator/link/status/before.test.ts'],
};

const CLUSTERS = { file: 'operator/link/clusters.ts', tests: ['test/operator/link/clusters.test.ts'] };

const RECORDS = {
  file: 'operator/link/records.ts',
  tests: ['test/operator/link/records.test.ts', 'test/operator/link/clusters.test.ts'],
};

const EXPORTS = { file: 'operator/served/exports.ts', tests: ['test/operator/served/exports.test.ts'] };

const TARGET_READER = { file: 'operator/served/reader.ts', tests: ['test/operator/served/reader.test.ts'] };

const TRIAL = {
  file: 'operator/served/trial.ts',
  tests: ['test/operator/served/reader.test.ts', 'test/operator/served/trial.test.ts'],
};

const PODS = { file: 'operator/served/pods.ts', tests: ['test/operator/served/exports.test.ts'] };

const SESSION = { file: 'operator/link/session.ts', tests: ['test/operator/link/clusters.test.ts'] };

const LINK_FILE = { file: 'operator/link/link.ts' };

export const LINK: readonly Defect[] = [
  {
    file: 'operator/link/status/writer.ts',
    tests: ['test/operator/link/status/writer.test.ts'],
    name: 'a status that is held back counts as one that cannot be written',
    rule: 'H4',
    find: 'if (error instanceof FencedError) this.#after(FENCED_RETRY_MS);',
    replace: 'if (error instanceof FencedError) this.#failedWith(error, tried);',
  },
  {
    file: 'operator/link/clusters.ts',
    tests: ['test/operator/link/clusters.test.ts'],
    name: 'an invalid Link confirms no loss',
    rule: 'E6',
    find: 'this.#sessions.confirm(running, link);',
    replace: 'void 0;',
  },
  {
    file: 'operator/link/status/status.ts',
    tests: ['test/operator/link/status/status.test.ts'],
    name: 'L152 the names of held deletions leave no room for the command that confirms them',
    rule: 'E6',
    find: 'message.length <= MAX_CONDITION_MESSAGE || named.length === 0',
    replace: 'true',
  },
  {
    file: 'operator/link/status/status.ts',
    tests: ['test/operator/link/status/status.test.ts'],
    name: 'L154 the addresses of a gateway are reported with the first verdict on it only',
    rule: 'G1',
    find: 'if (isOfServed && addresses.length === 0) return {};',
    replace: 'if (isOfServed) return {};',
  },
  {
    file: 'operator/link/status/status.ts',
    tests: ['test/operator/link/status/status.test.ts'],
    name: 'L154 a verdict on a former gateway that was written after the change of the Link is one on the next',
    rule: 'G1',
    find: 'const isOfServed = found?.observedGeneration === settingsGeneration;',
    replace:
      "const isOfServed = found !== undefined && conditions.find(({ type }) => type === 'Ready')?.observedGeneration === generation;",
  },
  {
    file: 'operator/link/status/status.ts',
    tests: ['test/operator/link/status/status.test.ts'],
    name: 'L154 a verdict on the gateway that was in use before stays beside the addresses of the next',
    rule: 'G1',
    find: "(gatewayAlive ?? found).status !== 'Unknown' && ",
    replace: '',
  },
  {
    file: 'operator/gateway/gateway.ts',
    tests: ['test/operator/gateway/gateway.test.ts'],
    name: 'L154 the verdict on a gateway that is no longer in use is reported until there is one on the next',
    rule: 'G1',
    find: "this.#verdict &&= verdict('Unknown', 'Pending', 'not known yet');",
    replace: 'this.#verdict = undefined;',
  },
  {
    file: 'operator/link/status/status.ts',
    tests: ['test/operator/link/status/status.test.ts'],
    name: 'the verdict on a former gateway stays in the status until there is one on the next',
    rule: 'L115',
    find: 'return { gateway: { addresses, alive: isKept ? gatewayVerdict : null } };',
    replace: 'return { gateway: { addresses, ...(isKept && { alive: gatewayVerdict }) } };',
  },
  {
    file: 'operator/link/session-findings.ts',
    tests: ['test/operator/link/session-imports.test.ts'],
    name: 'a refusal of the credentials stays though nothing is read any more',
    rule: 'L114',
    find: '(readsNothing ? credentials.valid : undefined) ?? reachability.credentials',
    replace: 'reachability.credentials',
  },
  {
    ...LINKS,
    tests: ['test/operator/link/lease/served-spec.test.ts'],
    name: 'a Link that is invalid has no confirmation of an earlier loss',
    rule: 'L112',
    find: 'confirmPrune: object.metadata.annotations?.[Annotation.confirmPrune],',
    replace: '',
  },
  {
    ...LINKS,
    name: 'an invalid Link does not keep the cluster that it was served for',
    rule: 'E7',
    find: 'link.settings === undefined ? isServed :',
    replace: 'link.settings === undefined ? isServed && link.name === cluster :',
  },
  {
    ...LINKS,
    name: 'the served Link does not keep its cluster from an older one',
    rule: 'E9',
    find: 'if (isServedA !== isServedB) return isServedA === true;',
    replace: '',
  },
  {
    ...LINKS,
    name: 'M1 a removal starts although an invalid Link names the cluster',
    rule: 'E7',
    find: "return keeper === undefined ? { do: 'remove', link } : { do: 'keep', link: keeper };",
    replace: "return { do: 'remove', link };",
  },
  {
    ...LINKS,
    name: 'M6 M7 the mirrors of a Link that is gone are deleted although another has its cluster',
    rule: 'E9',
    find: 'if (owner !== undefined) {',
    replace: 'if (owner !== undefined && (served.size === 0 || served.get(owner.name) === cluster)) {',
  },
  {
    ...LINKS,
    name: 'an invalid Link names no cluster',
    rule: 'E7',
    find: "typeof named === 'string' && named !== '' ? named : undefined",
    replace: 'checked.ok ? checked.value.cluster : undefined',
  },
  {
    ...SESSION,
    name: 'Synced is true of a Link before its change has been applied',
    rule: 'G1',
    find: 'if (this.#mirrors.progress.hasBegun) this.#mirrors.progress.start(keys);',
    replace: '',
    tests: ['test/operator/link/session.test.ts'],
  },
  {
    ...STATUS_BEFORE,
    name: 'L47 an entry of the status without conditions ends the process',
    rule: 'G1',
    find: 'const [first] = Array.isArray(conditions) ? (conditions as readonly unknown[]) : [];',
    replace: 'const [first] = conditions as readonly unknown[];',
  },

  {
    ...RECORDS,
    name: 'a Lease of another Link still records the cluster',
    rule: 'E9',
    find: 'await forgetLease(link, this.#env, signal);',
    replace: '',
  },
  {
    ...CLUSTERS,
    name: 'what can be read only when a removal gives its Lease up is not looked at',
    rule: 'L93',
    find: "result === 'incomplete' && this.#growths > growths",
    replace: "result === 'incomplete' && growths < 0",
  },
  {
    ...CLUSTERS,
    name: 'L43 a removal does not begin while deletions are held',
    rule: 'E5',
    find: 'if (requeueAfterMs > 0) return { requeueAfterMs };',
    replace:
      'if (running instanceof Session && running.findings().pruneHeld > 0) break; if (requeueAfterMs > 0) return { requeueAfterMs };',
    tests: ['test/e2e/link-lives.test.ts'],
  },
  {
    ...CLUSTERS,
    name: 'a Link that is invalid when the operator starts is not served as it was',
    rule: 'E7',
    find: 'if (last !== undefined) this.#begun(',
    replace: "if (last?.settings.name === '') this.#begun(",
  },
  {
    ...TARGET_READER,
    name: 'credentials that may read less replace those that may read more',
    rule: 'E2',
    find: 'if (!trial.readsAllOf(this.#target)) return;',
    replace: '',
  },
  {
    ...TRIAL,
    name: 'credentials that may read less replace those that have yet to read by changed selectors',
    rule: 'L108',
    find: 'return !isRead && refused.every((namespace) => current === undefined || current.failedMs(namespace) > sinceMs);',
    replace: 'return !isRead;',
  },
  {
    ...TRIAL,
    name: 'credentials that may read less replace those that failed while the target was down',
    rule: 'L109',
    find: 'current.failedMs(namespace) > sinceMs',
    replace: 'current.failedMs(namespace) > -Infinity',
  },
  {
    ...TARGET_READER,
    tests: ['test/operator/served/exports.test.ts'],
    name: 'what the list of another cluster takes away is not counted',
    rule: 'E6',
    find: 'listener.reachable(trial.obstacle); listener.relisted();',
    replace:
      'listener.reachable(trial.obstacle); for (const key of target.mirrored.keys()) listener.serviceChanged(key, []);',
  },
  {
    ...PODS,
    name: 'a list of slices takes endpoint mirrors away uncounted',
    rule: 'L46',
    find: "const isWanted = wanted !== 'unknown' && wanted.has(hostname); states.set(",
    replace: 'const isWanted = true; states.set(',
  },
  {
    ...PODS,
    name: 'an endpoint mirror is deleted before the target has confirmed that its pod is gone',
    rule: 'D5',
    find: 'else if (!answers.lacks(key, hostname))',
    replace: 'else if (key === hostname)',
  },
  {
    ...EXPORTS,
    name: 'a confirmation counts only when it comes: by lists',
    rule: 'L89',
    find: 'held.relisted(this.#settings.confirmPrune, within);\n    this.#confirm();',
    replace: 'held.relisted(this.#settings.confirmPrune, within);',
  },
  {
    file: 'operator/target/certain/counted.ts',
    tests: ['test/operator/served/pods.test.ts'],
    name: 'a confirmation counts only when it comes: by watches',
    rule: 'L89',
    find: 'this.#listener?.fewerHeld();',
    replace: '',
  },
  {
    ...EXPORTS,
    name: 'what is gone still claims its name',
    rule: 'A7',
    find: 'if (mirrored.isGone(key) && mirrored.confirms(key))',
    replace: 'if (mirrored.get(key) !== undefined)',
  },
  {
    ...LINK_FILE,
    name: 'a Link that is gone is still measured',
    rule: 'G4',
    find: 'this.#options.metrics.forgetLink(this.#options.name);',
    replace: '',
    tests: ['test/e2e/status.test.ts'],
  },
  {
    file: 'operator/source/stores.ts',
    tests: ['test/operator/link/leftovers.test.ts'],
    name: 'a probe Service is looked for by the cluster that its Link names',
    rule: 'L88',
    find: 'const others = [...this.clusters()].filter((each) => each !== cluster);',
    replace: 'const others: string[] = [];',
  },
  {
    file: 'operator/runtime/lease.ts',
    tests: ['test/operator/link/lease/write-lease.test.ts'],
    name: 'who has released a Lease that may not be written holds it for ever',
    rule: 'L129',
    find: 'if (holder !== undefined) handlers.free?.();',
    replace: '',
  },
  {
    ...LINK_FILE,
    name: 'a Link lists mirrors of the cluster that it named before, which are gone',
    rule: 'L143',
    find: '...(this.#isCleared && CLEARED), ',
    replace: '',
    tests: ['test/operator/link/link.test.ts'],
  },
  {
    file: 'operator/link/sessions.ts',
    name: 'a Link does not learn that its former mirrors have been removed',
    rule: 'L143',
    find: 'if (isComplete) link.cleared();',
    replace: '',
    tests: ['test/operator/link/manager.test.ts'],
  },
  {
    name: 'L145 a Link that is made anew during the removal of its former mirrors does not know of it',
    file: 'operator/link/clusters.ts',
    rule: 'G1',
    find: '    this.#sessions.linkChanged(name);\n',
    replace: '',
    tests: ['test/operator/link/manager.test.ts'],
  },
  {
    name: 'a loss that was confirmed before a Link was suspended goes once it is resumed',
    file: 'operator/link/session.ts',
    rule: 'L148',
    find: '    this.#exports.target.held.revoke();\n',
    replace: '',
    tests: ['test/simulation/regressions.test.ts'],
  },
  {
    name: 'a session whose Link is gone takes back by a renewal that a person has unlinked it',
    file: 'operator/link/clusters.ts',
    rule: 'L151',
    find: 'running && goneMs, signal',
    replace: 'undefined, signal',
    tests: ['test/operator/link/manager.test.ts'],
  },
  {
    name: 'a session that ends takes back that a person has unlinked its Link',
    file: 'operator/link/grace.ts',
    rule: 'L151',
    find: '!this.#unlinked.has(cluster) && (await isUnlinked(goneMs))',
    replace: '(this.#unlinked.delete(cluster), await isUnlinked(goneMs))',
    tests: ['test/operator/link/manager.test.ts'],
  },
  {
    name: 'a suspended Link is alerted of for ever',
    file: 'operator/link/link.ts',
    rule: 'H9',
    find: "type !== 'Ready' || reason !== 'Suspended'",
    replace: 'type + reason !== undefined',
    tests: ['test/operator/link/link.test.ts'],
  },
  {
    name: 'an export that comes back stays on record as confirmed to go until the next renewal',
    file: 'operator/target/certain/confirmed.ts',
    rule: 'L165',
    find: '    if (this.#recorded.has(digest)) this.#outdated();\n',
    replace: '',
    tests: ['test/operator/served/held.test.ts'],
  },
  {
    name: 'L175 a Link that was made anew is taken for the former one where a list shows both at once',
    file: 'operator/link/manager.ts',
    rule: 'L175',
    find: '    if (isMadeAnew) this.#linkChanged(name, before, undefined);\n',
    replace: '    void isMadeAnew;\n',
    tests: ['test/operator/link/manager.test.ts'],
  },
  {
    name: 'L171 a Link does not say that a suspended one has its former cluster',
    file: 'operator/link/links.ts',
    rule: 'L171',
    find: 'return suspended && { cluster, suspended: suspended.name };',
    replace: 'return suspended && undefined;',
    tests: ['test/operator/link/clusters.test.ts'],
  },
  {
    name: 'L171 a Link goes on saying that a suspended one has its former cluster',
    file: 'operator/link/roster.ts',
    rule: 'L171',
    find: 'named === cluster || served.get(name) === cluster',
    replace: 'named === cluster',
    tests: ['test/operator/link/clusters.test.ts'],
  },
  {
    file: 'operator/link/status/writer.ts',
    tests: ['test/operator/link/status/writer.test.ts'],
    name: 'L180 the status of a Link is written over a version that was never seen',
    rule: 'L180',
    find: 'const body = { metadata: { resourceVersion }, status: patch };',
    replace: 'const body = { status: patch };',
  },
  {
    file: 'operator/link/leftovers.ts',
    tests: ['test/operator/link/leftovers.test.ts'],
    name: 'L183 what is shown while the rest is not waits for a watch to report it',
    rule: 'L183',
    find: '    for (const key of this.#mirrors.keys()) this.#mirrors.add(key);\n    if (!isShown) {',
    replace: '    if (isShown) for (const key of this.#mirrors.keys()) this.#mirrors.add(key);\n    if (!isShown) {',
  },
];
