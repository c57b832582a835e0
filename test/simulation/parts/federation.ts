/** Federated Services in a history (rules I1 to I9). */
import type { Command } from '../command.ts';
import { MANY } from '../command.ts';
import { discover, federate, putDiscovery } from '../federation-users.ts';
import { federationProblems } from '../federations.ts';
import type { LinkState, SourceState } from '../oracle.ts';
import type { Stage } from '../stage.ts';
import type { Feature, Part } from './part.ts';

class Federation implements Part {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
    putDiscovery(stage.east);
  }

  play(command: Command): boolean {
    const { east, targets } = this.#stage;
    switch (command.do) {
      case 'federate':
        federate(targets[command.link], command);
        return true;
      case 'federate many':
        for (const name of MANY) federate(targets[command.link], { ...command, namespace: 'shop', name });
        return true;
      case 'put discovery':
      case 'remove discovery':
        discover(east, command.cluster, command.do === 'put discovery');
        return true;
      default:
        return false;
    }
  }

  problems(links: readonly LinkState[], source: SourceState): readonly string[] {
    return federationProblems(this.#stage, links, source);
  }
}

export const federationFeature: Feature = {
  name: 'federation',
  isIn: ({ federation }) => federation !== undefined,
  sourceObjects: [],
  sourceControllers: [],
  targetObjects: [],
  flags: {},
  quiet: ['federate', 'federate many'],
  join: (stage) => new Federation(stage),
};
