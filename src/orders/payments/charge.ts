import { textIn } from '../../http/locale.ts';
import { newId } from '../../kernel/ids.ts';
import { seal, unseal } from '../../platform/sealing.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { lockOrder } from '../change.ts';
import { payableOf } from '../manage-change.ts';
import { findManagedOrder } from '../queries.ts';
import { delayAfter } from './checks.ts';
import { accountOf, atClockOf, errorText, inTime, settleAs, type PaymentDeps } from './provider-calls.ts';
import { PaymentRefused, type ChargedPayment } from './provider.ts';
import { providerMethodOf } from './providers.ts';
import {
  endCharge,
  findAttempt,
  findAttempts,
  findChargeToken,
  insertCharge,
  lockLiveAttempt,
  recordFailedCheck,
  type Attempt,
} from './queries.ts';
import { settle } from './settle.ts';

/** The purpose for which the tokens are sealed. */
const TOKENS = 'kontor payment tokens';

/** Milliseconds for which a charge may be repeated: providers know the idempotency key of a payment for a day. */
const REPEATED_FOR = 23 * 3_600_000;

/**
 * Pays an order with a token that its buyer has given to an assistant, once: while the outcome of an earlier charge is
 * unknown, that one is repeated instead, with its own token. Returns the last attempt to pay the order; undefined: there
 * is nothing to pay and nothing was paid.
 */
export async function chargeOrder(
  service: PaymentDeps,
  shopId: string,
  orderId: string,
  token: string,
): Promise<Attempt | undefined> {
  const deps = atClockOf(service, shopId);
  const settings = await shopSettings(deps.db, shopId);
  // An earlier charge may turn out to have failed; then this token takes its place.
  for (let round = 0; round < 2; round++) {
    const opened = await openCharge(deps, shopId, orderId, settings, token);
    if (!opened) break;
    const made = await makeCharge(deps, shopId, opened.attempt, settings);
    if (made.state !== 'failed' || opened.isNew) return made;
  }
  return (await findAttempts(deps.db, shopId, orderId)).at(-1);
}

/** The attempt that can bring money, or a new one; undefined: there is nothing to pay. */
async function openCharge(
  { db, loadKey }: PaymentDeps,
  shopId: string,
  orderId: string,
  settings: Settings,
  token: string,
): Promise<{ attempt: Attempt; isNew: boolean } | undefined> {
  const key = await loadKey();
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, shopId, orderId);
    const method = order && providerMethodOf(order.content, settings);
    const amount = order ? payableOf(order) : 0;
    if (!method || amount === 0) return undefined;
    const live = await lockLiveAttempt(tx, shopId, orderId);
    if (live) return { attempt: live, isNew: false };
    const attemptId = newId(tx.now);
    const { paymentMethodId, providerName: provider } = method;
    const { currency } = order;
    await insertCharge(
      tx,
      shopId,
      { attemptId, orderId, provider, paymentMethodId, amount, currency },
      seal(key, token, TOKENS),
    );
    return { attempt: (await findAttempt(tx, shopId, attemptId))!, isNew: true };
  });
}

/** Makes a charge whose outcome is not known, and returns the attempt as it is then. */
export async function makeCharge(
  deps: PaymentDeps,
  shopId: string,
  attempt: Attempt,
  settings: Settings,
): Promise<Attempt> {
  const { db } = deps;
  const { attemptId } = attempt;
  if (attempt.state !== 'starting') return attempt;
  try {
    const outcome = await callCharge(deps, shopId, attempt, settings);
    await db.transaction(async (tx) => {
      await endCharge(tx, shopId, attemptId, outcome.reference);
      await settle(tx, shopId, attempt, outcome);
    });
  } catch (error) {
    const text = errorText(error);
    const isOver = db.now.getTime() - attempt.createdAt.getTime() > REPEATED_FOR;
    if (error instanceof PaymentRefused || isOver) {
      await db.transaction((tx) => endCharge(tx, shopId, attemptId, null));
      await settleAs(db, shopId, attempt, 'failed', text);
    } else {
      deps.log.warn({ shop: shopId, attempt: attemptId, err: error }, 'a charge could not be made');
      const checkAt = new Date(db.now.getTime() + delayAfter(attempt.checks));
      await recordFailedCheck(db, shopId, attemptId, { error: text, checkAt });
    }
  }
  return (await findAttempt(db, shopId, attemptId))!;
}

/** Only what the provider refuses is refused for good: a shop without keys may have had them when it was asked first. */
async function callCharge(
  deps: PaymentDeps,
  shopId: string,
  attempt: Attempt,
  settings: Settings,
): Promise<ChargedPayment> {
  const { db, loadKey } = deps;
  const { attemptId, orderId, amount, currency } = attempt;
  const sealed = await findChargeToken(db, shopId, attemptId);
  if (!sealed) throw new Error('The token of this charge is gone');
  const token = unseal(await loadKey(), sealed, TOKENS);
  const { provider, account } = await accountOf(deps, shopId, attempt, settings).catch((error: unknown) => {
    throw new Error(errorText(error));
  });
  if (!provider.charge) throw new PaymentRefused('This provider takes no tokens');
  const order = (await findManagedOrder(db, shopId, orderId))!;
  const { orderNumber, locale } = order;
  return inTime(
    provider.charge(
      {
        id: attemptId,
        amount,
        currency,
        orderId,
        orderNumber,
        shopName: textIn(settings.name, locale, settings.defaultLocale) ?? shopId,
        token,
      },
      account,
    ),
  );
}
