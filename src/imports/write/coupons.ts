import { createHash } from 'node:crypto';
import {
  couponKey,
  LAST_MOMENT,
  MAX_CODE_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  MAX_CAMPAIGN_NAME_LENGTH,
  MAX_USES,
  type Campaign,
} from '../../coupons/campaign.ts';
import { insertCampaign, insertCoupons, lockCampaign, replaceCampaigns } from '../../coupons/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { toMinor } from '../../kernel/money.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { matchProducts, findRecords, saveRecords, type StoredRecord } from '../queries.ts';
import type { CouponRecord, Read } from '../records.ts';
import { batches, hashOf, type ImportRun } from '../run.ts';

const BATCH = { records: 100, characters: 2_000_000 };
/** Products that a campaign may name, as in the API. */
const MAX_PRODUCTS = 1_000;

/**
 * Coupons with their terms. One whose limits can't be kept here is refused: without them it would be worth more than
 * the merchant has promised.
 */
export async function writeCoupons(
  run: ImportRun,
  records: AsyncIterable<Read<CouponRecord>>,
): Promise<void> {
  const { db, shopId, source, report } = run;
  for await (const batch of batches(run, records, BATCH)) {
    const settings = await shopSettings(db, shopId);
    const sourceIds = batch.map(({ sourceId }) => sourceId);
    const stored = await findRecords(db, shopId, { source, kind: 'coupon', sourceIds });
    const productIds = await productsOf(run, batch);
    const readable = batch.flatMap((record) => {
      const { kind, place, codes, sourceId } = record;
      const known = stored.get(sourceId);
      if (known?.sourceHash === hashOf(record)) {
        report.count('coupon', 'unchanged');
        return [];
      }
      const terms = termsOf(record, settings, productIds);
      if (typeof terms !== 'string') return [{ record, terms, known }];
      report.refuse({ kind, place, name: codes[0] ?? sourceId, text: terms });
      return [];
    });
    if (run.isCheck) {
      for (const { record, known } of readable) {
        report.count('coupon', known ? 'changed' : 'created');
        addRemarks(run, record);
      }
    } else if (readable.length > 0) {
      await db.transaction(async (tx) => {
        const written: StoredRecord[] = [];
        for (const one of readable) {
          const saved = await writeCoupon(run, tx, one);
          if (saved) written.push(saved);
        }
        await saveRecords(tx, shopId, { source, kind: 'coupon', records: written });
      });
    }
  }
}

const addRemarks = ({ report }: ImportRun, { kind, place, codes, remarks }: CouponRecord) => {
  for (const text of remarks) report.add({ kind, place, name: codes[0] ?? '', text });
};

/** The products here by their ids there and by their numbers. */
async function productsOf(
  { db, shopId, source }: ImportRun,
  batch: readonly CouponRecord[],
): Promise<Map<string, string>> {
  const named = [...new Set(batch.flatMap(({ products }) => products ?? []))];
  if (named.length === 0) return new Map();
  const records = await findRecords(db, shopId, { source, kind: 'product', sourceIds: named });
  const found = await matchProducts(db, shopId, {
    ids: [...records.values()].map(({ targetId }) => targetId),
    numbers: named,
  });
  const present = new Set(found.map(({ productId }) => productId));
  return new Map([
    ...found.map(({ productNumber, productId }) => [productNumber, productId] as const),
    ...[...records].flatMap(([sourceId, { targetId }]) =>
      present.has(targetId) ? [[sourceId, targetId] as const] : [],
    ),
  ]);
}

type Terms = Omit<Campaign, 'campaignId'>;

