import { createHash } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { ValidationError } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import {
  insertCustomer,
  insertNumberedCustomer,
  lockCustomer,
  updateCustomerGroup,
  updateCustomerRow,
} from '../../people/customers/queries.ts';
import { MAX_CUSTOMER_NOTE_LENGTH } from '../../people/customers/schema.ts';
import { changeTags, MAX_TAG_LENGTH, MAX_TAGS } from '../../people/customers/tags.ts';
import { findSubscribedIds, setSubscriptions } from '../../people/newsletters/queries.ts';
import { ADDRESS_FIELDS, Address, toAddress, type AddressField } from '../../shops/countries/address.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import {
  matchCustomers,
  findRecords,
  saveRecords,
  type MatchedCustomer,
  type StoredRecord,
} from '../queries.ts';
import type { CustomerRecord, Read } from '../records.ts';
import { batches, hashOf, type ImportRun } from '../run.ts';

const BATCH = { records: 250, characters: 2_000_000 };

/** Customers with their addresses, tags, groups and consents. */
export async function writeCustomers(
  run: ImportRun,
  records: AsyncIterable<Read<CustomerRecord>>,
): Promise<void> {
  const { db, shopId, source } = run;
  for await (const batch of batches(run, records, BATCH)) {
    const settings = await shopSettings(db, shopId);
    const sourceIds = batch.map(({ sourceId }) => sourceId);
    const stored = await findRecords(db, shopId, { source, kind: 'customer', sourceIds });
    const emails = batch.flatMap(({ address }) => address.emailAddress?.toLowerCase() ?? []);
    const found = await matchCustomers(db, shopId, {
      ids: [...stored.values()].map(({ targetId }) => targetId),
      emails,
    });
    const planned = planBatch(run, batch, stored, found);
    if (run.isCheck || planned.length === 0) continue;
    await db.transaction(async (tx) => {
      const written: StoredRecord[] = [];
      for (const one of planned) written.push(await writeCustomer(run, tx, settings, one));
      await saveRecords(tx, shopId, { source, kind: 'customer', records: written });
    });
  }
}

interface PlannedCustomer {
  record: CustomerRecord;
  hash: string;
  address: Address;
  /** The customer here; undefined: a new one. */
  customerId: string | undefined;
}

function planBatch(
  { report }: ImportRun,
  batch: readonly CustomerRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
  found: readonly MatchedCustomer[],
): PlannedCustomer[] {
  const byId = new Map(found.map((customer) => [customer.customerId, customer]));
  const byEmail = new Map<string, string>();
  for (const { email, customerId } of found) {
    if (email !== null && !byEmail.has(email)) byEmail.set(email, customerId);
  }
  const seen = new Set<string>();
  return batch.flatMap((record): PlannedCustomer[] => {
    const { sourceId, place, address: given } = record;
    const hash = hashOf(record);
    const email = given.emailAddress?.toLowerCase() ?? '';
    const name = email || sourceId;
    const line = (text: string) => ({ kind: 'customer' as const, place, name, text });
    const keep = (text: string) => {
      report.count('customer', 'kept');
      report.add(line(text));
      return [];
    };
    const { address, dropped } = readableAddress(given);
    if (dropped.length > 0) report.add(line(`left out what is not readable: ${dropped.join(', ')}`));
    const known = stored.get(sourceId);
    if (!known) {
      const present = byEmail.get(email);
      if (email !== '' && (present !== undefined || seen.has(email))) {
        return keep('is a customer with this email address already');
      }
      if (email !== '') seen.add(email);
      report.count('customer', 'created');
      return [{ record, hash, address, customerId: undefined }];
    }
    const present = byId.get(known.targetId);
    if (!present) return keep('was deleted here');
    if (known.sourceHash === hash) {
      report.count('customer', 'unchanged');
      return [];
    }
    if (known.targetHash !== addressHash(present.billingAddress)) return keep('was edited here');
    report.count('customer', 'changed');
    return [{ record, hash, address, customerId: present.customerId }];
  });
}

