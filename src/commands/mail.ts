import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { configuredOrigin } from '../http/links.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { EMAIL_KINDS } from '../composition/email-kinds.ts';
import { fileDelivery } from '../platform/email/delivery.ts';
import { sampleFacts, type EmailKind } from '../platform/email/kind.ts';
import type { QueuedEmail } from '../platform/email/queue.ts';
import { loadContent } from '../platform/email/worker.ts';
import { createEmailShopLoader } from '../shops/email/shop.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { print, printTable, withShop, type Handlers } from './command.ts';
import { refuseNoFile } from './output.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  'mail preview': ({ config, arguments: [shopId, name], options }) =>
    withShop(config, shopId!, async (db) => {
      if (name === undefined) {
        printTable(
          ['KIND', 'WHEN IT IS SENT'],
          EMAIL_KINDS.map((kind) => [kind.name, kind.occasion]),
        );
        return;
      }
      const kind = EMAIL_KINDS.find((one) => one.name === name);
      if (!kind) {
        throw new CommandProblem(
          `There is no kind of email ${JSON.stringify(name)}. See: npx kontor mail preview ${shopId}`,
        );
      }
      const file = path.resolve(typeof options['out'] === 'string' ? options['out'] : `${name}.html`);
      await preview(db, config, {
        shopId: shopId!,
        kind,
        locale: options['locale'] as string | undefined,
        file,
      });
    }),
} satisfies Handlers;

async function preview(
  db: Database,
  config: Config,
  {
    shopId,
    kind,
    locale,
    file,
  }: { shopId: string; kind: EmailKind; locale: string | undefined; file: string },
): Promise<void> {
  const settings = await shopSettings(db, shopId);
  if (locale !== undefined && !settings.locales.includes(locale)) {
    throw new CommandProblem(`The shop has no locale ${locale}, it has ${settings.locales.join(', ')}`);
  }
  const order = await findLastOrder(db, shopId);
  const language = locale ?? order?.locale ?? settings.defaultLocale;
  const queued: QueuedEmail = {
    shopId,
    template: kind.name,
    to: settings.email,
    locale: language,
    facts: sampleFacts(kind, language),
  };
  const content = await previewContent(db, config, kind, queued, order);
  const origin = configuredOrigin(config);
  const load = (logo: 'attached' | 'in the page') =>
    createEmailShopLoader({ db, config, origin, logo })(shopId);
  const { dir, name } = path.parse(file);
  const beside = (extension: string) => path.join(dir, `${name}${extension}`);
  for (const one of [file, beside('.txt'), beside('.eml')]) await refuseNoFile(one);

  const page = (await load('in the page'))!.render(kind, content.email);
  await writeFile(file, page.html, { mode: 0o600 });
  await writeFile(beside('.txt'), page.text, { mode: 0o600 });
  const message = (await load('attached'))!.render(kind, content.email);
  await fileDelivery(dir).deliver({ ...message, id: name, to: queued.to, attachments: content.attachments });

  print(`${page.subject}\n`);
  for (const written of [file, beside('.txt'), beside('.eml')]) print(written);
}

/** Uses the last order if there is one and the email is about an order; else everything is made up. */
async function previewContent(
  db: Database,
  config: Config,
  kind: EmailKind,
  queued: QueuedEmail,
  order: LastOrder | undefined,
) {
  const isAboutOrder = order !== undefined && 'orderId' in queued.facts;
  const named = { ...queued, facts: { ...queued.facts, ...(isAboutOrder && order) } };
  const real = isAboutOrder && kind.load ? await loadContent(db, config, kind, named) : undefined;
  return real ?? { email: named, attachments: [] };
}

interface LastOrder {
  orderId: string;
  orderNumber: string;
  locale: string;
}

function findLastOrder(db: Database, shopId: string): Promise<LastOrder | undefined> {
  return db.one<LastOrder>(sql`
    select upper(order_id::text) as "orderId", order_number as "orderNumber", locale from customer_order
    where shop_id = ${shopId} and erased_at is null order by created_at desc limit 1`);
}
