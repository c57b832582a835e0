/**
 * Rotates the CA certificates of an API server: each old certificate stays beside the new ones until it expires. Pure.
 */
import type { X509Certificate } from 'node:crypto';
import { certificate } from '../../kube/access/pem.ts';

/** Maximum number of certificates in a bundle that a rotation makes. */
const MAX_CERTIFICATES = 16;

/** Maximum length of a published bundle that is read, in characters. In PEM, each character is one byte. */
const MAX_BUNDLE_BYTES = 64 * 1024;

/**
 * Returns a CA bundle with the certificates in use and those that the target publishes, without expired ones (rule P3).
 * @param current PEM in use
 * @param published PEM from ConfigMap `kube-root-ca.crt` of the target, which is not trusted
 * @param nowMs Unix time in milliseconds
 * @returns `current` itself if nothing changes, if no certificate would be left, if there would be more than
 *   {@link MAX_CERTIFICATES}, or if `published` is longer than {@link MAX_BUNDLE_BYTES}
 */
export function rotatedCa(current: string, published: string, nowMs: number): string {
  if (published.length > MAX_BUNDLE_BYTES) return current;
  const [before, offered] = [certificatesOf(current), certificatesOf(published)];
  const isValid = ({ validTo }: X509Certificate): boolean => Date.parse(validTo) > nowMs;
  const kept = new Map([...before, ...offered].filter(isValid).map((each) => [each.fingerprint256, each]));
  if (kept.size === 0 || kept.size > MAX_CERTIFICATES) return current;
  const isSame = kept.size === before.length && before.every(({ fingerprint256 }) => kept.has(fingerprint256));
  return isSame ? current : [...kept.values()].map((each) => each.toString()).join('');
}

const certificatesOf = (pem: string): readonly X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .map(certificate)
    .filter((each) => each !== undefined);
