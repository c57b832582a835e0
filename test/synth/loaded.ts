/**
 * Says which modules a program loads: given to node as `--import`, it writes the URL of each that is resolved, one a line,
 * to the file that `LOADED_MODULES` names.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = process.env['LOADED_MODULES'] ?? '';

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    appendFileSync(file, `${resolved.url}\n`);
    return resolved;
  },
});
