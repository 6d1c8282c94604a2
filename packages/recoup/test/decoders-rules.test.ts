// Rules of an operator: checked when they are read, first when an answer comes, plain comparison.
import { expect, test } from 'vitest';
import { type Answer, decode, readRules } from '../src/decoders.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const rule = { name: 'cap', class: 'billing', message: { contains: 'team cap' } };
const body = { error: { code: 'rate_limit_exceeded', type: 'cap_of_team', message: 'The Team Cap is reached' } };
const answer = (more: Partial<Answer> = {}): Answer => ({
  provider: 'openai',
  status: 403,
  body,
  receivedAt: NOW,
  ...more,
});
const by = (more: object, given: Partial<Answer> = {}) =>
  decode(answer(given), { rules: readRules({ rules: [{ ...rule, message: undefined, ...more }] }) });

test('a rule comes before what is built in, and says which it was', () => {
  expect(decode(answer())).toMatchObject({ class: 'rate_limited', rule: null });
  expect(decode(answer(), { rules: readRules({ rules: [rule] }) })).toMatchObject({
    class: 'billing',
    policy: 'manual',
    rule: 'cap',
    until: null,
    nextStep: expect.stringContaining('Top up'),
  });
});

test.each([
  [{ status: 403 }, true],
  [{ status: [401, 403] }, true],
  [{ status: 401 }, false],
  [{ code: 'CAP_of_team' }, true],
  [{ code: 'cap' }, false],
  [{ code: { prefix: 'cap_' } }, true],
  [{ code: { prefix: 'of' } }, false],
  [{ code: ['x', { contains: 'of' }] }, true],
  [{ message: { contains: 'team cap' } }, true],
  [{ message: 'the team cap is reached' }, true],
  [{ message: { contains: '.*' } }, false],
  [{ status: 403, code: 'no' }, false],
  [{ status: 403, provider: 'openai' }, true],
  [{ status: 403, provider: ['xai', 'OpenAI'] }, true],
  [{ status: 403, provider: 'xai' }, false],
])('%j holds: %s', (conditions, holds) => {
  expect(by(conditions).rule).toBe(holds ? 'cap' : null);
});

test('a rule of an alias is for that alone, a rule of a provider for its aliases too', () => {
  expect(by({ status: 403, provider: 'kiro' }, { provider: 'bedrock' }).rule).toBeNull();
  expect(by({ status: 403, provider: 'kiro' }, { provider: 'Kiro' }).rule).toBe('cap');
  expect(by({ status: 403, provider: 'bedrock' }, { provider: 'kiro' }).rule).toBe('cap');
  expect(by({ status: 403, provider: 'generic' }, { provider: 'mine' }).rule).toBe('cap');
});

test('a provider of your own is one that a rule names, in any case; what no rule names is noted', () => {
  const mine = readRules({ rules: [{ ...rule, message: undefined, status: 403, provider: ['Acme', 'openai'] }] });
  const read = (provider: string) => decode(answer({ provider }), { rules: mine });
  for (const provider of ['acme', 'ACME'])
    expect(read(provider)).toMatchObject({ provider: 'generic', class: 'billing', rule: 'cap', dropped: [] });
  expect(read('acne')).toMatchObject({ rule: null, dropped: [{ rule: 'unknown_provider', value: 'acne' }] });
  expect(read('kiro')).toMatchObject({ provider: 'bedrock', rule: null, dropped: [] });
});

test('a rule may say of whom and how much, and what to do', () => {
  const facts = by(
    { status: 403, class: 'overloaded', subject: 'quota_group', scope: 'model', nextStep: 'Wait.' },
    { model: 'm' },
  );
  expect(facts).toMatchObject({
    subject: 'quota_group',
    scope: { kind: 'model', name: 'm' },
    nextStep: 'Wait.',
    policy: 'auto',
  });
  expect(by({ status: 403, scope: 'capability', capability: 'images' }).scope).toEqual({
    kind: 'capability',
    name: 'images',
  });
});

test('times still come from the answer', () => {
  const facts = by({ status: 403, class: 'rate_limited' }, { headers: { 'retry-after': '30' } });
  expect(facts).toMatchObject({ source: 'retry_after', until: new Date(NOW.getTime() + 30_000), rule: 'cap' });
});

