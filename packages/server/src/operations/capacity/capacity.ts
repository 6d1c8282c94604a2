// Everything a caller may do with upstreams, their blocks and their pools: one file per noun.
import type { Operation } from '../operation.ts';
import { blocks } from './blocks.ts';
import { pools } from './pools.ts';
import { upstreams } from './upstreams.ts';
import { uses } from './uses.ts';

export const capacity: readonly Operation[] = [...upstreams, ...uses, ...blocks, ...pools];
