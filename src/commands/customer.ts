import type { Queries } from '../db/database.ts';
import { HttpError } from '../http/errors.ts';
import { isId } from '../kernel/ids.ts';
import { eraseCustomerData } from '../people/privacy/erase.ts';
import { exportText } from '../people/privacy/export.ts';
import {
  countOrdersOf,
  findCustomerByNumber,
  findCustomerRecord,
  type CustomerData,
} from '../people/privacy/queries.ts';
import { BY_COMMAND, insertPrivacyRequest } from '../people/privacy/requests.ts';
import { PERSONAL_DATA } from '../composition/personal-data.ts';
import { requireConsent } from './ask.ts';
import { counted, print, recordCommand, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';
import { writeText } from './output.ts';
import { startProgress } from './progress.ts';

/** An export of more orders takes longer than a moment. */
const MANY_ORDERS = 2_000;

export const handlers = {
  'customer export': ({ config, arguments: [shopId, id], options }) =>
    withShop(config, shopId!, async (db) => {
      const person = await personOf(db, shopId!, id!);
      const orders = await countOrdersOf(db, shopId!, person.customerId);
      const progress = orders > MANY_ORDERS ? startProgress('orders', orders) : undefined;
      const origin = config.PUBLIC_URL?.replace(/\/$/, '') ?? `http://${config.HOST}:${config.PORT}`;
      await db.transaction(async (tx) => {
        await recordCommand(tx, shopId!, 'customer export', { customerId: person.customerId });
        await insertPrivacyRequest(tx, shopId!, 'export', person, BY_COMMAND);
      });
      const text = exportText(db, PERSONAL_DATA, {
        shopId: shopId!,
        person,
        origin,
        onEntries: (section, count) => {
          if (section === 'orders') progress?.advance(count);
        },
      });
      await writeText(text, options['output']);
      if (options['output'] === undefined) print('');
      progress?.end();
    }),
  'customer erase': ({ config, arguments: [shopId, id], options }) =>
    withShop(config, shopId!, async (db) => {
      const { customerId, customerNumber } = await personOf(db, shopId!, id!);
      const orders = await countOrdersOf(db, shopId!, customerId);
      await requireConsent(
        options['yes'] === true,
        `This erases customer ${customerNumber} of ${shopId} with ${counted(orders, 'order')} for good.`,
        customerNumber,
      );
      const force = options['force'] === true;
      const erasure = await db
        .transaction(async (tx) => {
          const done = await eraseCustomerData(tx, PERSONAL_DATA, {
            shopId: shopId!,
            customerId,
            by: BY_COMMAND,
            appId: null,
            force,
            // This process has no caches.
            afterCommit: () => {},
          });
          if (done) await recordCommand(tx, shopId!, 'customer erase', { customerId });
          return done;
        })
        .catch((error: unknown) => {
          if (error instanceof HttpError) {
            throw new CommandProblem(`${error.message} (--force).`, { cause: error });
          }
          throw error;
        });
      if (!erasure) throw noSuchCustomer(shopId!, id!);
      print(`Customer ${customerNumber} ${erasure.customer}.`);
      const of = (name: string) => erasure.counts[name] ?? 0;
      const deleted = [
        counted(of('cartsDeleted'), 'cart'),
        counted(of('subscriptionsDeleted'), 'subscription'),
        counted(of('watchesDeleted'), 'watch', 'watches'),
        counted(of('mailsDeleted'), 'email'),
      ];
      print(`Anonymised: ${counted(of('ordersAnonymised'), 'order')}. Deleted: ${deleted.join(', ')}.`);
      if (of('documentsKept') > 0) {
        print(
          `Kept, as the law demands: ${counted(of('documentsKept'), 'invoice or credit note', 'invoices and credit notes')}.`,
        );
      }
    }),
} satisfies Handlers;

async function personOf(db: Queries, shopId: string, id: string): Promise<CustomerData> {
  const customerId = isId(id) ? id : (await findCustomerByNumber(db, shopId, id))?.customerId;
  const person = customerId === undefined ? undefined : await findCustomerRecord(db, shopId, customerId);
  if (!person) throw noSuchCustomer(shopId, id);
  return person;
}

function noSuchCustomer(shopId: string, id: string): CommandProblem {
  return new CommandProblem(`${shopId} has no customer ${JSON.stringify(id)}.`);
}