test('a page of a proxy can be named by a rule, a success only by its status', () => {
  expect(by({ status: 403 }, { body: '<html>' }).class).toBe('billing');
  const busy = { status: 200, body: { code: 'busy', message: 'come back later' } };
  expect(by({ code: 'busy', class: 'overloaded' }, busy).class).toBeNull();
  expect(by({ code: 'busy', status: 200, class: 'overloaded' }, busy).class).toBe('overloaded');
});

test('the first rule that holds decides', () => {
  const rules = readRules({
    rules: [
      { ...rule, name: 'a', class: 'permission' },
      { ...rule, name: 'b' },
    ],
  });
  expect(decode(answer(), { rules })).toMatchObject({ rule: 'a', class: 'permission' });
});

test.each([
  [null, 'document: must be an object with rules'],
  [[], 'document: must be an object with rules'],
  [{}, 'rules: must be a list of at most 1000 rules'],
  [{ rules: [], rule: 1 }, 'document.rule: is not known; allowed are rules'],
  [{ rules: [5] }, 'rules[0]: must be an object with name, provider'],
  [{ rules: [{ ...rule, klass: 1 }] }, 'rules[0].klass: is not known; allowed are name, provider, status'],
  [{ rules: [{ name: 'a', class: 'billing' }] }, 'rules[0]: must have at least one of status, code, message'],
  [{ rules: [{ ...rule, name: undefined }] }, 'rules[0].name: must be a string'],
  [{ rules: [rule, rule] }, 'rules[1].name: is the name of rules[0] already'],
  [
    { rules: [{ ...rule, class: 'bad' }] },
    'rules[0].class: must be one of rate_limited, quota_exhausted_upstream, billing',
  ],
  [{ rules: [{ ...rule, class: 'operator' }] }, 'rules[0].class: must be one of'],
  [{ rules: [{ ...rule, provider: '' }] }, 'rules[0].provider: must be 1 to 200 printable characters'],
  [{ rules: [{ ...rule, provider: ['openai', 5] }] }, 'rules[0].provider[1]: must be a string'],
  [{ rules: [{ ...rule, provider: [] }] }, 'rules[0].provider: must have 1 to 100 values'],
  [{ rules: [{ ...rule, status: '429' }] }, 'rules[0].status: must be a status, an integer from 100 to 999'],
  [{ rules: [{ ...rule, status: [429, 42] }] }, 'rules[0].status[1]: must be a status'],
  [
    { rules: [{ ...rule, code: { regex: 'a+' } }] },
    'rules[0].code.regex: is not known; allowed are equals, prefix, contains',
  ],
  [{ rules: [{ ...rule, code: {} }] }, 'rules[0].code: must be a text, or an object with one of'],
  [
    { rules: [{ ...rule, code: { prefix: 'a', equals: 'b' } }] },
    'rules[0].code: must be a text, or an object with one of',
  ],
  [{ rules: [{ ...rule, message: { contains: ' ' } }] }, 'rules[0].message.contains: must be a text of 1 to 500'],
  [{ rules: [{ ...rule, subject: 'all' }] }, 'rules[0].subject: must be one of upstream, quota_group'],
  [{ rules: [{ ...rule, subject: 'none' }] }, 'rules[0].subject: must not be none for billing'],
  [
    { rules: [{ ...rule, class: 'request_scoped', subject: 'route' }] },
    'rules[0].subject: must be none for request_scoped',
  ],
  [{ rules: [{ ...rule, scope: 'some' }] }, 'rules[0].scope: must be one of all, model, capability'],
  [{ rules: [{ ...rule, capability: 'x' }] }, 'rules[0].capability: goes with scope: capability only'],
  [{ rules: [{ ...rule, nextStep: '' }] }, 'rules[0].nextStep: must be a text'],
  [{ rules: [JSON.parse('{"__proto__": {}, "name": "a"}')] }, 'rules[0].__proto__: is not known'],
])('refused when it is read: %j', (document, message) => {
  expect(() => readRules(document)).toThrow(message);
});

test('a thousand rules on a long message are soon done: nothing backtracks', () => {
  const rules = readRules({
    rules: Array.from({ length: 1000 }, (_, i) => ({
      ...rule,
      name: `r${i}`,
      message: { contains: `${'a'.repeat(400)}b` },
    })),
  });
  const message = 'a'.repeat(200_000);
  expect(decode(answer({ status: 429, body: { error: { message } } }), { rules })).toMatchObject({ rule: null });
});
