import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Environment, isPrivate, readConfig } from '../src/config.ts';

/** Files that run elsewhere: they can be read, and name only what is there. */

const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

interface Step {
  uses?: string;
  run?: string;
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; needs?: string | string[]; steps: Step[] }>;
}

const WORKFLOWS = readdirSync(path.join(ROOT, '.github/workflows'));

describe.each(WORKFLOWS)('.github/workflows/%s', (file) => {
  const { permissions, jobs } = parse(read(`.github/workflows/${file}`)) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('reads only, but for the jobs that say what they write', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const writing = Object.entries(jobs).flatMap(([name, job]) =>
      Object.entries(job.permissions ?? {}).flatMap(([what, may]) =>
        may === 'write' ? [`${name} ${what}`] : [],
      ),
    );
    expect(writing).toEqual(
      file === 'release.yml' ? ['npm id-token', 'image packages', 'image id-token', 'page contents'] : [],
    );
  });

  test('names the commit of each action, because a tag can be moved, and beside it the version', () => {
    const text = read(`.github/workflows/${file}`);
    const named = steps.flatMap(({ uses }) => uses ?? []);
    const pinned = [...text.matchAll(/ uses: ([\w-]+\/[\w-]+@[0-9a-f]{40}) # v\d+\.\d+\.\d+$/gm)];
    expect(pinned.map(([, action]) => action)).toEqual(named);
  });

  test('names jobs that are there, and scripts that are there', () => {
    const needed = Object.values(jobs).flatMap(({ needs = [] }) => needs);
    expect(needed.filter((name) => !(name in jobs))).toEqual([]);
    const commands = steps.flatMap(({ run }) => run ?? []).join('\n');
    const scripts = [...commands.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script]) => script!);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
    for (const [, program] of commands.matchAll(/^((?:\.ci|deploy)\/\S+)/gm)) {
      expect(statSync(path.join(ROOT, program!)).mode & 0o111).toBe(0o111);
    }
  });
});

test('CI runs what a change must pass, on two processors and the versions of Node that the README names', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml')) as {
    jobs: { run: { strategy: { matrix: Record<string, unknown> }; steps: Step[] } };
  };
  expect(jobs.run.strategy.matrix).toEqual({
    machine: ['ubuntu-24.04', 'ubuntu-24.04-arm'],
    node: [20, 22, 24],
  });
  expect(jobs.run.steps.map(({ run }) => run)).toContain('.ci/run');
  expect(read('README.md')).toContain('(20, 22, 24, 26)');
});

test('forms for issues can be read, and each field has a label', () => {
  const folder = '.github/ISSUE_TEMPLATE';
  for (const file of readdirSync(path.join(ROOT, folder)).filter((name) => name !== 'config.yml')) {
    const form = parse(read(`${folder}/${file}`)) as {
      name: string;
      description: string;
      body: { type: string; id?: string; attributes: { label?: string; value?: string } }[];
    };
    expect([form.name, form.description]).not.toContain(undefined);
    const unnamed = form.body.filter(({ type, id, attributes }) =>
      type === 'markdown' ? attributes.value === undefined : !id || !attributes.label,
    );
    expect(unnamed).toEqual([]);
  }
});

test('renovate.json names packages that are there', () => {
  const { packageRules } = JSON.parse(read('renovate.json')) as {
    packageRules: { matchPackageNames: string[]; matchFileNames?: string[] }[];
  };
  const lock = read('package-lock.json');
  for (const { matchPackageNames, matchFileNames = [] } of packageRules) {
    for (const name of matchPackageNames) expect(lock).toContain(`node_modules/${name.replace('*', '')}`);
    for (const file of matchFileNames) expect(existsSync(path.join(ROOT, file))).toBe(true);
  }
});

