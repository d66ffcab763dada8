import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { appCommands } from '../src/commands/app.ts';
import { customerCommands } from '../src/commands/customer.ts';
import { dbCommands } from '../src/commands/db.ts';
import { shopCommands } from '../src/commands/shop.ts';
import { tokenCommands } from '../src/commands/token.ts';
import { Environment } from '../src/config.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('the README', () => {
  test('lists the settings of the service, all of them, in their order, with their defaults', () => {
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    const settings = Object.entries(Environment.properties);
    expect(rows.map(([name]) => name)).toEqual(settings.map(([name]) => name));
    for (const [name, schema] of settings) {
      const standard = (schema as { default?: unknown }).default;
      if (standard === undefined) continue;
      expect(rows.find(([row]) => row === name)).toEqual([
        name,
        `\`${JSON.stringify(standard).replaceAll('"', '')}\``,
      ]);
    }
  });

  test.each([...shopCommands, ...tokenCommands, ...appCommands, ...customerCommands, ...dbCommands])(
    'names $name',
    ({ name }) => {
      expect(readme).toContain(`\`${name}`);
    },
  );

  test.each(['test', 'bench'])('names npm %s', (script) => {
    expect(manifest.scripts).toHaveProperty(script);
    expect(readme).toMatch(new RegExp(`npm (run )?${script}`));
  });

  test('gives a reason for every dependency', () => {
    const table = readme.slice(readme.indexOf('## Dependencies'));
    const unnamed = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      (name) => !name.startsWith('@types/') && !table.includes(name),
    );
    expect(unnamed).toEqual([]);
  });
});
