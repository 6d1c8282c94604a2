// A provider that misbehaves on purpose, by seed: slow answers that finish later, errors, lost and doubled callbacks.
export interface Plan {
  kind: string;
}
export interface FlakyUpstream {
  url: string;
}
export function flakyUpstream(): never {
  throw new Error('being written');
}
