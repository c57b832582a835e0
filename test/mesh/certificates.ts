/** The trust of a run: one anchor, an issuer for each trust domain, and a serving certificate. All last for a day. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './network.ts';

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A trust anchor, and what it signs. */
export class TrustAnchor {
  /** PEM. */
  readonly certificate: string;
  readonly #dir: string;

  private constructor(dir: string, certificate: string) {
    this.#dir = dir;
    this.certificate = certificate;
  }

  /** Makes an anchor; its files are in the folder. */
  static async create(dir: string): Promise<TrustAnchor> {
    const [key, certificate] = [join(dir, 'anchor.key'), join(dir, 'anchor.crt')];
    await command(
      'openssl',
      ...['req', '-x509', ...EC_KEY, '-days', '1', '-subj', '/CN=root.linkerd.cluster.local'],
      ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign', '-keyout', key, '-out', certificate],
    );
    return new TrustAnchor(dir, await readFile(certificate, 'utf8'));
  }

  /** Signs an issuer of identities. @returns the folder with `ca.crt`, `crt.pem` and `key.pem` that Linkerd reads */
  async issuer(into: string, name: string): Promise<void> {
    const extensions = `basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectAltName=DNS:${name}\n`;
    await this.#sign(into, name, extensions, 'crt.pem', 'key.pem');
  }

  /** Signs a certificate of a server. */
  async server(into: string, name: string): Promise<void> {
    await this.#sign(into, name, `subjectAltName=DNS:${name}\n`, 'tls.crt', 'tls.key');
  }

  async #sign(into: string, name: string, extensions: string, crt: string, key: string): Promise<void> {
    const file = (of: string) => join(into, of);
    await writeFile(file('ext'), extensions);
    await command(
      'openssl',
      'req',
      '-new',
      ...EC_KEY,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file('sec1'),
      '-out',
      file('csr'),
    );
    // Linkerd reads keys of elliptic curves in their own form.
    await command('openssl', 'pkey', '-in', file('sec1'), '-out', file(`${key}.pkcs8`));
    await command('openssl', 'ec', '-in', file('sec1'), '-out', file(key));
    await command(
      'openssl',
      ...['x509', '-req', '-days', '1', '-in', file('csr'), '-extfile', file('ext'), '-out', file(crt)],
      ...['-CA', join(this.#dir, 'anchor.crt'), '-CAkey', join(this.#dir, 'anchor.key')],
      // Several are signed at a time: no file counts them.
      ...['-set_serial', `0x${randomBytes(8).toString('hex')}`],
    );
  }
}
