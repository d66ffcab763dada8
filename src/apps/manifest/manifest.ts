import { isDeepStrictEqual } from 'node:util';
import { EVENT_TYPES } from '../../platform/events/types.ts';
import type { Scope } from '../../http/scopes.ts';
import { compileBody } from '../../http/validation.ts';
import {
  ManifestFile,
  MAX_ACTION_ORDERS,
  maxTimeout,
  type AppCall,
  type AppPaymentMethod,
  type CallFailure,
  type CallKind,
  type ManifestText,
  type Manifest,
} from './schema.ts';

/** Why the manifest of an app can't be used. Pages say it in their reader's language, by its reason. */
export class ManifestProblem extends Error {
  override name = 'ManifestProblem';
  readonly reason: ManifestReason;
  /** The place in the manifest, or what was answered, for the developer of the app; '' where the reason says it all. */
  readonly detail: string;

  constructor(reason: ManifestReason, detail = '') {
    super(detail === '' ? REASONS[reason] : `${REASONS[reason]}: ${detail}`.slice(0, 300));
    this.reason = reason;
    this.detail = detail.slice(0, 200);
  }
}

const REASONS = {
  address: 'This is not an address of an app',
  forbidden: 'The address can not be called',
  ownAddress: 'The address is one of this service',
  unreachable: 'The app did not answer in time',
  answer: 'The app has not answered with its manifest',
  redirect: 'The address leads to another host',
  tooLarge: 'The manifest is too large',
  notJson: 'The manifest is not JSON',
  invalid: 'The manifest is not valid',
  otherOrigin: 'The manifest names an address of another host',
  webhookScope: 'A webhook needs a scope that the manifest does not ask for',
  callScope: 'Calls while a customer waits need a scope that the manifest does not ask for',
  icon: 'The icon is not a PNG or JPEG of at most 256 KB',
  register: 'The app has not accepted the registration',
} as const;

export type ManifestReason = keyof typeof REASONS;

export const WELL_KNOWN = '/.well-known/kontor-app.json';

