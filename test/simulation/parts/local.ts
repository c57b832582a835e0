/** Services of the source cluster with their pods, for features in which they take part. */
import type { Command } from '../command.ts';
import { putLocal } from '../federation-users.ts';
import type { Stage } from '../stage.ts';
import type { Feature, Part } from './part.ts';

class Local implements Part {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  play(command: Command): boolean {
    const { east } = this.#stage;
    if (command.do === 'put local') putLocal(east, command);
    else if (command.do === 'remove local') east.remove('v1', 'Service', command.namespace, command.name);
    else return false;
    return true;
  }

  problems(): readonly string[] {
    return [];
  }
}

export const localFeature: Feature = {
  name: 'local',
  isIn: ({ federation, failover, imports }) => federation !== undefined || failover !== undefined || imports === true,
  sourceObjects: [],
  sourceControllers: ['endpointslice-controller'],
  targetObjects: [],
  flags: {},
  quiet: [],
  join: (stage) => new Local(stage),
};
