/**
 * Users that every shared cluster knows besides its admin, since a real API server reads its users when it starts. They
 * may do nothing until a suite grants it, but for the leaders.
 */
import type { TestUser } from './types.ts';

const guest = (name: string, ...groups: readonly string[]): TestUser => ({ name, groups, token: `token-of-${name}` });

const account = (name: string): TestUser =>
  guest(`system:serviceaccount:linkerd-multicluster:${name}`, 'system:serviceaccounts');

/** Admins that the audit log tells apart: two replicas of an operator. */
export const LEADERS = [guest('linkspan-0', 'system:masters'), guest('linkspan-1', 'system:masters')] as const;

/** Users of a target. */
export const READERS = [guest('first'), guest('second'), guest('powerless')] as const;

/** The operator's ServiceAccount, and the one of a target that it reads with: by tokens that need no controller. */
export const ACCOUNTS = [account('linkspan-operator'), account('linkerd-service-mirror-remote-access-east')] as const;

/** All of them. */
export const GUESTS: readonly TestUser[] = [...LEADERS, ...READERS, ...ACCOUNTS];
