/** A page of the docs, followed by its reader: block after block of commands, in a lab. */
import { expect } from 'vitest';
import { blocksOf, type CommandBlock } from '../examples/readme.ts';
import type { Lab } from './lab.ts';

/** What the reader of a page types otherwise, since it cannot be had in a lab. */
export interface Replacement {
  /** Text of the page; it must be there. */
  readonly written: string;
  readonly typed: string;
}

/** What only looks, or says again what is said already: a reader who is too fast types it again. */
const REPEATABLE = /^(kubectl .* (get|label|describe|logs) |linkspan (explain|status|check|gateways) | +--|$)/;
const PATIENCE_MS = 20_000;

/** A block that was typed, and what it printed. */
export interface Typed extends CommandBlock {
  readonly printed: string;
  /** How long the block took. */
  readonly ms: number;
}

/**
 * Types the blocks of a page, and expects each of them to succeed.
 * @param path of the page, from the root
 * @param headings the sections to follow; undefined: all
 */
export const follow = async (
  lab: Lab,
  path: string,
  replacements: readonly Replacement[] = [],
  headings?: readonly string[],
): Promise<readonly Typed[]> => {
  const blocks = (await blocksOf(path)).filter(({ heading }) => headings?.includes(heading) ?? true);
  expect(blocks, path).not.toEqual([]);
  const page = blocks.map(({ commands }) => commands).join('\n');
  for (const { written } of replacements) expect(page).toContain(written);
  const typed: Typed[] = [];
  for (const block of blocks) {
    const commands = replacements.reduce(
      (text, { written, typed: by }) => text.replaceAll(written, by),
      block.commands,
    );
    const began = performance.now();
    const isRepeatable = commands.split('\n').every((line) => REPEATABLE.test(line));
    let outcome = await lab.type(commands);
    while (outcome.code !== 0 && isRepeatable && performance.now() - began < PATIENCE_MS) {
      outcome = await lab.type(commands);
    }
    const { code, stdout, stderr } = outcome;
    expect(code, `${path}, ${block.heading}:\n${commands}${stdout}${stderr}`).toBe(0);
    typed.push({ ...block, printed: `${stdout}${stderr}`, ms: performance.now() - began });
  }
  return typed;
};
