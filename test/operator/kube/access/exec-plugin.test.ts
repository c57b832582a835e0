import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ExecPlugin } from '../../../../operator/kube/access/exec-plugin.ts';
import { kubeconfigAccess, loadSourceKubeconfig } from '../../../../operator/kube/access/kubeconfig.ts';
import { KubeClient } from '../../../../operator/kube/client.ts';
import type { Network } from '../../../../operator/kube/network.ts';
import type { WireRequest } from '../../../../operator/kube/wire.ts';

const VERSION = 'client.authentication.k8s.io/v1';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.defineProperty(process.stdin, 'isTTY', { value: undefined, configurable: true });
  rmSync(folder, { recursive: true });
});

const script = (text: string): string => {
  const file = join(folder, 'login');
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
};

/** Prints a token that counts its runs, and what it was told of a terminal. */
const counting = (status = ''): string =>
  script(`echo run >> ${folder}/runs
printf '{"apiVersion":"${VERSION}","kind":"ExecCredential","status":{"token":"%s"${status}}}' "$(grep -c run ${folder}/runs)"
printf '%s\\n' "$KUBERNETES_EXEC_INFO" >> ${folder}/told`);

const execOf = (command: string, more: object = {}) => ({
  apiVersion: VERSION,
  command,
  interactiveMode: 'IfAvailable',
  ...more,
});
const plugin = (command: string, more: object = {}): ExecPlugin =>
  new ExecPlugin(execOf(command, more), { ca: undefined }, 'kubeconfig f: context "west"');
const tokenOf = async (of: ExecPlugin): Promise<string | undefined> => (await of.credential()).token;

describe('what a login program has printed', () => {
  it('is used again', async () => {
    const login = plugin(counting());
    expect(await Promise.all([tokenOf(login), tokenOf(login)])).toEqual(['1', '1']);
    expect(await tokenOf(login)).toBe('1');
    expect(login.validMs).toBe(Infinity);
  });

  it('is used until it expires', async () => {
    const login = plugin(counting(',"expirationTimestamp":"2100-01-01T00:00:00Z"'));
    expect(await tokenOf(login)).toBe('1');
    vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2099-12-31T23:59:59Z'));
    expect([await tokenOf(login), login.validMs]).toEqual(['1', 1000]);
    vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2100-01-01T00:00:01Z'));
    expect(await tokenOf(login)).toBe('2');
  });

  it('is used until a server refuses it', async () => {
    const exec = execOf(counting());
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { exec, as: 'jane', 'as-groups': ['a', 'b'] } }],
      contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'a',
    };
    const kubeconfig = join(folder, 'config');
    writeFileSync(kubeconfig, JSON.stringify(config));
    const asked: WireRequest['headers'][] = [];
    const request = ({ headers }: WireRequest) => {
      asked.push(headers);
      const isRefused = headers['authorization'] === 'Bearer 1' && asked.length > 1;
      const body = (async function* () {
        yield Buffer.from('{}');
      })();
      return Promise.resolve({ statusCode: isRefused ? 401 : 200, headers: {}, body });
    };
    const network = {
      connect: () => ({ request: (_: string, wire: WireRequest) => request(wire), close: () => Promise.resolve() }),
    } as unknown as Network;
    const access = await kubeconfigAccess(loadSourceKubeconfig({ kubeconfig }));
    const client = new KubeClient(access, { userAgent: 'test', fieldManager: 'test', network });
    await client.get('/version', 'get');
    await expect(client.get('/version', 'get')).rejects.toThrow('401');
    await client.get('/version', 'get');
    expect(asked.map(({ authorization }) => authorization)).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 2']);
    expect(asked[2]).toMatchObject({ 'Impersonate-User': 'jane', 'Impersonate-Group': ['a', 'b'] });
  });
});