/** Of an address as it is stored, whatever the order of its keys. */
function addressHash(address: unknown): string {
  const fields = address as Partial<Address> | null;
  const values = ADDRESS_FIELDS.map((name) => fields?.[name] ?? null);
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

const limitOf = (name: AddressField) => (Address.properties[name] as { maxLength?: number }).maxLength ?? 255;

/** The address without what this shop could not store, and the names of these fields. */
export function readableAddress(given: Partial<Address>): { address: Address; dropped: string[] } {
  const dropped: string[] = [];
  const taken: Partial<Address> = {};
  for (const name of ADDRESS_FIELDS) {
    const value = given[name]?.trim() ?? '';
    if (value === '') continue;
    if (value.length <= limitOf(name)) taken[name] = value;
    else dropped.push(name);
  }
  for (;;) {
    try {
      return { address: toAddress(taken, ''), dropped };
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      for (const { field } of error.problems) {
        dropped.push(field);
        delete taken[field as AddressField];
      }
    }
  }
}

async function writeCustomer(
  { shopId, report }: ImportRun,
  tx: Transaction,
  settings: Settings,
  { record, hash, address, customerId: present }: PlannedCustomer,
): Promise<StoredRecord> {
  const { sourceId, number, createdAt, tags, group, note, newsletter, place } = record;
  const line = (text: string) => ({
    kind: 'customer' as const,
    place,
    name: address.emailAddress ?? sourceId,
    text,
  });
  const values = {
    billingAddress: address,
    internalNote: note === '' ? null : note.slice(0, MAX_CUSTOMER_NOTE_LENGTH),
  };
  let customerId = present;
  if (customerId === undefined) {
    const then = { ...tx, now: createdAt ?? tx.now };
    const row = { customerId: newId(tx.now), ...values };
    const named =
      number === ''
        ? undefined
        : await insertCustomer(then, shopId, { ...row, customerNumber: number.slice(0, 64) });
    if (number !== '' && !named) report.add(line(`got another number, because ${number} is taken`));
    ({ customerId } = named ?? (await insertNumberedCustomer(then, shopId, row)));
  } else {
    const row = (await lockCustomer(tx, shopId, customerId))!;
    await updateCustomerRow(tx, shopId, { ...row, ...values });
  }
  const kept = tags.map((tag) => tag.slice(0, MAX_TAG_LENGTH)).slice(0, MAX_TAGS);
  if (kept.length < tags.length) report.add(line(`has more than ${MAX_TAGS} tags`));
  if (kept.length > 0) await changeTags(tx, shopId, { customerIds: [customerId], add: kept, remove: [] });
  if (group !== '') {
    const known = settings.customerGroups.find(({ name }) => name.toLowerCase() === group.toLowerCase());
    if (known) await updateCustomerGroup(tx, shopId, customerId, known.customerGroupId);
    else report.add(line(`the group ${group} does not exist here`));
  }
  if (newsletter)
    await subscribe(tx, settings, address.emailAddress, newsletter.since, (text) => report.add(line(text)));
  return {
    sourceId,
    targetId: customerId,
    sourceHash: hash,
    targetHash: addressHash(address),
    importedAt: tx.now,
  };
}

/** A consent needs its date: without one it would be invented. */
async function subscribe(
  tx: Transaction,
  { shopId, newsletterCampaigns }: Settings,
  email: string | null,
  since: Date | undefined,
  report: (text: string) => void,
): Promise<void> {
  if (email === null) return;
  const [campaign] = newsletterCampaigns;
  if (!since) return report('the consent to newsletters has no date, and is left out');
  if (!campaign) return report('the shop has no newsletter to subscribe to');
  const key = email.toLowerCase();
  const present = await findSubscribedIds(tx, shopId, key);
  const campaignIds = [...new Set([...present, campaign.campaignId])];
  await setSubscriptions({ ...tx, now: since }, shopId, key, campaignIds);
}
