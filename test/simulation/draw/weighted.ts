/** What draws commands, and how often: a table in each file here. */
import type fc from 'fast-check';
import type { Command } from '../command.ts';

/** Arbitraries of commands, each with its weight. */
export type Weighted = readonly (readonly [number, fc.Arbitrary<Command>])[];
