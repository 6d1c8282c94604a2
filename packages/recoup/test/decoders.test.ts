// Answers of providers as they come, one file each, and the facts that they must give; every class and provider is among them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, CLASSES, classes, DECODED_CLASSES, decode, type Facts, PROVIDERS } from '../src/decoders.ts';

interface Fixture {
  about: string;
  answer: Omit<Answer, 'receivedAt'> & { receivedAt: string };
  facts: Record<string, unknown>;
  nextStepSays?: string;
}

const root = resolve(import.meta.dirname, 'fixtures/answers');
const fixtures = readdirSync(root).flatMap((provider) =>
  readdirSync(join(root, provider)).map((file) => {
    const fixture = JSON.parse(readFileSync(join(root, provider, file), 'utf8')) as Fixture;
    return { name: `${provider}/${basename(file, '.json')}`, provider, ...fixture };
  }),
);
const factsOf = ({ answer }: Fixture) => decode({ ...answer, receivedAt: new Date(answer.receivedAt) });
/** As JSON has it: instants are texts. */
const plain = (facts: Facts) => JSON.parse(JSON.stringify(facts)) as Record<string, unknown>;

test.each(fixtures)('$name: $about', (fixture) => {
  const facts = factsOf(fixture);
  expect(facts.provider).toBe(fixture.provider);
  expect(plain(facts)).toMatchObject(fixture.facts);
  if (fixture.nextStepSays !== undefined) expect(facts.nextStep).toContain(fixture.nextStepSays);
});

test.each(fixtures)('$name says the same as text, as bytes and under any case of its headers', (fixture) => {
  const { answer } = fixture;
  const body = typeof answer.body === 'string' || answer.body === null ? answer.body : JSON.stringify(answer.body);
  const headers = Object.entries(answer.headers as Record<string, string>);
  const variants = [
    { body },
    { body: body === null ? null : new TextEncoder().encode(body) },
    { headers: new Headers(headers) },
    { headers: new Map(headers) },
    { headers: Object.fromEntries(headers.map(([name, value]) => [name.toUpperCase(), [value]])) },
  ];
  for (const variant of variants) {
    const facts = decode({ ...answer, ...variant, receivedAt: new Date(answer.receivedAt) });
    expect(plain(facts)).toEqual(plain(factsOf(fixture)));
  }
});

test('every provider and every class that an answer can lead to is covered', () => {
  expect(PROVIDERS.filter((name) => fixtures.filter(({ provider }) => provider === name).length < 4)).toEqual([]);
  const seen = new Set(fixtures.map(({ facts }) => facts.class));
  expect(DECODED_CLASSES.filter((name) => !seen.has(name))).toEqual([]);
  expect(CLASSES.filter((name) => !DECODED_CLASSES.includes(name))).toEqual(['quota_exhausted_local', 'operator']);
});

test('where a person is needed the next step is told, and nowhere is it by time', () => {
  const manual = fixtures.map(factsOf).filter(({ policy }) => policy === 'manual');
  expect(manual.length).toBeGreaterThan(30);
  for (const facts of manual) expect(facts).toMatchObject({ nextStep: expect.any(String), until: null, source: null });
  expect(CLASSES.filter((name) => classes[name].policy === 'manual' && classes[name].nextStep === null)).toEqual([]);
});

test('different reasons have different next steps', () => {
  const steps = ['codex/workspace-denied', 'anthropic/organization-disabled', 'deepseek/balance'].map((name) => {
    const facts = factsOf(fixtures.find((fixture) => fixture.name === name)!);
    return [facts.reason?.message, facts.nextStep];
  });
  expect(new Set(steps.map(([reason]) => reason)).size).toBe(3);
  expect(new Set(steps.map(([, step]) => step)).size).toBe(3);
});
