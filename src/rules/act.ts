import type { Transaction } from '../db/database.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { fullKey } from '../fields/value.ts';
import { readableFields, SHOP_RESOURCE_ID, writeFieldValues, type FieldedThing } from '../fields/values.ts';
import { settingsChanged } from '../fields/definitions.ts';
import { touchProducts } from '../catalogue/products/product-events.ts';
import { refreshFacets } from '../catalogue/products/product-fields.ts';
import { lockProduct } from '../catalogue/products/queries.ts';
import { saveProduct } from '../catalogue/products/save-product.ts';
import { lockCustomer } from '../people/customers/queries.ts';
import { changeTags } from '../people/customers/tags.ts';
import { changeOrder, lockOrder } from '../orders/change.ts';
import { MAX_NOTE_LENGTH } from '../orders/patch.ts';
import { tagOrder } from '../orders/tags.ts';
import { recordEvents } from '../platform/events/log.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { queueJobs } from '../platform/jobs/queue.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { CALL_QUEUE, type QueuedCall } from './calls.ts';
import { filledText } from './decide.ts';
import { ruleCustomerEmail, ruleEmail } from './email.ts';
import type { RuleThing } from './facts.ts';
import { toFieldValue } from './field-value.ts';
import { countOpenTasks, insertTask } from './task-queries.ts';
import { SKIPPED, type SkipCode } from './reasons.ts';
import {
  MAX_SUBJECT_LENGTH,
  MAX_TASK_LENGTH,
  MAX_RULE_TEXT_LENGTH,
  type Action,
  type ActionResult,
} from './schema.ts';

export const MAX_OPEN_TASKS = 1_000;

export interface RunContext {
  tx: Transaction;
  settings: Settings;
  ruleId: string;
  ruleName: string;
  runId: string;
  /** Of its event; null: a schedule. */
  position: number | null;
  thing: RuleThing;
}

/** Does what an action says, in the transaction of the run. Throws when it can't be done. */
export async function act(context: RunContext, action: Action, index: number): Promise<ActionResult> {
  const { kind } = action;
  const done: ActionResult = { kind, outcome: 'done', note: null };
  const skipped = (code: SkipCode): ActionResult => ({ kind, outcome: 'skipped', code, note: SKIPPED[code] });
  const { tx, settings, thing } = context;
  const { shopId } = settings;
  const text = (maxLength: number) => filledText(action.text ?? '', thing.facts, maxLength);
  switch (kind) {
    case 'tagOrder': {
      await lockedOrder(context);
      const isNew = await tagOrder(tx, shopId, thing.resourceId!, action.text!.trim());
      return isNew ? done : skipped('ORDER_HAS_TAG');
    }
    case 'tagCustomer': {
      if (!thing.customer) return skipped('CUSTOMER_ERASED');
      const customerIds = [thing.customer.customerId];
      const changed = await changeTags(tx, shopId, { customerIds, add: [action.text!.trim()], remove: [] });
      return changed > 0 ? done : skipped('CUSTOMER_HAS_TAG');
    }
    case 'email':
      return (await sendEmail(context, action, text(MAX_RULE_TEXT_LENGTH)))
        ? done
        : skipped('CUSTOMER_WITHOUT_EMAIL');
    case 'call': {
      const { ruleId, runId, position } = context;
      const content: QueuedCall = { shopId, ruleId, runId, index, position };
      await queueJobs(tx, shopId, CALL_QUEUE, [{ id: newId(tx.now), content }]);
      return { kind, outcome: 'waiting', note: null };
    }
    case 'setField':
      await setField(context, action);
      return done;
    case 'hideProduct':
    case 'showProduct':
      return (await showProduct(context, kind === 'showProduct'))
        ? done
        : skipped(kind === 'showProduct' ? 'PRODUCT_SHOWN' : 'PRODUCT_HIDDEN');
    case 'note': {
      const order = await lockedOrder(context);
      const internalNote = [order.internalNote, text(MAX_RULE_TEXT_LENGTH)].filter(Boolean).join('\n');
      if (internalNote.length > MAX_NOTE_LENGTH) return skipped('NOTE_FULL');
      await changeOrder(tx, shopId, order, { internalNote });
      return done;
    }
    case 'task':
      await addTask(context, text(MAX_TASK_LENGTH));
      return done;
  }
}

