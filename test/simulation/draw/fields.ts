/** Draws what many commands have. */
import fc from 'fast-check';
import { LINKS, type TargetName, TARGETS } from '../command.ts';

export const link = fc.constantFrom(...LINKS);
export const targetName = fc.constantFrom(...TARGETS);
export const at = fc.constantFrom<'east' | TargetName>('east', 'east', 'west', 'bar');

export const doing = <T extends string>(what: T) => ({ do: fc.constant(what) });