/** A text says why the coupon can't be taken. */
function termsOf(
  { codes, name, type, amount, minimum, products, ...record }: CouponRecord,
  { currencies, defaultCurrency, defaultLocale }: Settings,
  productIds: ReadonlyMap<string, string>,
): Terms | string {
  const [first] = codes;
  if (first === undefined) return 'has no code';
  if (codes.some((code) => code.length > MAX_CODE_LENGTH || code.trim() === ''))
    return `has a code that is empty or longer than ${MAX_CODE_LENGTH} characters`;
  const currency = record.currency || defaultCurrency;
  if (!currencies.includes(currency)) return `is in ${currency}, which this shop does not take`;
  const value = type === 'PERCENT' ? Math.round(Number(amount) * 100) : toMinor(amount, currency);
  if (type !== 'SHIPPING' && !(value !== undefined && value > 0))
    return `has the value ${JSON.stringify(amount)}`;
  if (type === 'PERCENT' && value! > 10_000) return 'takes off more than 100 %';
  const minOrder = minimum === '' ? null : toMinor(minimum, currency);
  if (minOrder === undefined || (minOrder !== null && minOrder < 0))
    return `has the minimum order value ${JSON.stringify(minimum)}`;
  const [usageLimit, campaignUsageLimit] = [usesIn(record.usesPerCode), usesIn(record.uses)];
  if (usageLimit === 0 || campaignUsageLimit === 0) return 'is used up';
  const { validFrom = null, validTo = null } = record;
  if (validTo && validFrom && validTo < validFrom) return 'ends before it begins';
  const known = products?.flatMap((id) => productIds.get(id) ?? []);
  if (known && known.length < products!.length) {
    const missing = products!.find((id) => !productIds.has(id));
    return `holds for the product ${missing} only, which is not here`;
  }
  if (known && known.length > MAX_PRODUCTS) return `holds for more than ${MAX_PRODUCTS} products`;
  return {
    identifier: identifierOf(codes.length === 1 ? first : name || first),
    name: { [defaultLocale]: oneLine(name || first).slice(0, MAX_CAMPAIGN_NAME_LENGTH) },
    currency,
    kind: type,
    amount: type === 'SHIPPING' ? null : value!,
    waiveShippingCosts: type === 'SHIPPING' || record.isShippingFree,
    minimumOrderValue: minOrder === 0 ? null : minOrder,
    usageLimit,
    campaignUsageLimit,
    validFrom,
    validTo: validTo && validTo > LAST_MOMENT ? LAST_MOMENT : validTo,
    productIds: known ?? null,
    shippingMethodIds: null,
    paymentMethodIds: null,
  };
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const identifierOf = (text: string) => oneLine(text).slice(0, MAX_IDENTIFIER_LENGTH);

const usesIn = (text: string): number | null =>
  text === '' ? null : Math.min(Math.max(0, Math.trunc(Number(text)) || 0), MAX_USES);

async function writeCoupon(
  run: ImportRun,
  tx: Transaction,
  { record, terms, known }: { record: CouponRecord; terms: Terms; known: StoredRecord | undefined },
): Promise<StoredRecord | undefined> {
  const { shopId, report } = run;
  const { kind, place, codes, sourceId } = record;
  const keep = (text: string) => {
    report.count('coupon', 'kept');
    report.add({ kind, place, name: codes[0]!, text });
    return undefined;
  };
  const present = known && (await lockCampaign(tx, shopId, known.targetId));
  if (known && !present) return keep('was deleted here');
  if (known && present && hashOfTerms(present) !== known.targetHash) return keep('was edited here');
  const campaign: Campaign = {
    ...terms,
    campaignId: present?.campaignId ?? newId(tx.now),
    ...(present && { identifier: present.identifier, name: { ...present.name, ...terms.name } }),
  };
  if (present) await replaceCampaigns(tx, shopId, [campaign]);
  else if (!(await insertCampaign(tx, shopId, campaign)))
    return keep(`there is a coupon campaign ${campaign.identifier} already`);
  report.count('coupon', present ? 'changed' : 'created');
  const keys = new Map(codes.map((code) => [couponKey(code), code.trim()]));
  const added = await insertCoupons(
    tx,
    shopId,
    campaign.campaignId,
    [...keys].map(([codeKey, code]) => ({ codeKey, code })),
  );
  if (!present && added.length < keys.size) {
    const text = `${keys.size - added.length} of its codes exist here already`;
    report.add({ kind, place, name: codes[0]!, text });
  }
  addRemarks(run, record);
  return {
    sourceId,
    targetId: campaign.campaignId,
    sourceHash: hashOf(record),
    targetHash: hashOfTerms(campaign),
    importedAt: tx.now,
  };
}

/** Of what an edit here changes. */
function hashOfTerms({ campaignId: _id, name, ...terms }: Campaign): string {
  const names = Object.entries(name).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const ids = terms.productIds?.map((id) => id.toUpperCase()) ?? null;
  const values = Object.entries({ ...terms, productIds: ids }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return createHash('sha256')
    .update(JSON.stringify([names, values]))
    .digest('hex');
}
