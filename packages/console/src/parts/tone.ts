// The tone of a state: how good or bad it is, for whoever looks in passing.
export type Tone = 'good' | 'cooling' | 'bad' | 'plain';
