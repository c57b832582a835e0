/**
 * Resolves `linkspan` to the sources, for programs that import it by its name: `node --import` this before an example.
 */
import { registerHooks } from 'node:module';

const SOURCES = new URL('../../../constructs/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'linkspan' ? SOURCES : specifier, context),
});
