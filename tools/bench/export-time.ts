/** How long one export takes while something else is going on. */
import { addExported } from './services.ts';
import type { Stage } from './stage.ts';

const LIMIT_MS = 60_000;

/**
 * Creates a Service that is exported to one Link.
 * @returns seconds until a client of the source sees a mirror that is ready
 */
export const secondsOfExport = async ({ west, watch }: Stage, name: string, link: string): Promise<number> => {
  const began = Date.now();
  const ready = watch.until(`${name} is mirrored`, () => watch.readiness(`${name}-${link}`) === 'ready', LIMIT_MS);
  await addExported(west, [{ name, link }]);
  return ((await ready) - began) / 1000;
};
