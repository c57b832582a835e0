/** Certificates and keys as kubeconfigs hold them: PEM in base64. Nothing here throws for what a text holds. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** Text of base64, which may be broken into lines; undefined if it is not valid. */
export function decode(base64: string): string | undefined {
  const text = base64.replaceAll(/\s/g, '');
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64').toString('utf8');
}

/** The certificate in a PEM text; undefined if it is not valid. */
export function certificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** The private key in a PEM text; undefined if it is not valid, or has a passphrase. */
export function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
