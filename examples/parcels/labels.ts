import type { Address, KontorClient, Order } from '@kontor/client';
import { SendcloudProblem, type Return, type Sendcloud, type SendcloudAddress } from './sendcloud.ts';
import type { Data, Job, Store } from './store.ts';

/** What the merchant has typed into the fields of the app. */
export interface Settings {
  publicKey: string;
  secretKey: string;
  options: string;
  returnOption: string;
  name: string;
  street: string;
  houseNumber: string;
  zipCode: string;
  city: string;
  country: string;
}

export interface LabelDeps {
  clientId: string;
  shop: KontorClient;
  sendcloud: Sendcloud;
  settings: Settings;
  store: Store;
}

export interface LabelRequest {
  orderId: string;
  kind: Job['kind'];
  /** Which label of its kind it is: a page that is sent twice asks for the same one. */
  number: number;
  option: string;
  parcels: number[];
}

/** What is asked for can't be done; the text is for the merchant. */
export class LabelProblem extends Error {
  override readonly name = 'LabelProblem';
}

export const MAX_PARCELS = 15;
const MAX_LABELS = 50;

/** One after the other for each order, because a label costs money. */
const queues = new Map<string, Promise<unknown>>();

/** Makes a label, or goes on with one whose answer was lost. */
export function makeLabel(deps: LabelDeps, asked: LabelRequest): Promise<Job> {
  const before = queues.get(asked.orderId) ?? Promise.resolve();
  const made = before.catch(() => {}).then(() => makeNext(deps, asked));
  queues.set(asked.orderId, made);
  const leave = () => {
    if (queues.get(asked.orderId) === made) queues.delete(asked.orderId);
  };
  made.then(leave, leave);
  return made;
}

async function makeNext(deps: LabelDeps, asked: LabelRequest): Promise<Job> {
  const path = { orderId: asked.orderId };
  const order = await deps.shop.GET('/rs/shops/{shopId}/orders/{orderId}', { params: { path } });
  const known = jobOf(deps, asked);
  const job = known ?? (await storeJob(deps, asked, order));
  const made = job.made ? job : await askSendcloud(deps, job, { order, isNew: known === undefined });
  return made.isRecorded || made.kind === 'return' ? made : recordShipment(deps, made);
}

const jobOf = ({ store, clientId }: LabelDeps, { orderId, kind, number }: LabelRequest) =>
  store.data.jobs.find(
    (job) =>
      job.clientId === clientId && job.orderId === orderId && job.kind === kind && job.number === number,
  );

/** Before Sendcloud hears of it: a process that ends now leaves the reference behind. */
async function storeJob(deps: LabelDeps, asked: LabelRequest, order: Order): Promise<Job> {
  // Nothing is stored for an address that lacks something.
  customerAddress(order.shippingAddress ?? order.billingAddress);
  const { clientId, store } = deps;
  const { orderId, kind, number, option, parcels } = asked;
  const known = store.data.jobs.filter(
    (job) => job.clientId === clientId && job.orderId === orderId && job.kind === kind,
  );
  if (number !== known.length + 1 || number > MAX_LABELS) {
    throw new LabelProblem('The labels of this order have changed. Load the page again.');
  }
  const unfinished = known.find((job) => !job.made);
  if (unfinished) throw new LabelProblem('The label before this one is not finished. Load the page again.');
  const reference = `${order.orderNumber}-${orderId.slice(-12)}-${kind === 'return' ? 'R' : 'S'}${number}`;
  const askedAt = new Date().toISOString();
  const job: Job = {
    clientId,
    orderId,
    kind,
    number,
    reference,
    option,
    parcels,
    askedAt,
    isRecorded: false,
  };
  await store.change((data) => ({ ...data, jobs: [...data.jobs, job] }));
  return job;
}

async function askSendcloud(
  deps: LabelDeps,
  job: Job,
  { order, isNew }: { order: Order; isNew: boolean },
): Promise<Job> {
  const { sendcloud, settings, store } = deps;
  const customer = customerAddress(order.shippingAddress ?? order.billingAddress);
  try {
    const made =
      job.kind === 'shipment'
        ? await announced(sendcloud, job, order, customer, settings)
        : await returned(sendcloud, job, customer, settings);
    return await replaceJob(store, { ...job, made });
  } catch (error) {
    // Once refused, it can be asked for with other values. What was asked for before may have been made then.
    if (error instanceof SendcloudProblem && error.isFinal && isNew) await removeJob(store, job);
    throw error;
  }
}

async function replaceJob(store: Store, job: Job): Promise<Job> {
  const jobs = (data: Data) => data.jobs.map((one) => (isSame(one, job) ? job : one));
  await store.change((data) => ({ ...data, jobs: jobs(data) }));
  return job;
}

