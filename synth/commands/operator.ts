/**
 * `linkspan operator`: runs the operator until SIGTERM or SIGINT. Invalid flags exit 2 with every reason; a lost
 * leadership or an unusable kubeconfig exits 1, for the kubelet to start it anew.
 */
import { Command } from 'commander';

import { configErrorMessage, type FlagValue } from '../../operator/config/config.ts';
import { addOperatorFlags, createLogger, parseOperatorConfig, runOperator } from '../../operator/index.ts';

const FAILURE = 1;
const USAGE_ERROR = 2;

/** The command. */
export const operatorCommand = (): Command =>
  addOperatorFlags(
    new Command('operator')
      .description('keep the mirrors of every Link true, until stopped')
      .allowExcessArguments(false),
  ).action(async (flags: Readonly<Record<string, FlagValue>>) => {
    const parsed = parseOperatorConfig(flags, process.env);
    for (const warning of parsed.warnings) process.stderr.write(`warning: ${warning}\n`);
    if (!parsed.ok) {
      for (const error of parsed.errors) process.stderr.write(`error: ${configErrorMessage(error)}\n`);
      process.exitCode = USAGE_ERROR;
      return;
    }
    const { config } = parsed;
    const log = createLogger({ level: config.logLevel, format: config.logFormat });
    const stop = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info({ signal }, 'stopping');
        stop.abort(new Error(signal));
      });
    }
    try {
      await runOperator({ config, log, signal: stop.signal });
    } catch (error) {
      log.error({ error: error instanceof Error ? error.message : String(error) }, 'linkspan operator has failed');
      process.exitCode = FAILURE;
    }
  });
