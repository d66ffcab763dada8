import { Type, type Static } from 'typebox';
import { findCampaign } from '../../coupons/queries.ts';
import { findCouponRevenue } from '../../coupons/redemption-queries.ts';
import type { Queries } from '../../db/database.ts';
import { toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { findSegment } from '../../people/customers/segments.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { MAX_AUTHOR_LENGTH } from '../pages/save-page.ts';
import { canBecome, mailingOf, sendTime } from './mailing.ts';
import {
  countMailings,
  deleteMailingRow,
  endMailing,
  findMailing,
  findMailings,
  findMailingTexts,
  insertMailing,
  lockMailing,
  pauseMailing,
  replaceMailingTexts,
  resumeMailing,
  scheduleMailing,
  unscheduleMailing,
  updateMailingRow,
  type MailingRow,
} from './queries.ts';
import { MailingAnswer, MailingBody, MailingList, MailingStateBody, MAX_MAILINGS } from './schema.ts';

const { parameters, pageOf } = paging({ standard: 20, maximum: 100 });

const shared = { under: 'manage', tag: 'newsletters', labels: [] } as const;

/** There is no scope for writing newsletters: who makes coupons makes mailings. */
const WRITE = { allOf: ['newsletters_read', 'coupons_write'] } as const;
const params = Type.Object({ mailingId: Id });

export const listMailings = operation({
  ...shared,
  method: 'GET',
  path: '/mailings',
  name: 'listMailings',
  summary: 'List mailings',
  description: 'What was, or will be, sent to the subscribers of newsletters; the newest first.',
  access: 'newsletters_read',
  query: Type.Object(parameters),
  answer: MailingList,
});

export const getMailing = operation({
  ...shared,
  method: 'GET',
  path: '/mailings/:mailingId',
  name: 'getMailing',
  summary: 'Get mailing',
  description: 'With its content, how far sending has come, and what came of it.',
  access: 'newsletters_read',
  params,
  answer: MailingAnswer,
});

export const createMailing = operation({
  ...shared,
  method: 'POST',
  path: '/mailings',
  name: 'createMailing',
  summary: 'Create mailing',
  description: 'It is a draft until it is scheduled.',
  access: WRITE,
  body: MailingBody,
  status: 201,
  answer: MailingAnswer,
});

export const updateMailing = operation({
  ...shared,
  method: 'PUT',
  path: '/mailings/:mailingId',
  name: 'updateMailing',
  summary: 'Update mailing',
  description: 'Replaces a draft in all its languages. 409: it is no draft.',
  access: WRITE,
  params,
  body: MailingBody,
  answer: MailingAnswer,
});

export const deleteMailing = operation({
  ...shared,
  method: 'DELETE',
  path: '/mailings/:mailingId',
  name: 'deleteMailing',
  summary: 'Delete mailing',
  description: 'A draft, or one that is over, with its results. 409: it is under way.',
  access: WRITE,
  params,
  status: 204,
});

export const setMailingState = operation({
  ...shared,
  method: 'PUT',
  path: '/mailings/:mailingId/state',
  name: 'setMailingState',
  summary: 'Set mailing state',
  description:
    'Schedules a mailing, takes it back, pauses it, lets it go on, or cancels it. 409: that is not possible in its present state.',
  access: WRITE,
  params,
  body: MailingStateBody,
  answer: MailingAnswer,
});

/** The mailings of a shop. */
export function mailings(api: Operations): void {
  api.read(listMailings, async ({ db, shopId, query }) => {
    const range = pageOf(query);
    const [results, rows] = await Promise.all([countMailings(db, shopId), findMailings(db, shopId, range)]);
    return paged(
      range,
      results,
      rows.map((row) => ({ ...fieldsOf(row), texts: row.texts })),
    );
  });

  api.read(getMailing, async ({ db, shopId, params: { mailingId } }) => {
    const mailing = await loadMailing(db, shopId, mailingId);
    if (!mailing) throw notFound();
    return mailing;
  });

  api.write(createMailing, async ({ tx, shopId, body, caller, created }) => {
    const mailing = mailingOf(body, await shopSettings(tx, shopId));
    await requireReferences(tx, shopId, mailing);
    if ((await countMailings(tx, shopId)) >= MAX_MAILINGS)
      throw new Refusal('TOO_MANY_MAILINGS', { limit: MAX_MAILINGS });
    const mailingId = newId(tx.now);
    const author = (caller.app?.name ?? '').slice(0, MAX_AUTHOR_LENGTH);
    await insertMailing(tx, shopId, mailingId, mailing, author);
    await replaceMailingTexts(tx, shopId, mailingId, mailing.texts);
    created({ mailingId });
    return (await loadMailing(tx, shopId, mailingId))!;
  });

  api.write(updateMailing, async ({ tx, shopId, params: { mailingId }, body }) => {
    const locked = await lockMailing(tx, shopId, mailingId);
    if (!locked) throw notFound();
    if (locked.state !== 'draft') throw new Refusal('MAILING_NOT_DRAFT');
    const mailing = mailingOf(body, await shopSettings(tx, shopId));
    await requireReferences(tx, shopId, mailing);
    await updateMailingRow(tx, shopId, mailingId, mailing);
    await replaceMailingTexts(tx, shopId, mailingId, mailing.texts);
    return (await loadMailing(tx, shopId, mailingId))!;
  });

  api.write(deleteMailing, async ({ tx, shopId, params: { mailingId } }) => {
    const locked = await lockMailing(tx, shopId, mailingId);
    if (!locked) throw notFound();
    // Without the row, nothing would keep the next mailing from being sent sooner than the bound allows.
    const isPaced = locked.pacedUntil !== null && locked.pacedUntil > tx.now;
    if (isPaced || ['scheduled', 'sending', 'paused'].includes(locked.state))
      throw new Refusal('MAILING_UNDER_WAY');
    await deleteMailingRow(tx, shopId, mailingId);
  });

  api.write(setMailingState, async ({ tx, shopId, params: { mailingId }, body: { state, sendAt } }) => {
    const locked = await lockMailing(tx, shopId, mailingId);
    if (!locked) throw notFound();
    if (!canBecome(locked.state, state)) throw new Refusal('MAILING_STATE_NOT_POSSIBLE');
    if (state === 'scheduled' || state === 'sending') {
      const { publicCatalogue, isSuspended, emailsFrozen } = await shopSettings(tx, shopId);
      if (emailsFrozen !== null) throw new Refusal('EMAILS_FROZEN');
      // Nobody could unsubscribe.
      if (isSuspended || !publicCatalogue) throw new Refusal('MAILING_SHOP_NOT_PUBLIC');
    }
    switch (state) {
      case 'scheduled':
        await scheduleMailing(tx, shopId, mailingId, sendTime(sendAt, tx.now));
        break;
      case 'draft':
        await unscheduleMailing(tx, shopId, mailingId);
        break;
      case 'paused':
        await pauseMailing(tx, shopId, mailingId);
        break;
      case 'sending':
        await resumeMailing(tx, shopId, mailingId);
        break;
      case 'cancelled':
        await endMailing(tx, shopId, mailingId, 'cancelled');
    }
    return (await loadMailing(tx, shopId, mailingId))!;
  });
}

async function requireReferences(
  db: Queries,
  shopId: string,
  { segmentId, couponCampaignId }: { segmentId: string | null; couponCampaignId: string | null },
): Promise<void> {
  if (segmentId !== null && !(await findSegment(db, shopId, segmentId)))
    throw invalid('UNKNOWN_VALUE', 'segmentId');
  if (couponCampaignId !== null && !(await findCampaign(db, shopId, couponCampaignId)))
    throw invalid('UNKNOWN_VALUE', 'couponCampaignId');
}

/** A mailing as the API shows it, with its blocks. */
export async function loadMailing(
  db: Queries,
  shopId: string,
  mailingId: string,
): Promise<Static<typeof MailingAnswer> | undefined> {
  const row = await findMailing(db, shopId, mailingId);
  if (!row) return undefined;
  const { couponCampaignId, startedAt } = row;
  const sold =
    couponCampaignId !== null && startedAt !== null
      ? await findCouponRevenue(db, shopId, couponCampaignId, startedAt)
      : [];
  return {
    ...fieldsOf(row),
    revenue: sold.map(({ currency, orders, revenue }) => ({
      currency,
      orders,
      revenue: toDecimal(revenue, currency),
    })),
    texts: await findMailingTexts(db, shopId, mailingId),
  };
}

const optional = (moment: Date | null) => moment && toSeconds(moment);

function fieldsOf(row: MailingRow) {
  const { mailingId, state, segmentId, couponCampaignId, perHour, problem, author, version } = row;
  const { recipients, sent, skipped, refused, bounced, complained, unsubscribed } = row;
  return {
    mailingId,
    state,
    newsletters: row.newsletterIds,
    segmentId,
    couponCampaignId,
    perHour,
    sendAt: optional(row.sendAt),
    startDate: optional(row.startedAt),
    endDate: optional(row.endedAt),
    problem,
    author,
    version,
    creationDate: toSeconds(row.createdAt),
    lastChangeDate: toSeconds(row.changedAt),
    results: { recipients, sent, skipped, refused, bounced, complained, unsubscribed },
  };
}
