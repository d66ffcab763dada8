import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Database } from '../db/database.ts';
import { configuredOrigin } from '../http/links.ts';
import { isFieldValue, loadFields, MAX_CHARACTERS, saveFields } from '../orders/payments/accounts.ts';
import type { PaymentProvider } from '../orders/payments/provider.ts';
import {
  createProviders,
  isProviderName,
  PROVIDER_LABELS,
  type ProviderMethod,
} from '../orders/payments/providers.ts';
import { webhookPath } from '../orders/payments/webhook-route.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { installationKey } from '../platform/sealing.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { print, printTable, recordCommand, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  'payment set': ({ config, arguments: [shopId, methodKey], options }) =>
    withShop(config, shopId!, async (db) => {
      const method = await findMethod(db, shopId!, methodKey!);
      const provider = createProviders(db, await readDemoAccess(db, config))[method.providerName];
      const label = PROVIDER_LABELS[method.providerName];
      const names = Object.keys(provider.fields);
      if (names.length === 0) return print(`${label} needs no keys: ${methodKey} is ready.`);
      const key = await installationKey(config);
      const before = await loadFields(db, key, shopId!, method.paymentMethodId);
      if (options['show']) return showFields(provider, before);
      const given = process.stdin.isTTY
        ? await ask(provider, before)
        : parseLines(await text(process.stdin), names);
      const changed = Object.keys(given);
      if (changed.length === 0) return print('Nothing was changed.');
      const after = Object.fromEntries(
        Object.entries({ ...before, ...given }).filter(([, value]) => value !== ''),
      );
      await db.transaction(async (tx) => {
        await saveFields(tx, key, shopId!, method.paymentMethodId, after);
        await recordCommand(tx, shopId!, 'payment set', { method: methodKey!, fields: changed.join() });
      });
      print(`Changed for ${methodKey}: ${changed.join(', ')}.`);
      const missing = names.filter((name) => !provider.fields[name]!.isOptional && after[name] === undefined);
      if (missing.length > 0) print(`Still missing, and needed for payments: ${missing.join(', ')}.`);
      else
        print(
          `Tell ${label} the address for webhooks: ${configuredOrigin(config)}${webhookPath(shopId!, methodKey!)}`,
        );
    }),
} satisfies Handlers;

async function findMethod(db: Database, shopId: string, methodKey: string): Promise<ProviderMethod> {
  const { paymentMethods } = await shopSettings(db, shopId);
  const method = paymentMethods.find(({ key }) => key === methodKey);
  if (!method) {
    const keys = paymentMethods.map(({ key }) => key).join(', ');
    throw new CommandProblem(
      `The shop ${shopId} has no payment method ${JSON.stringify(methodKey)}. It has: ${keys}`,
    );
  }
  if (!isProviderName(method.providerName)) {
    throw new CommandProblem(
      `No built-in provider handles ${methodKey}. Name one in the settings (provider: ${Object.keys(PROVIDER_LABELS).join(' or ')}), and apply them: npx kontor shop apply ${shopId} FILE.yaml`,
    );
  }
  return method as ProviderMethod;
}

function showFields({ fields }: PaymentProvider, values: Record<string, string>): void {
  printTable(
    ['NAME', 'STATE', 'WHAT IT IS'],
    Object.entries(fields).map(([name, { description, isOptional }]) => [
      name,
      values[name] === undefined ? (isOptional ? 'not set (optional)' : 'not set') : 'set',
      description,
    ]),
  );
}

/** Asks for each value without echoing the input. */
async function ask(
  { fields }: PaymentProvider,
  before: Record<string, string>,
): Promise<Record<string, string>> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  const given: Record<string, string> = {};
  try {
    for (const [name, { description }] of Object.entries(fields)) {
      const state = before[name] === undefined ? 'not set' : 'set, Enter keeps it';
      process.stderr.write(`${name} (${state}): ${description}\n> `);
      const value = checked(name, await lines.question(''));
      process.stderr.write('\n');
      if (value !== '') given[name] = value;
    }
  } finally {
    lines.close();
  }
  return given;
}

function parseLines(input: string, names: readonly string[]): Record<string, string> {
  const lines = input.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line, index) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(line) ?? [];
      if (name === undefined || !names.includes(name)) {
        // Without the line itself: it may hold a secret.
        throw new CommandProblem(
          `Line ${index + 1} is none of these: ${names.map((known) => `${known}=VALUE`).join(', ')}`,
        );
      }
      return [name, checked(name, value!)];
    }),
  );
}

function checked(name: string, typed: string): string {
  const value = typed.trim();
  if (isFieldValue(value)) return value;
  throw new CommandProblem(
    `${name} has a blank or a character that no key has, or more than ${MAX_CHARACTERS} characters. Copy it again.`,
  );
}