describe('a login program', () => {
  it.each([
    ['has the terminal, if there is one', true, 'IfAvailable', true],
    ['does not have it, if it never asks', true, 'Never', false],
    ['is told that there is none', undefined, 'IfAvailable', false],
  ])('%s', async (_, isTTY, interactiveMode, interactive) => {
    Object.defineProperty(process.stdin, 'isTTY', { value: isTTY, configurable: true });
    await plugin(counting(), { interactiveMode }).credential();
    expect(JSON.parse(readFileSync(join(folder, 'told'), 'utf8'))).toMatchObject({ spec: { interactive } });
  });

  it('is shown if somebody must read it', async () => {
    const shown: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => shown.push(String(text)) > 0);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const login = plugin(
      script(`echo 'open https://login' >&2; until [ -e ${folder}/done ]; do sleep 0.05; done; exit 1`),
    );
    const ended = expect(login.credential()).rejects.toThrow('exit code 1: open https://login');
    await vi.waitFor(() => {
      vi.advanceTimersByTime(2_000);
      expect(shown.join('')).toBe('open https://login\n');
    });
    writeFileSync(join(folder, 'done'), '');
    await ended;
  });

  const TITLE = 'kubeconfig f: context "west": the login program';
  it.each([
    [
      'says last why it fails, and no secret',
      `echo 'noise' >&2; printf 'bad \\033[31m hunter22 eyJhbGciOi.eyJzdWIiOi.c2ln\\n' >&2; exit 3`,
      'ended with exit code 3: bad [31m *** *** (log in with it, or run kubectl with this context to see what it says)',
    ],
    ['may be killed', 'kill -9 $$', 'ended by SIGKILL (log in with it'],
    [
      'prints what is no credential, which is not repeated',
      'echo secret',
      'what it printed is not an ExecCredential (log in',
    ],
    ['prints without end', 'yes', 'it printed more than a credential (log in'],
  ])('%s', async (_, text, message) => {
    const login = plugin(script(text), { env: [{ name: 'PASSWORD', value: 'hunter22' }] });
    const error = await login.credential().catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain(`${TITLE} ${folder}/login: ${message}`);
    expect((error as Error).message).not.toMatch(/secret|hunter22|\n/);
  });

  it('is named with how to install it, if it is missing', async () => {
    await expect(plugin('no-such-login', { installHint: 'brew install\nlogin' }).credential()).rejects.toThrow(
      `${TITLE} no-such-login: not found, or not executable (install it: brew install login)`,
    );
  });

  it('is one line, too, if it is told more than the system lets it', async () => {
    const login = plugin(counting(), { env: [{ name: 'LONG', value: 'x'.repeat(3_000_000) }] });
    await expect(login.credential()).rejects.toThrow(`${TITLE} ${folder}/login: cannot be started: E2BIG (log in`);
  });

  it.each([
    ['asks nobody', undefined, 60],
    ['has a terminal to ask at', true, 600],
  ])('that hangs is ended, if it %s', async (_, isTTY, seconds) => {
    Object.defineProperty(process.stdin, 'isTTY', { value: isTTY, configurable: true });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const login = plugin(script(`touch ${folder}/up; exec sleep 1000 2>/dev/null`));
    const ended = expect(login.credential()).rejects.toThrow(`no answer in ${seconds} s (log in with it`);
    await vi.waitFor(() => readFileSync(join(folder, 'up')));
    vi.advanceTimersByTime(seconds * 1000);
    await ended;
  });

  it('that asks waits for the one that asks before it', async () => {
    Object.defineProperty(process.stdin, 'isTTY', { value: true, configurable: true });
    const text = `mkdir ${folder}/busy || exit 1; sleep 0.1; rmdir ${folder}/busy
printf '{"apiVersion":"${VERSION}","kind":"ExecCredential","status":{"token":"t"}}'`;
    const command = script(text);
    expect(await Promise.all([tokenOf(plugin(command)), tokenOf(plugin(command))])).toEqual(['t', 't']);
  });
});