/** The address of the manifest: a host stands for the usual place on it. */
export function manifestAddress(typed: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed.trim()) ? typed.trim() : `https://${typed.trim()}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isWeb || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new ManifestProblem('address');
  }
  return url.pathname === '/' && url.search === '' ? new URL(WELL_KNOWN, url) : url;
}

const DEFAULT_HEIGHT = 240;

/** The manifest in a text that was read from this address. */
export function parseManifest(text: string, from: URL): Manifest {
  const file = checked(text);
  const at = (place: string, address: string) => ownAddress(from, place, address);
  const entries = <Item extends { url: string }>(place: string, items: readonly Item[] = []) =>
    items.map((item, index) => ({ ...item, url: at(`${place}/${index}/url`, item.url) }));
  const manifest: Manifest = {
    name: file.name,
    description: file.description ? texts(file.description) : null,
    icon: file.icon === undefined ? null : at('/icon', file.icon),
    registerUrl: at('/registerUrl', file.registerUrl),
    installUrl: at('/installUrl', file.installUrl),
    scopes: [...new Set(file.scopes)],
    webhooks: entries('/webhooks', file.webhooks).map(({ eventType, url, includeFields }) => ({
      eventType,
      url,
      ...(includeFields && { includeFields }),
    })),
    pages: entries('/pages', file.pages).map(({ name, title, url }) => ({ name, title: texts(title), url })),
    blocks: entries('/blocks', file.blocks).map(({ name, title, url, place, height = DEFAULT_HEIGHT }) => ({
      name,
      title: texts(title),
      url,
      place,
      height,
    })),
    ...(file.storefrontBlocks && {
      storefrontBlocks: entries('/storefrontBlocks', file.storefrontBlocks).map(
        ({ name, title, url, place, height = DEFAULT_HEIGHT }) => ({
          name,
          title: texts(title),
          url,
          place,
          height,
        }),
      ),
    }),
    actions: entries('/actions', file.actions).map(({ name, title, url, maxOrders = MAX_ACTION_ORDERS }) => ({
      name,
      title: texts(title),
      url,
      maxOrders,
    })),
    calls: entries('/calls', file.calls).map((call) => ({
      kind: call.kind,
      url: call.url,
      timeoutMs: call.timeoutMs ?? maxTimeout(call.kind),
      cacheSeconds: call.cacheSeconds ?? 0,
      onFailure: failureOf(call.onFailure),
    })),
    ...(file.paymentMethods && { paymentMethods: file.paymentMethods.map(paymentMethodOf) }),
    settings: (file.settings ?? []).map(({ name, kind, label, hint, choices = [] }) => ({
      name,
      kind,
      label: texts(label),
      hint: hint ? texts(hint) : null,
      choices: choices.map((choice) => ({ value: choice.value, label: texts(choice.label) })),
    })),
  };
  refuseDoubles('/pages', manifest.pages);
  refuseDoubles('/blocks', manifest.blocks);
  refuseDoubles('/storefrontBlocks', manifest.storefrontBlocks ?? []);
  refuseDoubles('/actions', manifest.actions);
  refuseDoubles('/settings', manifest.settings);
  refuseDoubles('/paymentMethods', manifest.paymentMethods ?? []);
  refuseDoubles(
    '/calls',
    manifest.calls.map(({ kind }) => ({ name: kind })),
  );
  checkCalls(manifest);
  checkPayments(manifest);
  const withoutChoices = manifest.settings.find(
    ({ kind, choices }) => kind === 'choice' && choices.length === 0,
  );
  if (withoutChoices)
    throw new ManifestProblem('invalid', `/settings: ${withoutChoices.name} has no choices`);
  for (const { eventType } of manifest.webhooks) {
    const { scope } = EVENT_TYPES[eventType];
    if (scope !== null && !manifest.scopes.includes(scope)) {
      throw new ManifestProblem('webhookScope', `${eventType}: ${scope}`);
    }
  }
  return manifest;
}

/** A call tells the app about a cart, or an order, which is what this scope lets it read. */
const scopeOfCall = (kind: CallKind): Scope => (kind === 'payment' ? 'orders_read' : 'carts_read');

function checkCalls({ calls, scopes }: Manifest): void {
  const slow = calls.find(({ kind, timeoutMs }) => timeoutMs > maxTimeout(kind));
  if (slow) {
    throw new ManifestProblem('invalid', `/calls: ${slow.kind} has at most ${maxTimeout(slow.kind)} ms`);
  }
  const missing = calls.map(({ kind }) => scopeOfCall(kind)).find((scope) => !scopes.includes(scope));
  if (missing) throw new ManifestProblem('callScope', missing);
  const priced = calls.find(
    ({ kind, onFailure }) => kind !== 'deliveryOptions' && typeof onFailure === 'object',
  );
  if (priced) throw new ManifestProblem('invalid', `/calls: ${priced.kind} has no price`);
}

function checkPayments({ calls, paymentMethods = [] }: Manifest): void {
  const call = calls.find(({ kind }) => kind === 'payment');
  if ((call === undefined) !== (paymentMethods.length === 0)) {
    throw new ManifestProblem('invalid', '/paymentMethods and a call of the kind payment need each other');
  }
  // An answer that is known already would be about another payment.
  if (call && (call.cacheSeconds !== 0 || call.onFailure !== 'refuse')) {
    throw new ManifestProblem('invalid', '/calls: payment has no cacheSeconds, and onFailure refuse');
  }
  const unclear = paymentMethods.find(
    ({ currencies, minimum, maximum }) =>
      (minimum !== undefined || maximum !== undefined) && currencies?.length !== 1,
  );
  if (unclear)
    throw new ManifestProblem('invalid', `/paymentMethods: the limits of ${unclear.name} need one currency`);
}

function paymentMethodOf({
  name,
  title,
  currencies,
  countries,
  minimum,
  maximum,
}: AppPaymentMethod): AppPaymentMethod {
  return {
    name,
    title: texts(title),
    ...(currencies && { currencies }),
    ...(countries && { countries }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  };
}

function failureOf(onFailure: CallFailure): CallFailure {
  if (typeof onFailure === 'string') return onFailure;
  const { price, name } = onFailure;
  return { price, ...(name && { name: texts(name) }) };
}

function checked(text: string): ManifestFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new ManifestProblem('notJson');
  }
  const validate = compileBody(ManifestFile);
  if (!validate(file)) {
    const [error] = validate.errors ?? [];
    const { allowedValues } = (error?.params ?? {}) as { allowedValues?: readonly string[] };
    const allowed = allowedValues ? `: ${allowedValues.join(', ')}` : '';
    throw new ManifestProblem(
      'invalid',
      `${error?.instancePath ?? ''} ${error?.message ?? ''}${allowed}`.trim(),
    );
  }
  return file as ManifestFile;
}

/** An app adds only pages of its own host, so that what the merchant has agreed to is all from one place. */
function ownAddress(from: URL, place: string, address: string): string {
  const url = URL.canParse(address, from.href) ? new URL(address, from) : undefined;
  if (url?.origin !== from.origin || url.username !== '' || url.password !== '') {
    throw new ManifestProblem('otherOrigin', place);
  }
  url.hash = '';
  return url.href;
}

function refuseDoubles(place: string, items: readonly { name: string }[]): void {
  const names = items.map(({ name }) => name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new ManifestProblem('invalid', `${place}: ${double} is there twice`);
}

function texts({ en, de, fr }: ManifestText): ManifestText {
  return { en, ...(de !== undefined && { de }), ...(fr !== undefined && { fr }) };
}

/** Whether the merchant must agree again: it asks for something that was not agreed to, or has another name. */
export function asksForMore(agreed: Manifest, read: Manifest): boolean {
  const isKnown = <Item>(known: readonly Item[], items: readonly Item[], key: (item: Item) => string) => {
    const keys = new Set(known.map(key));
    return items.every((item) => keys.has(key(item)));
  };
  const byName = ({ name }: { name: string }) => name;
  return !(
    agreed.name === read.name &&
    isKnown<string>(agreed.scopes, read.scopes, (scope) => scope) &&
    isKnown<{ eventType: string }>(agreed.webhooks, read.webhooks, ({ eventType }) => eventType) &&
    isKnown(agreed.pages, read.pages, byName) &&
    isKnown(agreed.blocks, read.blocks, ({ name, place }) => `${place} ${name}`) &&
    isKnown(
      agreed.storefrontBlocks ?? [],
      read.storefrontBlocks ?? [],
      ({ name, place }) => `${place} ${name}`,
    ) &&
    isKnown(agreed.actions, read.actions, byName) &&
    isKnown(agreed.paymentMethods ?? [], read.paymentMethods ?? [], byName) &&
    read.calls.every((call) => agreed.calls.some((known) => asksNoMore(known, call)))
  );
}

/**
 * What both ask for, as the current one says it, under the name that the earlier one has. Pure. No webhook or call loses
 * the scope that it needs: both manifests have it.
 */
export function withoutMore(earlier: Manifest, current: Manifest): Manifest {
  const inBoth = <Item>(known: readonly Item[], items: readonly Item[], key: (item: Item) => string) => {
    const keys = new Set(known.map(key));
    return items.filter((item) => keys.has(key(item)));
  };
  const byName = ({ name }: { name: string }) => name;
  const byPlace = ({ name, place }: { name: string; place: string }) => `${place} ${name}`;
  const storefrontBlocks = inBoth(earlier.storefrontBlocks ?? [], current.storefrontBlocks ?? [], byPlace);
  const calls = current.calls.filter((call) => earlier.calls.some((known) => asksNoMore(known, call)));
  // Without its call a method can't be paid with, and a call without methods is about nothing.
  const common = inBoth(earlier.paymentMethods ?? [], current.paymentMethods ?? [], byName);
  const paymentMethods = calls.some(({ kind }) => kind === 'payment') ? common : [];
  const { paymentMethods: _all, ...others } = current;
  return {
    ...others,
    name: earlier.name,
    scopes: current.scopes.filter((scope) => earlier.scopes.includes(scope)),
    webhooks: inBoth<{ eventType: string }>(
      earlier.webhooks,
      current.webhooks,
      ({ eventType }) => eventType,
    ) as Manifest['webhooks'],
    pages: inBoth(earlier.pages, current.pages, byName),
    blocks: inBoth(earlier.blocks, current.blocks, byPlace),
    ...(current.storefrontBlocks && { storefrontBlocks }),
    actions: inBoth(earlier.actions, current.actions, byName),
    calls: paymentMethods.length > 0 ? calls : calls.filter(({ kind }) => kind !== 'payment'),
    ...(paymentMethods.length > 0 && { paymentMethods }),
  };
}

/** What happens without an answer decides what customers pay and whether they can order at all. */
function asksNoMore(known: AppCall, call: AppCall): boolean {
  return (
    known.kind === call.kind &&
    known.timeoutMs >= call.timeoutMs &&
    isDeepStrictEqual(known.onFailure, call.onFailure)
  );
}
