/**
 * The data of a test cluster, reached behind its API server's back: what was written since a moment is taken away in one
 * step, namespaces that no controller finalizes among it. Everything that watches the API server sees the deletions.
 */
import { request } from 'undici';

/** Kept whatever is taken away: kinds that were installed, which an API server takes seconds to serve again. */
const KEPT = ['/registry/apiextensions.k8s.io/', '/registry/apiregistration.k8s.io/'];
/** etcd takes 128 operations in one transaction. */
const AT_ONCE = 100;

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** One etcd, through its JSON gateway. */
export class Etcd {
  readonly #url: string;

  /** @param url of its client port */
  constructor(url: string) {
    this.#url = url;
  }

  /** The keys of every object that the API server has stored. */
  async keys(): Promise<ReadonlySet<string>> {
    const all = { key: encode('/registry/'), range_end: encode('/registry0'), keys_only: true };
    const { kvs = [] } = (await this.#post('range', all)) as { readonly kvs?: readonly { readonly key: string }[] };
    return new Set(kvs.map(({ key }) => decode(key)));
  }

  /** Deletes every object but those under `kept`, and the kinds that were installed. */
  async deleteAllBut(kept: ReadonlySet<string>): Promise<void> {
    const isKept = (key: string): boolean => kept.has(key) || KEPT.some((prefix) => key.startsWith(prefix));
    const keys = [...(await this.keys())].filter((key) => !isKept(key));
    for (let from = 0; from < keys.length; from += AT_ONCE) {
      const success = keys.slice(from, from + AT_ONCE).map((key) => ({ request_delete_range: { key: encode(key) } }));
      await this.#post('txn', { success });
    }
  }

  async #post(path: 'range' | 'txn', body: object): Promise<unknown> {
    const { statusCode, body: answer } = await request(`${this.#url}/v3/kv/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`etcd answers ${path} with ${statusCode}: ${text.slice(0, 256)}`);
    return JSON.parse(text);
  }
}