function removeJob(store: Store, job: Job): Promise<void> {
  return store.change((data) => ({ ...data, jobs: data.jobs.filter((one) => !isSame(one, job)) }));
}

const isSame = (one: Job, other: Job) => one.clientId === other.clientId && one.reference === other.reference;

async function announced(
  sendcloud: Sendcloud,
  { reference, option, parcels }: Job,
  { orderNumber }: Order,
  to: SendcloudAddress,
  settings: Settings,
): Promise<NonNullable<Job['made']>> {
  const shipment = await sendcloud.announce({
    external_reference_id: reference,
    order_number: orderNumber,
    from_address: ownAddress(settings),
    to_address: to,
    ship_with: { type: 'shipping_option_code', properties: { shipping_option_code: option } },
    parcels: parcels.map((grams) => ({ weight: { value: kilos(grams), unit: 'kg' } })),
  });
  return {
    carrier: shipment.carrier.name,
    parcels: shipment.parcels.map(({ tracking_number, tracking_url, documents }) => ({
      trackingNumber: tracking_number ?? '',
      trackingUrl: tracking_url ?? '',
      link: documents.find(({ type }) => type === 'label')?.link ?? '',
    })),
  };
}

/** Sendcloud makes a return each time it is asked, so one that was asked for before is looked for. */
async function returned(
  sendcloud: Sendcloud,
  { reference, option, parcels, askedAt }: Job,
  from: SendcloudAddress,
  settings: Settings,
): Promise<NonNullable<Job['made']>> {
  const since = new Date(Date.parse(askedAt) - 60_000);
  const known = await sendcloud.returns(since);
  const found =
    known.find(({ order_number }) => order_number === reference) ??
    (await sendcloud.createReturn({
      order_number: reference,
      external_reference: reference,
      from_address: from,
      to_address: ownAddress(settings),
      ship_with: { type: 'shipping_option_code', shipping_option_code: option },
      weight: { value: Number(kilos(sum(parcels))), unit: 'kg' },
    }));
  return { carrier: 'Sendcloud', parcels: [returnParcel(found)] };
}

const returnParcel = ({ tracking_number, tracking_url, label }: Return) => ({
  trackingNumber: tracking_number ?? '',
  trackingUrl: tracking_url ?? '',
  link: label?.normal_printer[0] ?? '',
});

/** The customer gets an email with the code and the page of each parcel. With its key it happens once. */
async function recordShipment({ shop, store }: LabelDeps, job: Job): Promise<Job> {
  const { carrier, parcels } = job.made!;
  const path = { orderId: job.orderId };
  const { management } = await shop.GET('/manage/shops/{shopId}/orders/{orderId}', { params: { path } });
  // Everything is sent: a second label of an order is for a parcel more, which the shop can't record.
  const isOpen = management.state === 'readyToShip' || management.state === 'partlyShipped';
  if (isOpen) {
    await shop.POST('/manage/shops/{shopId}/orders/{orderId}/shipments', {
      params: { path },
      headers: { 'idempotency-key': job.reference },
      body: {
        carrier,
        parcels: parcels.flatMap(({ trackingNumber: trackingCode, trackingUrl }) =>
          trackingCode === ''
            ? []
            : [{ trackingCode, ...(trackingUrl.startsWith('https://') && { trackingUrl }) }],
        ),
      },
    });
  }
  return replaceJob(store, { ...job, isRecorded: true });
}

function ownAddress({ name, street, houseNumber, zipCode, city, country }: Settings): SendcloudAddress {
  return {
    name,
    address_line_1: street,
    house_number: houseNumber,
    postal_code: zipCode,
    city,
    country_code: country.toUpperCase(),
  };
}

/** Sendcloud takes the number of a house from the end of the line, where it is not said. */
function customerAddress(address: Address): SendcloudAddress {
  const { firstName, lastName, company, street, zipCode, city, country, emailAddress, phoneNumber } = address;
  const missing = Object.entries({ street, zipCode, city, country }).find(([, value]) => !value)?.[0];
  if (missing) throw new LabelProblem(`The address of the customer lacks: ${missing}`);
  const [, name = '', number = ''] = /^(.*?)\s*(\d+\s?\w?)?$/.exec(street!) ?? [];
  return {
    name: [firstName, lastName].filter(Boolean).join(' ') || company || '-',
    ...(company && { company_name: company }),
    address_line_1: name === '' ? street! : name,
    ...(number !== '' && name !== '' && { house_number: number }),
    postal_code: zipCode!,
    city: city!,
    country_code: country!,
    ...(emailAddress && { email: emailAddress }),
    ...(phoneNumber && { phone_number: phoneNumber }),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
export const kilos = (grams: number) => (grams / 1_000).toFixed(3);
