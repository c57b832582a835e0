import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeClient, ListOptions } from '../../../../operator/kube/client.ts';
import { ApiError } from '../../../../operator/kube/errors.ts';
import { type Resource, type Service, SERVICES } from '../../../../operator/kube/objects.ts';
import { readService } from '../../../../operator/target/read/objects.ts';
import { Rereads } from '../../../../operator/target/certain/rereads.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const WEB = 'shop/web';

const web = (resourceVersion: string): Service => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'uid', resourceVersion },
});

/** Rereads of a target that answers when a test has it answer. */
function reading(checkNone?: () => Promise<void>) {
  const pending: { readonly key: string; readonly answer: (answer: Service | undefined | Error) => void }[] = [];
  const reported: string[] = [];
  const ended = new AbortController();
  const rereads = new Rereads<Service>({
    of: SERVICES,
    read: readService,
    checkNone,
    listener: {
      answered: (key) => reported.push(key),
      unanswered: (key, error) => reported.push(`${key} ${String(error)}`),
    },
    backoff: { baseMs: 100, capMs: 1000 },
  });
  const list = (_: Resource, { namespace, fieldSelector, limit }: ListOptions) =>
    new Promise((resolve, reject) => {
      expect(limit).toBe(1);
      pending.push({
        key: `${namespace} ${fieldSelector}`,
        answer: (given) => {
          if (given instanceof Error) reject(given);
          else resolve({ metadata: { resourceVersion: '9' }, items: given === undefined ? [] : [given] });
        },
      });
    });
  rereads.run({ list } as unknown as KubeClient, ended.signal);
  /** Answers the question that was asked first. */
  const answer = async (given: Service | undefined | Error): Promise<void> => {
    pending.shift()!.answer(given);
    await pass(0);
  };
  const ask = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) rereads.ask(key);
    await pass(0);
  };
  /** The version of Service web that was answered; `none`: there is none; undefined: nothing was answered. */
  const versionOf = (): string | undefined => {
    const found = rereads.answer(WEB);
    return found && (found.object?.metadata.resourceVersion ?? 'none');
  };
  return { rereads, pending, reported, answer, ask, ended, versionOf };
}

