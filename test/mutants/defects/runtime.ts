import type { Defect } from '../defect.ts';

const REFLECTOR = { file: 'operator/runtime/reflector.ts', tests: ['test/operator/runtime/reflector.test.ts'] };

const PLAN = { file: 'operator/runtime/plan.ts', tests: ['test/operator/runtime/applier.test.ts'] };

const PLAN_TWICE = { file: PLAN.file, tests: ['test/operator/runtime/plan.test.ts'] };
const REPAIRS = { file: 'operator/runtime/repairs.ts', tests: ['test/operator/runtime/repairs.test.ts'] };
const APPLIER = { file: 'operator/runtime/applier.ts', tests: ['test/operator/runtime/applier.test.ts'] };

const EVENT_SERIES = {
  file: 'operator/runtime/event-series.ts',
  tests: ['test/operator/runtime/event-series.test.ts', 'test/operator/runtime/events.test.ts'],
};

const STORE = { file: 'operator/runtime/store.ts', tests: ['test/operator/runtime/store.test.ts'] };

export const RUNTIME: readonly Defect[] = [
  {
    ...STORE,
    name: 'what a change leaves out of a store stays in it as it was',
    rule: 'L130',
    find: 'if (object !== undefined || part.objects.has(key)) this',
    replace: 'if (object !== undefined) this',
  },
  {
    file: 'operator/runtime/controller.ts',
    tests: ['test/operator/runtime/controller.test.ts'],
    name: 'a reconcile whose write is held back counts as failed',
    rule: 'H4',
    find: 'if (error instanceof FencedError) return { isPending: true, requeueAfterMs: jittered(FENCED_RETRY_MS) };',
    replace: '',
  },
  {
    file: 'operator/runtime/events.ts',
    tests: ['test/operator/runtime/events.test.ts'],
    name: 'L153 an Event that is held back counts as one that cannot be written',
    rule: 'H4',
    find: 'if (error instanceof FencedError) entry.nextWriteMs = performance.now() + FENCED_RETRY_MS;\n        else',
    replace: '',
  },
  {
    file: 'operator/runtime/workqueue.ts',
    tests: ['test/operator/runtime/workqueue.test.ts'],
    name: 'what failed before is tried again after a success',
    rule: 'L94',
    find: 'clearTimeout(this.#timers.get(key)?.timer);\n    this.#timers.delete(key);\n  }\n\n  /** Adds',
    replace: '}\n\n  /** Adds',
  },
  {
    ...REFLECTOR,
    name: 'a server on which everything has expired is asked without a pause',
    rule: 'E11',
    find: 'if (this.#expiries === 1 ||',
    replace: 'if (this.#expiries >= 1 ||',
  },
  {
    ...REFLECTOR,
    name: 'L84 a watch that was refused goes on though the server was away meanwhile',
    rule: 'H3',
    find: 'if (this.#wasInterrupted) this.#resourceVersion = undefined;',
    replace: '',
  },
  {
    ...REFLECTOR,
    name: 'a version that has expired is watched again',
    rule: 'H3',
    find: 'const isUseless = isExpired(error) ||',
    replace: 'const isUseless =',
  },
  {
    ...REFLECTOR,
    tests: [...REFLECTOR.tests, 'test/operator/target/watch/cluster-exports.test.ts'],
    name: 'what was not served is watched from where it was',
    rule: 'K5',
    find: '|| isNotFound(error) ||',
    replace: '||',
  },
  {
    ...APPLIER,
    name: 'a mirror that must be replaced is deleted before its successor is known to be accepted',
    rule: 'D3',
    find: 'await this.#tryCreation(action, signal);',
    replace: 'if (action.live === undefined) await this.#tryCreation(action, signal);',
  },
  {
    ...PLAN_TWICE,
    name: 'what is desired twice is created over what is there',
    rule: 'L133',
    find: "if (!there.has(id)) writes.push({ op: 'create', ...each });",
    replace: "writes.push({ op: 'create', ...each });",
  },
  {
    ...PLAN_TWICE,
    name: 'what is desired twice is created twice',
    rule: 'L133',
    find: 'if (wanted.has(id)) continue;',
    replace: '',
  },
  {
    ...PLAN,
    name: 'a Service that becomes headless is changed in place, which is refused',
    rule: 'D3',
    find: "if (of.kind === 'Service') return",
    replace: "if (of.kind === 'Namespace') return",
  },
  {
    ...APPLIER,
    name: 'a repair that somebody keeps undoing is repeated without a pause',
    rule: 'C5',
    find: 'if (waitMs > 0) {',
    replace: 'if (waitMs < 0) {',
  },
  {
    ...APPLIER,
    name: 'a write that failed counts as undone by somebody else',
    rule: 'F3',
    find: 'let written = await this.#applyOver',
    replace: 'this.#repairs.wrote(id, digest); let written = await this.#applyOver',
  },
  {
    ...REFLECTOR,
    name: 'any event is proof that the server is well',
    rule: 'E11',
    find: 'if (watch.isSettled) this.#settle();',
    replace: 'this.#settle();',
  },
  {
    ...REFLECTOR,
    name: 'a server is asked for watches that outlast the silence that is allowed',
    rule: 'H3',
    find: '(0.8 + 0.15 * Math.random())',
    replace: '(2 + Math.random())',
  },
  {
    ...REFLECTOR,
    name: 'a single silence is reported',
    rule: 'E4',
    find: '|| this.#silences === 1) return 0;',
    replace: ') return 0;',
  },
  {
    ...REFLECTOR,
    name: 'a watch resumes on another cluster',
    rule: 'E2',
    find: 'this.#relist ||= !resume;',
    replace: '',
  },
  {
    ...EVENT_SERIES,
    name: 'each of a thousand failing Services is an Event of its own',
    rule: 'G3',
    find: 'return !names.has(name);',
    replace: 'return names.size < 0;',
  },
  {
    ...REPAIRS,
    name: 'a change of readiness is put off as a repair that is undone',
    rule: 'F3',
    find: 'if (isRecent && repair.digest === digest) return repair;',
    replace: 'if (isRecent && digest !== undefined) return repair;',
  },
  {
    file: 'operator/runtime/store.ts',
    tests: ['test/operator/runtime/store.test.ts'],
    name: 'L131 nobody hears that what a finalizer held after our deletion is gone',
    rule: 'L131',
    find: 'else if (held !== undefined) this.#options',
    replace: 'else if (held !== undefined && part.objects.has(key)) this.#options',
  },
  {
    file: 'operator/runtime/applier.ts',
    tests: ['test/operator/runtime/applier.test.ts', 'test/operator/mirrors/mirrors.test.ts'],
    name: 'L131 an object of ours that a finalizer holds is a conflict that passes',
    rule: 'L131',
    find: 'if (there?.metadata.deletionTimestamp !== undefined && isOurs(there)) throw',
    replace: "if (there?.metadata.deletionTimestamp === '' && isOurs(there)) throw",
  },
  {
    name: 'two refusals of different resources are one obstacle',
    file: 'operator/kube/errors.ts',
    rule: 'L150',
    find: "`${error.code} ${error.kind ?? ''}`",
    replace: 'String(error.code)',
    tests: ['test/operator/runtime/health.test.ts'],
  },
  {
    name: 'L172 a status that waits for the Lease counts as failed',
    file: 'operator/runtime/status-patch.ts',
    rule: 'L172',
    find: '      if (error instanceof FencedError) return { waitMs: jittered(FENCED_RETRY_MS) };\n',
    replace: '',
    tests: ['test/operator/runtime/status-patch.test.ts'],
  },
  {
    name: 'L173 fields are made ours over whatever has been written since',
    file: 'operator/runtime/applier.ts',
    rule: 'L173',
    find: '    const patch = { metadata: { uid, resourceVersion, managedFields: owned } };\n',
    replace: '    const patch = { metadata: { uid, managedFields: owned } };\n',
    tests: ['test/operator/runtime/applier.test.ts'],
  },
  {
    file: 'operator/runtime/own-writes.ts',
    tests: ['test/operator/runtime/store.test.ts'],
    name: 'L181 an object that is there again stays unknown until it is listed, though it is written',
    rule: 'L181',
    find: 'goneMs !== undefined && goneMs >= sentMs',
    replace: 'goneMs !== undefined',
  },
  {
    file: 'operator/runtime/applier.ts',
    tests: ['test/operator/runtime/applier.test.ts'],
    name: 'L181 a slice that no watch shows stays unknown until one does, though it is written',
    rule: 'L181',
    find: "if (outcome.result === 'written') this.#stored(wanted.of)?.wrote(outcome.object, undefined, sentMs);",
    replace: 'void sentMs;',
  },
  {
    file: 'operator/runtime/derivation.ts',
    tests: ['test/operator/runtime/derivation.test.ts'],
    name: 'L184 what is being reconciled is not reconciled again with all keys',
    rule: 'L184',
    find: 'new Set([...this.#options.derivation.keys(), ...this.#controller.underWay])',
    replace: 'new Set(this.#options.derivation.keys())',
  },
];
