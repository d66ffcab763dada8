import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { repeat, type Background } from '../../platform/background.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { electronicFile, networkFormat } from '../documents/file.ts';
import { findDocument } from '../documents/queries.ts';
import { documentProblemEmail } from './problem-email.ts';
import {
  TransportFailed,
  TransportRefused,
  type TransportProviders,
  type TransportStatus,
} from './provider.ts';
import {
  findDueDeliveries,
  loadTransportAccount,
  takeDelivery,
  updateDelivery,
  type DocumentTransport,
  type DueDelivery,
} from './queries.ts';

export interface TransportDeps {
  db: Database;
  log: FastifyBaseLogger;
  providers: TransportProviders;
  loadKey: () => Promise<Buffer>;
  /** Milliseconds between two rounds. */
  pause?: number | undefined;
}

const MAX_READ = 20;
/** About a day of tries, and four days of questions for a document that is on its way. */
const MAX_ATTEMPTS = 12;
const MAX_QUESTIONS = 100;
const FIRST_RETRY = 30_000;
const MAX_RETRY = 3_600_000;

/**
 * Brings documents into the network, step by step, until it is stopped. Any number of processes may do this at once:
 * taking a document moves the time at which it is due.
 */
export function startTransportWorker({ pause = 2_000, ...deps }: TransportDeps): Background {
  let lastShop = '';
  return repeat('the sending of electronic documents', pause, deps.log, async () => {
    const due = await findDueDeliveries(deps.db, { afterShop: lastShop, limit: MAX_READ });
    // Each round begins after the shops of the last one, so they take turns.
    lastShop = due.length === MAX_READ ? due.at(-1)!.shopId : '';
    await Promise.all(
      due.map(async (key) => {
        try {
          const delivery = await takeDelivery(deps.db, key);
          if (delivery) await moveDelivery(deps, key, delivery);
        } catch (error) {
          const { shopId: shop, documentId: document } = key;
          deps.log.warn({ shop, document, err: error }, 'an electronic document could not be sent');
        }
      }),
    );
  });
}

/** One step of a document: it is stored at the provider, sent, or asked for. */
async function moveDelivery(
  deps: TransportDeps,
  key: DueDelivery,
  delivery: DocumentTransport,
): Promise<void> {
  const { db } = deps;
  try {
    await updateDelivery(db, key, await nextStep(deps, key, delivery));
  } catch (error) {
    const { state } = delivery;
    const attempts = delivery.attempts + 1;
    const isLast = attempts >= (state === 'sending' ? MAX_QUESTIONS : MAX_ATTEMPTS);
    // A document that may have been sent keeps its reference, so that no second one is sent.
    const reference = error instanceof TransportFailed ? null : delivery.reference;
    const failed = { reference, attempts, error: error instanceof Error ? error.message : String(error) };
    if (isLast || error instanceof TransportRefused) await fail(db, key, failed);
    else await updateDelivery(db, key, { ...failed, state, dueAt: later(db.now, attempts) });
  }
}

type Step = Parameters<typeof updateDelivery>[2];

async function nextStep(
  { db, providers, loadKey }: TransportDeps,
  { shopId, documentId }: DueDelivery,
  { provider: name, reference, attempts }: DocumentTransport,
): Promise<Step> {
  const provider = providers[name];
  const account = await loadTransportAccount(db, await loadKey(), shopId);
  if (!account) throw new TransportRefused(`The shop has no key of ${name}`);
  const at = (state: Step['state'], more: Partial<Step> = {}): Step => ({
    state,
    reference,
    attempts: 0,
    error: null,
    dueAt: db.now,
    ...more,
  });
  if (reference === null) {
    const document = (await findDocument(db, shopId, documentId))!;
    const file = electronicFile(document, networkFormat(document));
    return at('stored', { reference: await provider.upload(file, account) });
  }
  const { state }: TransportStatus = await provider.status(reference, account);
  switch (state) {
    case 'stored':
      await provider.send(reference, account);
      return at('sending', { dueAt: later(db.now, 1) });
    case 'sending':
      if (attempts + 1 >= MAX_QUESTIONS) throw new Error(`${name} did not confirm that it was delivered`);
      return at('sending', { attempts: attempts + 1, dueAt: later(db.now, attempts + 1) });
    case 'delivered':
      return at('delivered', { dueAt: null });
    case 'failed':
      throw new TransportFailed(
        `${name} could not deliver it: is the recipient registered in the Peppol network?`,
      );
  }
}

const later = (now: Date, attempts: number) =>
  new Date(now.getTime() + Math.min(FIRST_RETRY * 2 ** (attempts - 1), MAX_RETRY));

/** Ends a delivery and tells the merchant, both or neither. */
function fail(db: Database, key: DueDelivery, failed: Omit<Step, 'dueAt' | 'state'>): Promise<void> {
  const { shopId, documentId } = key;
  return db.transaction(async (tx) => {
    await updateDelivery(tx, key, { ...failed, state: 'failed', dueAt: null });
    const document = (await findDocument(tx, shopId, documentId))!;
    const { email, defaultLocale } = await shopSettings(tx, shopId);
    const facts = {
      orderId: document.orderId,
      orderNumber: document.terms.orderNumber,
      documentType: document.kind,
      documentNumber: String(document.number),
      reason: failed.error ?? '',
    };
    await queueEmails(tx, shopId, documentProblemEmail, [{ to: email, locale: defaultLocale, facts }]);
  });
}
