import { Type } from 'typebox';
import { inLocales } from '../../apps/calls/app-answer.ts';
import { appLabel } from '../../apps/manifest/installed.ts';
import { inLanguage } from '../../apps/manifest/schema.ts';
import { badRequest, notFound, tooManyRequests } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { isFieldValue, loadFields, saveFields } from '../../orders/payments/accounts.ts';
import { findAppMethods, type AppMethod } from '../../orders/payments/app-methods.ts';
import { accountProblem } from '../../orders/payments/check-account.ts';
import { BANK_ACCOUNT, missingPaymentData } from '../../orders/payments/payment-data.ts';
import {
  isProviderName,
  PROVIDER_LABELS,
  providerOf,
  type ProviderMethod,
  type Providers,
} from '../../orders/payments/providers.ts';
import type { PaymentProvider } from '../../orders/payments/provider.ts';
import { webhookPath } from '../../orders/payments/webhook-route.ts';
import { paymentFieldPath } from '../../shops/shop/readiness.ts';
import { settingsAsFile } from '../../shops/settings/conversion.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { PaymentMethod, Settings } from '../../shops/settings/settings.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import {
  declareForm,
  readFields,
  showFields,
  type DeclaredField,
  type DeclaredForm,
} from '../components/declared-form.ts';
import { chip } from '../components/format.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { saveSettings } from './save.ts';
import { sectionPage, settingsBreadcrumbs } from './section-page.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const TESTS_PER_HOUR = 60;

/** The input that removes an optional value. */
const removalOf = (name: string) => `${name}.remove`;

/** The values of an account at a provider. They are typed, and never shown again. */
function keyForm(fields: PaymentProvider['fields']): DeclaredForm {
  const entries = Object.entries(fields);
  const body = Type.Object({
    ...Object.fromEntries(entries.map(([name]) => [name, Type.String()])),
    ...Object.fromEntries(entries.map(([name]) => [removalOf(name), Type.Boolean()])),
  });
  return declareForm({ body }, ({ settings: { paymentKeys: messages } }) => {
    const hints: Readonly<Record<string, string>> = messages.hints;
    const labels: Readonly<Record<string, string>> = messages.labels;
    const declared = entries.flatMap(([name, { description }]): [string, DeclaredField][] => [
      [
        name,
        {
          kind: 'password',
          label: labels[name] ?? name,
          hint: hints[name] ?? description,
          autocomplete: 'off',
        },
      ],
      [removalOf(name), { kind: 'tick', label: messages.remove }],
    ]);
    return Object.fromEntries(declared);
  });
}

