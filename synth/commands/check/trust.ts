/** Bundles of trust anchors, compared as certificates: their order, and what stands between them, says nothing. Pure. */
import type { X509Certificate } from 'node:crypto';
import { certificate } from '../../../operator/kube/access/pem.ts';

export type Bundle =
  { readonly ok: true; readonly anchors: readonly X509Certificate[] } | { readonly ok: false; readonly reason: string };

/** Reads a PEM bundle. */
export const readBundle = (pem: string): Bundle => {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return { ok: false, reason: 'has no PEM certificate' };
  const anchors = blocks.map((block) => certificate(block.replaceAll(/^[ \t]+|[ \t\r]+$/gm, '')));
  const read = anchors.filter((anchor) => anchor !== undefined);
  return read.length < anchors.length
    ? { ok: false, reason: 'has a certificate that is not valid X.509' }
    : { ok: true, anchors: read };
};

/** Why clusters with these bundles do not trust each other; undefined if they do. */
export const distrust = (
  one: readonly X509Certificate[],
  other: readonly X509Certificate[],
  now: Date,
): string | undefined => {
  const known = new Set(one.map(({ fingerprint256 }) => fingerprint256));
  const shared = other.filter(({ fingerprint256 }) => known.has(fingerprint256));
  if (shared.length === 0) return 'have no trust anchor in common';
  const valid = shared.filter(({ validFromDate, validToDate }) => validFromDate <= now && now < validToDate);
  if (valid.length > 0) return undefined;
  const [last] = shared.toSorted((a, b) => Number(b.validToDate) - Number(a.validToDate));
  return `have only trust anchors in common that are not valid now, the last until ${last?.validTo ?? ''}`;
};