describe('a Service that is read once more', () => {
  it('is read by its name', async () => {
    const { pending, reported, answer, ask, versionOf } = reading();
    await ask(WEB);
    expect([pending.map(({ key }) => key), versionOf()]).toEqual([['shop metadata.name=web'], undefined]);
    await answer(web('2'));
    expect([reported, versionOf()]).toEqual([[WEB], '2']);
  });

  it.each<[string, unknown]>([
    ['it is not there', undefined],
    ['it is not what the API allows', { ...web('2'), spec: { ports: 'none' } }],
  ])('is none, if %s', async (_, given) => {
    const { answer, ask, versionOf } = reading();
    await ask(WEB);
    await answer(given as Service);
    expect(versionOf()).toBe('none');
  });

  it('is not known from an answer about another', async () => {
    const { reported, pending, answer, ask, versionOf } = reading();
    await ask(WEB);
    await answer({ metadata: { ...web('2').metadata, name: 'other' } });
    expect(versionOf()).toBeUndefined();
    expect(reported).toEqual([`${WEB} Error: list services: asked for shop/web, answered with shop/other`]);
    await pass(1000);
    expect(pending).toHaveLength(1);
  });

  it('is not asked for again while it is, or has been answered, whatever the answer', async () => {
    const { rereads, pending, answer, ask, versionOf } = reading();
    await ask(WEB, WEB);
    await ask(WEB);
    expect(pending).toHaveLength(1);
    await answer(web('2'));
    await ask(WEB);
    expect(pending).toHaveLength(0);
    rereads.forget(WEB);
    expect(versionOf()).toBeUndefined();
    await ask(WEB);
    expect(pending).toHaveLength(1);
  });

  it('is asked for until there is an answer, with pauses, and the failure is reported once', async () => {
    const { pending, reported, answer, ask } = reading();
    await ask(WEB);
    for (let failures = 0; failures < 5; failures += 1) {
      await answer(new Error('down'));
      expect(pending).toHaveLength(0);
      await ask(WEB);
      expect(pending).toHaveLength(0);
      await pass(2000);
      expect(pending).toHaveLength(1);
    }
    await answer(undefined);
    expect(reported).toEqual([`${WEB} Error: down`, WEB]);
  });

  it('is asked for when the target wants it to be', async () => {
    const { pending, answer, ask } = reading();
    await ask(WEB);
    await answer(new ApiError(429, { reason: 'TooManyRequests' }, 'list services', 30_000));
    await pass(29_000);
    expect(pending).toHaveLength(0);
    await pass(2000);
    expect(pending).toHaveLength(1);
  });

  it.each<[string, (rereads: Rereads<Service>) => void]>([
    [
      'it was forgotten and asked for',
      (rereads) => {
        rereads.forget(WEB);
        rereads.ask(WEB);
      },
    ],
    ['everything is asked anew', (rereads) => rereads.askAnew(() => true)],
  ])('is not known from an answer to an earlier question, since %s', async (_, change) => {
    const { rereads, pending, reported, answer, ask, versionOf } = reading();
    await ask(WEB);
    change(rereads);
    await answer(undefined);
    expect([reported, versionOf(), pending.length]).toEqual([[], undefined, 1]);
    await answer(web('2'));
    expect([reported, versionOf()]).toEqual([[WEB], '2']);
  });

  it('is not known from an answer that comes when it was forgotten', async () => {
    const { rereads, pending, reported, answer, ask, versionOf } = reading();
    await ask(WEB);
    rereads.forget(WEB);
    await answer(undefined);
    expect([reported, versionOf(), pending.length]).toEqual([[], undefined, 0]);
  });

  it('is asked for anew, with all others that were, unless its answer settled something', async () => {
    const { rereads, pending, answer, ask, versionOf } = reading();
    await ask(WEB, 'shop/b', 'shop/c', 'shop/d');
    await answer(undefined);
    await answer(undefined);
    rereads.forget('shop/c');
    rereads.askAnew((key) => key === 'shop/b');
    expect([versionOf(), rereads.answer('shop/b')]).toEqual([undefined, undefined]);
    // What was under way is answered first.
    await answer(undefined);
    await answer(undefined);
    expect(pending.map(({ key }) => key).sort()).toEqual(['shop metadata.name=d', 'shop metadata.name=web']);
  });

  it('is not known to be none before that is checked, and is asked for again if it does not count (K5)', async () => {
    const checks: { readonly pass: () => void; readonly fail: (why: Error) => void }[] = [];
    const { reported, pending, answer, ask, versionOf } = reading(
      () => new Promise((pass, fail) => void checks.push({ pass, fail })),
    );
    await ask(WEB);
    await answer(undefined);
    expect([versionOf(), reported]).toEqual([undefined, []]);
    checks.shift()!.fail(new Error('the CRD is missing'));
    await pass(1000);
    expect([versionOf(), reported, pending.length]).toEqual([undefined, [`${WEB} Error: the CRD is missing`], 1]);
    await answer(undefined);
    checks.shift()!.pass();
    await pass(0);
    expect([versionOf(), reported.at(-1)]).toEqual(['none', WEB]);
    await ask('shop/b');
    await answer({ metadata: { ...web('3').metadata, name: 'b' } });
    expect([checks, reported.at(-1)]).toEqual([[], 'shop/b']);
  });

  it('is not asked for, and its answer is forgotten, once it need not be known', async () => {
    const { rereads, pending, answer, ask, versionOf } = reading();
    await ask(WEB);
    await answer(web('2'));
    await ask('shop/b', 'bank/c');
    rereads.forgetAll((key) => key.startsWith('shop/'));
    expect(versionOf()).toBeUndefined();
    await answer(undefined);
    await answer(undefined);
    expect([rereads.answer('shop/b'), rereads.answer('bank/c'), pending.length]).toEqual([
      undefined,
      { object: undefined },
      0,
    ]);
  });

  it('is one of at most 16 that are asked for at once (E1)', async () => {
    const { pending, answer, ask } = reading();
    await ask(WEB, ...Array.from({ length: 40 }, (_, at) => `shop/web-${at}`));
    expect(pending).toHaveLength(16);
    await answer(undefined);
    expect(pending).toHaveLength(16);
  });

  it('is asked for no more once reading has ended', async () => {
    const { pending, reported, answer, ask, ended } = reading();
    await ask(WEB, 'shop/b');
    ended.abort();
    await answer(undefined);
    await answer(new Error('closed'));
    await ask('shop/c');
    expect([reported, pending.length]).toEqual([[], 0]);
  });
});
