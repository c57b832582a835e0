import { it } from 'vitest';
import { startReal } from '../real/real.ts';

it('waits with a cluster until it is killed', async () => {
  await startReal({ name: 'endless' });
  await new Promise(() => undefined);
});
