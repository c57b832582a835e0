import type { KubeClient } from '../../operator/kube/client.ts';

const WRITES: ReadonlySet<string | symbol> = new Set(['apply', 'create', 'replace', 'patch', 'delete']);

type Verb = (...all: readonly unknown[]) => unknown;

/** The verbs of a client that a test makes up, as a client whose writes can be fenced like those of a real one. */
export function fenceable(verbs: object): KubeClient {
  const fenced = (fence: () => void): object =>
    new Proxy(verbs, {
      get: (target, verb) => {
        const found: unknown = Reflect.get(target, verb);
        if (!WRITES.has(verb)) return found;
        return async (...all: readonly unknown[]) => {
          fence();
          return await (found as Verb)(...all);
        };
      },
    });
  return Object.assign(verbs, { fenced }) as unknown as KubeClient;
}