async function lockedOrder({ tx, settings, thing }: RunContext) {
  const order = await lockOrder(tx, settings.shopId, thing.resourceId!);
  if (!order) throw notFound();
  return order;
}

/** false: the customer has no address. */
async function sendEmail(
  { tx, settings, ruleName, thing }: RunContext,
  action: Action,
  text: string,
): Promise<boolean> {
  const { shopId } = settings;
  const { resource, resourceId, customer } = thing;
  const subject = filledText(action.subject ?? '', thing.facts, MAX_SUBJECT_LENGTH);
  const customerId = customer?.customerId ?? null;
  const facts = { subject, text, rule: ruleName, resource, resourceId, customerId };
  if (action.to === 'shop') {
    await queueEmails(tx, shopId, ruleEmail, [{ to: settings.email, locale: settings.defaultLocale, facts }]);
    return true;
  }
  if (!customer?.email) return false;
  await queueEmails(tx, shopId, ruleCustomerEmail, [{ to: customer.email, locale: customer.locale, facts }]);
  return true;
}

/** Hides or shows it; false: it is so already. */
async function showProduct({ tx, settings, thing }: RunContext, visible: boolean): Promise<boolean> {
  const { shopId } = settings;
  const product = await lockProduct(tx, shopId, thing.resourceId!);
  if (!product) throw notFound();
  if (product.visible === visible) return false;
  await saveProduct(tx, shopId, product, { ...product, visible });
  return true;
}

async function setField(context: RunContext, { field: name, value }: Action): Promise<void> {
  const { tx } = context;
  const { shopId } = context.settings;
  const thing = await lockFielded(context);
  // Read after the lock: a field that has become a filter meanwhile is brought into the lists by this or by the rebuild.
  const settings = await shopSettings(tx, shopId);
  const field = readableFields(settings, thing.resource, 'merchant').find((one) => fullKey(one) === name);
  // Variations have fields of their own.
  if (!field) throw new Refusal('RULE_CONTRADICTORY', { problem: `there is no custom field ${name}` });
  const given = toFieldValue(field, value ?? '', settings);
  const written = await writeFieldValues(tx, settings, thing, 'merchant', { [fullKey(field)]: given });
  await refreshFacets(tx, shopId, thing.owner.resourceId, written);
}

/** Locks what has the field, and publishes that it changes. */
async function lockFielded(context: RunContext): Promise<FieldedThing> {
  const { tx, settings, thing } = context;
  const { shopId } = settings;
  const resourceId = thing.resourceId ?? SHOP_RESOURCE_ID;
  switch (thing.resource) {
    case 'order':
      await changeOrder(tx, shopId, await lockedOrder(context), {}, { also: ['customFields'] });
      return { resource: 'order', owner: { resourceId, orderId: resourceId } };
    case 'product': {
      const product = await lockProduct(tx, shopId, resourceId);
      if (!product) throw notFound();
      await touchProducts(tx, shopId, [resourceId], ['customFields']);
      const resource = product.kind === 'variation' ? 'variation' : 'product';
      return { resource, owner: { resourceId, productId: resourceId } };
    }
    case 'customer':
      if (!(await lockCustomer(tx, shopId, resourceId))) throw notFound();
      return { resource: 'customer', owner: { resourceId, customerId: resourceId } };
    case 'shop':
      await moveSettingsVersion(tx, shopId);
      recordEvents(tx, shopId, [settingsChanged()]);
      return { resource: 'shop', owner: { resourceId } };
  }
}

async function addTask(context: RunContext, text: string): Promise<void> {
  const { tx, settings, ruleId, ruleName, thing } = context;
  const { shopId } = settings;
  if ((await countOpenTasks(tx, shopId)) >= MAX_OPEN_TASKS) {
    throw new Refusal('TOO_MANY_TASKS', { limit: MAX_OPEN_TASKS });
  }
  const { resource, resourceId } = thing;
  await insertTask(tx, shopId, {
    taskId: newId(tx.now),
    createdAt: tx.now,
    text: text.trim() || ruleName,
    resource,
    resourceId,
    ruleId,
  });
}