export function payments(pages: ShopPages, format: SettingsFormat, providers: Providers): void {
  sectionPage(pages, format, {
    name: 'payments',
    beside: (visit) => accountList(visit, providers),
  });

  pages.form(
    '/settings/payments/:method',
    { read: 'settings_write', write: 'settings_write' },
    {
      show: async (visit, request, draft) => {
        const method = methodOf(visit, request);
        const { fields } = providerOf(providers, method.providerName, visit.settings);
        const stored = await storedFields(visit, method);
        const messages = visit.messages.settings.paymentKeys;
        const field = showFields(keyForm(fields), visit, { draft });
        return {
          title: messages.title({ method: titleOf(visit, method) }),
          menu: 'settings',
          breadcrumbs: [
            ...settingsBreadcrumbs(visit),
            { href: adminPath(visit, '/settings/payments'), text: visit.messages.settings.pages.payments },
          ],
          main: html`<form method="post" class="card" autocomplete="off">
            ${problemOf(draft)}
            <p class="quiet">${messages.about}</p>
            ${Object.entries(fields).map(
              ([name, { isOptional }]) =>
                html`<div class="stack">
                  ${field(name, { placeholder: stored[name] === undefined ? '' : messages.stored })}
                  ${isOptional && stored[name] !== undefined && field(removalOf(name))}
                </div>`,
            )}
            <dl class="pairs">
              <dt>${messages.webhook}</dt>
              <dd><code>${visit.origin + webhookPath(visit.shopId, method.key)}</code></dd>
            </dl>
            <button class="main">${visit.messages.form.save}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const method = methodOf(visit, form);
        const { fields } = providerOf(providers, method.providerName, visit.settings);
        const names = Object.keys(fields);
        const messages = visit.messages.settings.paymentKeys;
        const values = readFields(keyForm(fields), form, visit) as Record<string, string | boolean>;
        const valueOf = (name: string) => String(values[name]);
        const typed = names.filter((name) => valueOf(name) !== '');
        const removed = names.filter((name) => values[removalOf(name)] === true && !typed.includes(name));
        const wrong = typed.find((name) => !isFieldValue(valueOf(name)));
        if (wrong !== undefined) throw badRequest(messages.wrong({ name: wrong }));
        const path = adminPath(visit, '/settings/payments');
        const changed = [...typed, ...removed];
        if (changed.length === 0) return new Redirect(path, visit.messages.settings.nothingChanged);
        const { shopId, key } = visit;
        await visit.db.transaction(async (tx) => {
          const before = await loadFields(tx, key, shopId, method.paymentMethodId);
          const after = Object.fromEntries([
            ...Object.entries(before).filter(([name]) => !removed.includes(name)),
            ...typed.map((name): [string, string] => [name, valueOf(name)]),
          ]);
          await saveFields(tx, key, shopId, method.paymentMethodId, after);
          await recordAction(tx, visit, '/settings/payments/:method', {
            method: method.key,
            fields: changed.join(),
          });
        });
        return new Redirect(path, messages.saved);
      },
    },
    { needsReauthentication: true },
  );

  pages.post('/settings/app-payments/:app/:name', 'settings_write', async (visit, { params }) => {
    const { settings, messages } = visit;
    const methods = await findAppMethods(visit.db, settings);
    const method = methods.find(
      (one) => one.app.appId === params['app'] && one.method.name === params['name'],
    );
    if (!method) throw notFound();
    const path = adminPath(visit, '/settings/payments');
    // The button was pressed twice.
    if (settings.paymentMethods.some(({ appMethod }) => appMethod === method.name)) return new Redirect(path);
    await saveSettings(visit, withAppMethod(settings, method), format);
    const title = inLanguage(method.method.title, visit.language);
    return new Redirect(path, messages.settings.paymentKeys.offered({ method: title }));
  });

  pages.post('/settings/payments/:method/test', 'settings_write', async (visit, form) => {
    const method = methodOf(visit, form);
    if (!(await form.isWithinLimit(`payment-test/${visit.shopId}`, TESTS_PER_HOUR))) {
      throw tooManyRequests(TESTS_PER_HOUR, 3600, 'tests');
    }
    const messages = visit.messages.settings.paymentKeys;
    const provider = providerOf(providers, method.providerName, visit.settings);
    const problem = await accountProblem(provider, {
      shopId: visit.shopId,
      fields: await storedFields(visit, method),
      capture: method.capture,
      settings: method.additionalData ?? {},
    });
    const label = PROVIDER_LABELS[method.providerName];
    return new Redirect(
      adminPath(visit, '/settings/payments'),
      problem === undefined
        ? messages.works({ provider: label })
        : { text: messages.fails({ provider: label, problem }), isProblem: true },
    );
  });
}

function methodOf({ settings }: ShopVisit, { params }: PageRequest): ProviderMethod {
  const method = settings.paymentMethods.find(({ key }) => key === params['method']);
  if (!method || !isProviderName(method.providerName)) throw notFound();
  return method as ProviderMethod;
}

const titleOf = ({ settings, locale }: ShopVisit, { name, key }: PaymentMethod): string =>
  textIn(name, locale, settings.defaultLocale) ?? key;

/** Values are never shown: only which of them exist. */
const storedFields = ({ db, key, shopId }: ShopVisit, { paymentMethodId }: ProviderMethod) =>
  loadFields(db, key, shopId, paymentMethodId);

/** The methods handled by a provider: whether their keys are set, and a button that tests them. */
async function accountList(visit: ShopVisit, providers: Providers): Promise<Markup> {
  const messages = visit.messages.settings.paymentKeys;
  const apps = await findAppMethods(visit.db, visit.settings);
  const methods = visit.settings.paymentMethods.filter((method): method is ProviderMethod =>
    isProviderName(method.providerName),
  );
  const accounts = await Promise.all(
    methods.map(async (method) => ({ method, stored: await storedFields(visit, method) })),
  );
  const withoutBank = visit.settings.paymentMethods.filter((method) =>
    missingPaymentData(method, visit.settings, { providers, fields: {}, apps }).includes(BANK_ACCOUNT),
  );
  return html`<section class="card above-form">
    ${
      withoutBank.length > 0 &&
      html`<h2>${messages.manual}</h2>
        ${withoutBank.map(
          (method) =>
            html`<div class="provider">
              <p><strong>${titleOf(visit, method)}</strong></p>
              <p>${chip(messages.noBank, 'bad')}</p>
              <div class="actions">
                <a class="button" href="${adminPath(visit, paymentFieldPath(BANK_ACCOUNT))}"
                  >${messages.setBank}</a
                >
              </div>
            </div>`,
        )}`
    }
    <h2>${messages.accounts}</h2>
    ${methods.length === 0 && html`<p class="quiet">${messages.none}</p>`}
    ${accounts.map(({ method, stored }) => {
      const fields = Object.entries(providerOf(providers, method.providerName, visit.settings).fields);
      const app = apps.find(({ name }) => name === method.appMethod)?.app;
      const isAppMissing = method.providerName === 'app' && !visit.settings.sandbox && !app;
      const hasKeys = fields.every(([name, { isOptional }]) => isOptional || stored[name] !== undefined);
      const isReady = hasKeys && !isAppMissing;
      return html`<div class="provider">
        <p>
          <strong>${titleOf(visit, method)}</strong>
          <span class="quiet">${app ? appLabel(app) : PROVIDER_LABELS[method.providerName]}</span>
          ${
            isReady
              ? chip(messages.ready, 'good')
              : chip(isAppMissing ? messages.appMissing : messages.missing, 'bad')
          }
        </p>
        ${!isReady && html`<p class="hint">${isAppMissing ? messages.appMissingHint : messages.notOffered}</p>`}
        ${
          visit.may('settings_write') &&
          html`<div class="actions">
            ${
              fields.length > 0 &&
              html`<a class="button" href="${adminPath(visit, `/settings/payments/${method.key}`)}"
                >${messages.change}</a
              >`
            }
            ${isReady && method.providerName !== 'app' && buttonForm({ action: adminPath(visit, `/settings/payments/${method.key}/test`), text: messages.test })}
          </div>`
        }
      </div>`;
    })}
    ${visit.may('settings_write') && offersOfApps(visit, apps)}
  </section>`;
}

/** What installed apps can handle, and the shop does not offer yet. */
function offersOfApps(visit: ShopVisit, apps: readonly AppMethod[]): Markup | false {
  const known = new Set(visit.settings.paymentMethods.map(({ appMethod }) => appMethod));
  const offers = apps.filter(({ name }) => !known.has(name));
  if (offers.length === 0) return false;
  const messages = visit.messages.settings.paymentKeys;
  return html`<h2>${messages.ofApps}</h2>
    ${offers.map(
      ({ app, method }) =>
        html`<div class="provider">
          <p>
            <strong>${inLanguage(method.title, visit.language)}</strong>
            <span class="quiet">${appLabel(app)}</span>
          </p>
          <div class="actions">
            ${buttonForm({ action: adminPath(visit, `/settings/app-payments/${app.appId}/${method.name}`), text: messages.offer })}
          </div>
        </div>`,
    )}`;
}

/** A method of an app as one of the shop, at the end of the list and without a price. */
function withAppMethod(settings: Settings, { name, app, method }: AppMethod): SettingsFile {
  const { paymentMethods = [] }: SettingsFile = settingsAsFile(settings, { textsByLocale: true });
  const keys = new Set(paymentMethods.map(({ key }) => key));
  const numbers = Array.from({ length: keys.size + 2 }, (_, index) => index + 1);
  const candidates = [method.name, ...numbers.slice(1).map((number) => `${method.name}-${number}`)];
  const key = candidates.find((candidate) => !keys.has(candidate))!;
  const title = inLocales({ ...method.title }, settings);
  const added = { key, name: title, provider: 'app', app: name, providerLabel: app.name };
  return { paymentMethods: [...paymentMethods, added] };
}
