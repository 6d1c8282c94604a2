// Everything a caller may do with upstreams, their blocks, limits and pools, and the inbox: one file per noun.
import type { Operation } from '../operation.ts';
import { blocks } from './blocks.ts';
import { estimates } from './estimates.ts';
import { inbox } from './inbox.ts';
import { limits } from './limits.ts';
import { pools } from './pools.ts';
import { probes } from './probes.ts';
import { readOuts } from './read-outs.ts';
import { upstreams } from './upstreams.ts';
import { uses } from './uses.ts';

export const capacity: readonly Operation[] = [
  ...upstreams,
  ...uses,
  ...readOuts,
  ...blocks,
  ...limits,
  ...pools,
  ...probes,
  ...estimates,
  ...inbox,
];
