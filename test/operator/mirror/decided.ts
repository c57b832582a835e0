/** Decisions about the exported Service `web` of west, beside a Link of bar-west, which is older. */
import { enterClaims } from '../../../operator/mirror/claims.ts';
import { decide, type Decision } from '../../../operator/mirror/decide.ts';
import { NameClaims } from '../../../operator/mirror/names.ts';
import type { Rendered } from '../../../operator/mirror/rendered.ts';
import { observed, type ObservedOptions } from './observed.ts';

/** Claims of the Links of west and of bar-west. */
export function claimsOfLinks(): NameClaims {
  const all = new NameClaims();
  all.join('west', { createdAt: '2026-01-01T00:00:00Z', name: 'west' }, () => undefined);
  all.join('bar-west', { createdAt: '2025-01-01T00:00:00Z', name: 'bar-west' }, () => undefined);
  return all;
}

export function decided(options: ObservedOptions, claims = claimsOfLinks(), pods?: Rendered): Decision {
  const given = observed(options);
  return decide(given, enterClaims(given, claims), pods);
}