describe('compose.yaml', () => {
  interface Service {
    environment: Record<string, string>;
    healthcheck?: object;
    volumes: string[];
    ports?: string[];
  }
  const text = read('compose.yaml');
  const { services, volumes } = parse(text) as {
    services: Record<'kontor' | 'database' | 'proxy', Service>;
    volumes: Record<string, null>;
  };
  const example = read('deploy/compose.env.example');
  const named = [...example.matchAll(/^(\w+)=(.*)$/gm)];

  test('takes every secret from the environment, without a default, and the example has none either', () => {
    const asked = [...text.matchAll(/\$\{(\w+)(:[-?+])?([^}]*)\}/g)];
    expect(new Set(asked.map(([, name]) => name))).toEqual(new Set(named.map(([, name]) => name)));
    expect(named.filter(([, , value]) => value !== '')).toEqual([]);
    for (const [, name, kind, word] of asked) {
      const isOptional = ['SMTP_URL', 'MAIL_FROM', 'SECURITY_CONTACT'].includes(name!);
      if (isOptional) expect([name, word]).toEqual([name, kind === ':+' ? ', ' : '']);
      else if (kind !== undefined) expect([name, kind, word]).toEqual([name, ':?', 'is missing in .env']);
    }
  });

  test('makes a configuration that the service starts with, from an example that is filled in', () => {
    const filled: Record<string, string> = {
      KONTOR_HOST: 'shops.example',
      POSTGRES_PASSWORD: 'f'.repeat(64),
      KONTOR_SECRET: '0'.repeat(64),
      SECURITY_CONTACT: 'mailto:security@shops.example',
    };
    const environment = Object.fromEntries(
      Object.entries(services.kontor.environment).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, key: string) => filled[key] ?? ''),
      ]),
    );
    const config = readConfig(environment);
    expect(config).toMatchObject({
      DATABASE_URL: `postgres://kontor:${'f'.repeat(64)}@database/kontor`,
      PUBLIC_URL: 'https://shops.example',
      SECURITY_CONTACT: 'mailto:security@shops.example',
    });
    // Left empty, they are absent.
    expect([config.SMTP_URL, config.MAIL_FROM]).toEqual([undefined, undefined]);
    expect(isPrivate(config)).toBe(false);
  });

  test('sets variables that the service knows, and opens the proxy only', () => {
    const unknown = Object.keys(services.kontor.environment).filter(
      (name) => !(name in Environment.properties),
    );
    expect(unknown).toEqual([]);
    expect(Object.entries(services).flatMap(([name, { ports }]) => (ports ? [name] : []))).toEqual(['proxy']);
    // That of the service is in its image.
    expect([services.database.healthcheck, services.proxy.healthcheck]).not.toContain(undefined);
    expect(read('Dockerfile')).toContain('\nHEALTHCHECK ');
    const used = Object.values(services).flatMap((service) =>
      service.volumes.map((volume) => volume.split(':')[0]!),
    );
    const files = used.filter((name) => name.startsWith('./'));
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(used.filter((name) => !files.includes(name)).toSorted()).toEqual(Object.keys(volumes).toSorted());
    const forCaddy = [...read('deploy/Caddyfile').matchAll(/\{\$(\w+):/g)].map(([, name]) => name);
    expect(Object.keys(services.proxy.environment)).toEqual(forCaddy);
  });
});

test('the image runs as a user that does not own the program, and gets what the repository has', () => {
  const text = read('Dockerfile');
  const lines = text.split('\n');
  expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(2);
  expect(lines.indexOf('USER kontor')).toBeGreaterThan(
    lines.findIndex((line) => line.startsWith('COPY --from')),
  );
  expect(text).not.toContain('--chown');
  expect(statSync(path.join(ROOT, 'deploy/assemble.sh')).mode & 0o111).toBe(0o111);
  // Nothing that the build needs is left out of the context.
  const ignored = read('.dockerignore').split('\n');
  for (const needed of [
    'src',
    'assets',
    'docs',
    'migrations',
    'packages',
    'deploy',
    'build.js',
    'package-lock.json',
  ]) {
    expect(ignored).not.toContain(needed);
  }
});
