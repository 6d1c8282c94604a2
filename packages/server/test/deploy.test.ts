// The files under deploy/ held to the service: settings, metrics, scopes and commands that they name are there, and the runbook has every alert.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { kebab, SETTINGS } from '../src/cli/settings.ts';
import { Api, type Json } from './support/api.ts';
import { cli } from './support/cli.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const yaml = (path: string): Json => parse(read(path), { strict: true, uniqueKeys: true });
const page = read('docs/operating.md');
const dashboard: Json = JSON.parse(read('deploy/grafana-dashboard.json'));
const rules: Json[] = yaml('deploy/alerts.yaml').groups.flatMap((group: Json) => group.rules);

/** Settings by their name in the environment. */
const variables = new Set(
  Object.keys(SETTINGS).map((name) => `RECOUP_${kebab(name).replaceAll('-', '_').toUpperCase()}`),
);
const named = (text: string) =>
  [...new Set(text.match(/\bRECOUP_[A-Z_]+\b/g))].filter((name) => !/PASSWORD$/.test(name));

describe('metrics', () => {
  let api: Api;
  let exposed: Set<string>;
  beforeAll(async () => {
    api = await Api.start({ verifyEveryMs: 10_000_000 });
    const { body } = await api.send('GET', '/metrics');
    exposed = new Set(['up']);
    for (const [, name, kind] of (body as string).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      for (const ending of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) exposed.add(`${name}${ending}`);
    }
  });
  afterAll(() => api.close());

  /** The metrics of an expression; throws where it is no PromQL. */
  function metricsOf(expression: string): string[] {
    const names: string[] = [];
    parser.parse(expression).iterate({
      enter: (node) => {
        if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${expression}`);
        if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector')
          names.push(expression.slice(node.from, node.to));
      },
    });
    return names;
  }
  const expressions: [string, string][] = [
    ...rules.map((rule): [string, string] => [rule.alert, rule.expr]),
    ...dashboard.panels.flatMap((panel: Json) =>
      panel.targets.map((target: Json): [string, string] => [
        panel.title,
        target.expr.replaceAll('$__rate_interval', '5m'),
      ]),
    ),
  ];

  test('the parser tells what is no PromQL', () => {
    expect(() => metricsOf('sum(rate(a[5m])')).toThrow('not PromQL');
    expect(metricsOf('sum by (x) (rate(a{b="c"}[5m])) / d')).toEqual(['a', 'd']);
  });

  test.each(expressions)('%s: %s', (_, expression) => {
    const names = metricsOf(expression);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !exposed.has(name))).toEqual([]);
  });
});

test('every alert has its line in the runbook, and every line its alert', () => {
  const section = page.split(/^## /m).find((part) => part.startsWith('Alerts\n'))!;
  const lines = [...section.matchAll(/^\| `(Recoup\w+)` \|([^|]+)\|([^|]+)\|$/gm)].map(([, name]) => name);
  expect(lines.sort()).toEqual(rules.map((rule) => rule.alert).sort());
  for (const rule of rules) {
    expect(rule.labels.severity, rule.alert).toMatch(/^(page|ticket)$/);
    expect(rule.annotations.summary, rule.alert).toBeTypeOf('string');
  }
});

test('the dashboard: panels with titles and places of their own', () => {
  const places = dashboard.panels.map(({ gridPos }: Json) => `${gridPos.x},${gridPos.y}`);
  expect(new Set(places).size).toBe(dashboard.panels.length);
  expect(new Set(dashboard.panels.map(({ id }: Json) => id)).size).toBe(dashboard.panels.length);
  expect(dashboard.panels.every(({ title }: Json) => title !== '')).toBe(true);
});

test.each(['deploy/compose.yaml', 'deploy/recoup.env', 'deploy/Dockerfile'])(
  '%s names settings that there are',
  (path) => {
    const names = named(read(path));
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
  },
);

test('compose: who waits for whom, commands that there are, two replicas, mounted files that are there', async () => {
  const { services, volumes } = yaml('deploy/compose.yaml');
  expect(Object.keys(services)).toEqual(['postgres', 'migrate', 'recoup']);
  expect(services.recoup.deploy.replicas).toBe(2);
  expect(services.recoup.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
  expect(services.migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  for (const volume of services.postgres.volumes as string[]) {
    const [source] = volume.split(':') as [string];
    expect(source.startsWith('./') ? existsSync(join(root, 'deploy', source)) : source in volumes, volume).toBe(true);
  }
  // The image is the one that was built here, and a password may hold anything.
  for (const { image, pull_policy: policy, environment } of [services.migrate, services.recoup]) {
    expect({ image, policy }).toEqual({ image: 'recoup', policy: 'never' });
    expect(environment.DATABASE_URL).not.toContain('${');
    expect(environment.PGPASSWORD).toMatch(/^\$\{RECOUP_(OWNER|APP)_PASSWORD:\?/);
  }
  expect((await cli([...services.migrate.command, '--help'], {})).code).toBe(0);
});

test('prometheus: the sample loads the rules and scrapes what answers', () => {
  const { rule_files, scrape_configs } = yaml('deploy/prometheus.yaml');
  for (const file of rule_files) expect(existsSync(join(root, 'deploy', file))).toBe(true);
  expect(scrape_configs[0]).toMatchObject({ job_name: 'recoup', metrics_path: '/metrics' });
  expect(read('deploy/alerts.yaml')).toContain('up{job="recoup"}');
});

test('Dockerfile: several stages, no root, a health check and no shell around the program', () => {
  const file = read('deploy/Dockerfile');
  expect(file.match(/^FROM /gm)).toHaveLength(3);
  const last = file.slice(file.lastIndexOf('\nFROM '));
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \["node"/m);
  expect(last).toMatch(/^ENTRYPOINT \["node", "packages\/server\/bin\/recoup\.mjs"\]$/m);
  expect(last).not.toMatch(/^RUN/m);
  expect(file).not.toMatch(/curl|apt-get/);
  for (const [, sources] of file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources!.split(' ')) expect(existsSync(join(root, source)), source).toBe(true);
  }
});

/** The tools of systemd, where there are some: elsewhere the unit is only read. */
const systemd = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find((path) => existsSync(path));

test('the unit: what it starts is there; systemd takes it and finds little to attack', () => {
  const unit = read('deploy/recoup.service');
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^(\[\w+\]|[A-Z][A-Za-z]+=.*)$/.test(line))).toEqual([]);
  const [, program] = /^ExecStart=\/usr\/bin\/node (\S+) start$/m.exec(unit)!;
  expect(existsSync(join(root, program!))).toBe(true);
  expect(unit).toMatch(/^EnvironmentFile=\/etc\/recoup\/recoup\.env$/m);
  if (systemd === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'recoup-unit-'));
  const path = join(folder, 'recoup.service');
  writeFileSync(path, unit.replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/recoup', root));
  const verified = spawnSync(systemd, ['verify', '--man=no', path], { encoding: 'utf8' });
  const ours = `${verified.stdout}${verified.stderr}`.split('\n').filter((line) => line.includes('recoup.service'));
  expect(ours).toEqual([]);
  // Of 10; MemoryDenyWriteExecute and the network are what is left.
  const security = spawnSync(systemd, ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' });
  expect(security.status, security.stdout + security.stderr).toBe(0);
  rmSync(folder, { recursive: true });
});

test('roles.sql makes the two roles, as psql takes it', async () => {
  const database = `deploy_${process.pid}_${Date.now().toString(36)}`;
  const url = new URL(inject('servers')[0]!.url);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`create database ${database}`);
  url.pathname = `/${database}`;
  const suffix = database.slice(7);
  // Roles are the server's: names of this test alone, so that it may run beside others.
  const sql = read('deploy/roles.sql').replaceAll(/recoup_(owner|app)\b/g, `$1_${suffix}`);
  const passwords = { RECOUP_OWNER_PASSWORD: "it's o", RECOUP_APP_PASSWORD: 'a' };
  if (existsSync('/usr/bin/psql')) {
    const env = { ...process.env, ...passwords };
    const without = spawnSync('/usr/bin/psql', [url.href], { input: sql, env: process.env, encoding: 'utf8' });
    expect(without.stderr).toBe(
      'Set RECOUP_OWNER_PASSWORD and RECOUP_APP_PASSWORD in the environment; nothing was made.\n',
    );
    execFileSync('/usr/bin/psql', ['-v', 'ON_ERROR_STOP=1', url.href], { input: sql, env });
  } else {
    // The same statements without psql's own words.
    await client.query(`create role owner_${suffix} login password 'it''s o'; create role app_${suffix} login password 'a';
      grant create on database ${database} to owner_${suffix}`);
  }
  const as = (role: string, password: string) => {
    const of = new URL(url);
    [of.username, of.password] = [`${role}_${suffix}`, password];
    return { DATABASE_URL: of.href };
  };
  const migrated = await cli(['migrate', '--grant-to', `app_${suffix}`], as('owner', passwords.RECOUP_OWNER_PASSWORD));
  expect(migrated, migrated.err).toMatchObject({ code: 0 });
  expect(await cli(['doctor'], as('app', 'a'))).toMatchObject({ code: 0 });
  // What docs/operating.md says of the second role.
  const app = new pg.Client({ connectionString: as('app', 'a').DATABASE_URL });
  await app.connect();
  for (const sql of [
    'update recoup.entries set amount = 1',
    'delete from recoup.entries',
    'truncate recoup.entries',
    'alter table recoup.entries disable trigger entries_append_only',
    `insert into recoup.entries (tx) values ('1')`,
    `insert into recoup.attempts (tx) values ('1')`,
    'create table recoup.mine (x int)',
  ]) {
    await expect(app.query(sql), sql).rejects.toMatchObject({ code: '42501' });
  }
  await app.end();
  await client.query(`drop database ${database} with (force)`);
  await client.query(`drop role owner_${suffix}, app_${suffix}`);
  await client.end();
});
