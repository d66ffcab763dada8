import { isIP } from 'node:net';
import { Type } from 'typebox';
import { isLoopback } from '../../config.ts';
import { HttpError, Refusal, tooManyRequests } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest } from '../../http/page-kit.ts';
import { textIn } from '../../http/locale.ts';
import { Nullable } from '../../http/schemas.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { RELAY_PORTS, TLS_MODES, type TlsMode } from '../../platform/email/relay.ts';
import { oneLine } from '../../platform/email/letter.ts';
import {
  deleteRelay,
  findRelay,
  saveRelay,
  type NewRelay,
  type StoredRelay,
} from '../../shops/email/relay-queries.ts';
import { testRelay } from '../../shops/email/test-relay.ts';
import { declareForm, optionsOf, readChecked, showFields } from '../components/declared-form.ts';
import { chip, momentText } from '../components/format.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { settingsBreadcrumbs } from './section-page.ts';

export const MAIL_SERVER_PATH = '/settings/emails/server';
/** Tests per shop and hour: each of them makes the service call a server that the shop has chosen. */
const MAX_TESTS = 20;

const SERVER = declareForm(
  {
    body: Type.Object({
      host: Type.String({ maxLength: 253 }),
      port: Type.String({ maxLength: 5 }),
      tls: Type.String(),
      user: Nullable(Type.String({ maxLength: MAX_EMAIL_ADDRESS_LENGTH })),
      password: Type.String({ maxLength: 500 }),
      sender: Type.String({ maxLength: MAX_EMAIL_ADDRESS_LENGTH }),
    }),
  },
  ({ settings: { mailServer: messages } }) => ({
    host: { label: messages.host, hint: messages.hostHint, isRequired: true },
    port: { label: messages.port, hint: messages.portHint, inputMode: 'numeric', isRequired: true },
    tls: { kind: 'choice', label: messages.tls },
    user: { label: messages.user, autocomplete: 'off' },
    password: {
      kind: 'password',
      label: messages.password,
      hint: messages.passwordHint,
      autocomplete: 'new-password',
    },
    sender: { kind: 'email', label: messages.sender, hint: messages.senderHint, isRequired: true },
  }),
);

/** A mail server of the shop's own, which all its emails go by. */
export function mailServerPages(pages: ShopPages): void {
  pages.form(
    MAIL_SERVER_PATH,
    { read: 'settings_write', write: 'settings_write' },
    {
      show: (visit, _, draft) => showServer(visit, draft),
      save: async (visit, form) => {
        const stored = await findRelay(visit.db, visit.shopId);
        const relay = typedRelay(visit, form, stored);
        const { shopId, key } = visit;
        await visit.db.transaction(async (tx) => {
          await saveRelay(tx, key, shopId, relay);
          await recordAction(tx, visit, MAIL_SERVER_PATH, { host: relay.host, sender: relay.sender });
        });
        return new Redirect(adminPath(visit, MAIL_SERVER_PATH), visit.messages.settings.mailServer.saved);
      },
    },
    { needsReauthentication: true, ...optionsOf(SERVER) },
  );

  pages.post(
    `${MAIL_SERVER_PATH}/remove`,
    'settings_write',
    async (visit) => {
      await visit.db.transaction(async (tx) => {
        await deleteRelay(tx, visit.shopId);
        await recordAction(tx, visit, `${MAIL_SERVER_PATH}/remove`);
      });
      return new Redirect(adminPath(visit, '/settings/emails'), visit.messages.settings.mailServer.removed);
    },
    { needsReauthentication: true },
  );

  pages.post(`${MAIL_SERVER_PATH}/test`, 'settings_write', async (visit, form) => {
    const messages = visit.messages.settings.mailServer;
    if (visit.settings.emailsFrozen !== null) throw new Refusal('EMAILS_FROZEN');
    if (!(await form.isWithinLimit(`mail-server-test/${visit.shopId}`, MAX_TESTS))) {
      const { headers } = tooManyRequests(MAX_TESTS, 3600);
      throw new HttpError(429, messages.tooOften, headers);
    }
    const to = visit.user.email;
    const back = adminPath(visit, MAIL_SERVER_PATH);
    const { settings, locale, shopId } = visit;
    const refusal = await testRelay(
      visit.db,
      async () => visit.key,
      shopId,
      { isLocalAllowed: async () => visit.demo.isOpen },
      {
        to,
        name: oneLine(textIn(settings.name, locale, settings.defaultLocale) ?? shopId),
        subject: messages.testSubject,
        text: messages.testText,
        language: visit.language,
        host: new URL(visit.origin).hostname,
      },
    );
    if (refusal === null) return new Redirect(back);
    if (refusal === undefined) return new Redirect(back, messages.tested({ to }));
    const said = messages.said({ answer: refusal.answer });
    return new Redirect(back, { text: `${messages.problems[refusal.problem]} ${said}`, isProblem: true });
  });
}

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}$/;
const CONTROL = /\p{C}/u;

/** The typed values, checked. The stored password stays only with the server and the user that it was entered for. */
function typedRelay(visit: ShopVisit, form: FormRequest, stored: StoredRelay | undefined): NewRelay {
  const messages = visit.messages.settings.mailServer;
  const refuse = (field: keyof typeof typed, text: string) => refuseField(field, text);
  const typed = readChecked(SERVER, form, visit);
  const { user, sender } = typed;
  const isLocalAllowed = visit.demo.isOpen;
  const host = typed.host.toLowerCase().replace(/\.$/, '');
  const isLocal = isLocalAllowed && isLoopback(host);
  if (!isLocal && (isIP(host) !== 0 || !HOST_NAME.test(host) || isLoopback(host)))
    throw refuse('host', messages.wrongHost);
  const port = Number(typed.port);
  const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (!isPort || (!isLocal && !RELAY_PORTS.includes(port))) throw refuse('port', messages.wrongPort);
  const tls = TLS_MODES.find((mode) => mode === typed.tls);
  if (!tls || (tls === 'none' && !isLocal)) throw refuse('tls', messages.wrongTls);
  if (user !== null && CONTROL.test(user)) throw refuse('user', messages.wrongUser);
  if (CONTROL.test(typed.password)) throw refuse('password', messages.wrongPassword);
  const isSame = stored?.hasPassword === true && stored.host === host && stored.user === user;
  if (user !== null && typed.password === '' && !isSame) throw refuse('password', messages.passwordNeeded);
  if (!isEmailAddress(sender)) throw refuse('sender', messages.wrongSender);
  const password = user === null ? null : typed.password === '' ? undefined : typed.password;
  return { host, port, tls, user, password, sender };
}

async function showServer(visit: ShopVisit, draft: Draft | undefined) {
  const messages = visit.messages.settings.mailServer;
  const relay = await findRelay(visit.db, visit.shopId);
  const modes = TLS_MODES.filter((mode) => mode !== 'none' || visit.demo.isOpen);
  const nameOfMode = (mode: TlsMode) => messages.tlsModes[mode];
  const values = {
    host: relay?.host,
    port: String(relay?.port ?? 587),
    tls: relay?.tls ?? 'starttls',
    user: relay?.user,
    sender: relay?.sender ?? visit.settings.email,
  };
  const field = showFields(SERVER, visit, { values, draft });
  return {
    title: messages.title,
    menu: 'settings' as const,
    breadcrumbs: [
      ...settingsBreadcrumbs(visit),
      { href: adminPath(visit, '/settings/emails'), text: visit.messages.settings.pages.emails },
    ],
    main: html`<div class="narrow stack">
      ${relay && stateCard(visit, relay)}
      <form method="post" class="card" autocomplete="off">
        ${problemOf(draft)}
        <p class="quiet">${messages.about}</p>
        ${field('host')} ${field('port')}
        ${field('tls', { choices: modes.map((mode) => ({ value: mode, text: nameOfMode(mode) })) })}
        ${field('user')} ${field('password', { placeholder: relay?.hasPassword ? messages.stored : '' })}
        ${field('sender')}
        <button class="main">${visit.messages.form.save}</button>
      </form>
    </div>`,
  };
}

function stateCard(visit: ShopVisit, relay: StoredRelay): Markup {
  const messages = visit.messages.settings.mailServer;
  return html`<section class="card">
    <h2>${relay.host}</h2>
    ${relayState(visit, relay)}
    <div class="actions">
      ${buttonForm({ action: adminPath(visit, `${MAIL_SERVER_PATH}/test`), text: messages.test, kind: 'main' })}
      ${buttonForm({
        action: adminPath(visit, `${MAIL_SERVER_PATH}/remove`),
        text: messages.remove,
        kind: 'danger',
        confirm: messages.removeQuestion,
      })}
    </div>
    <p class="hint">${messages.testHint({ to: visit.user.email })}</p>
  </section>`;
}

/** Whether it takes emails; if not, what it said and what to do. */
export function relayState(visit: ShopVisit, { problem, answer, failingSince }: StoredRelay): Markup {
  const messages = visit.messages.settings.mailServer;
  if (problem === null || failingSince === null) return html`<p>${chip(messages.works, 'good')}</p>`;
  return html`<p>
      ${chip(messages.failing, 'bad')} ${messages.since({ moment: momentText(failingSince, visit.language) })}
    </p>
    <p>${messages.problems[problem]} ${messages.waits}</p>
    ${answer && html`<p class="quiet">${messages.said({ answer })}</p>`}`;
}

/** Of the settings of emails: by which server they go. */
export async function mailServerCard(visit: ShopVisit): Promise<Markup> {
  const messages = visit.messages.settings.mailServer;
  const relay = await findRelay(visit.db, visit.shopId);
  return html`<section class="card">
    <h2>${messages.title}</h2>
    ${
      relay
        ? html`<p>${relay.host} · ${relay.sender}</p>
            ${relayState(visit, relay)}`
        : html`<p>${messages.ofService}</p>`
    }
    ${
      visit.may('settings_write') &&
      html`<p class="actions">
        <a class="button" href="${adminPath(visit, MAIL_SERVER_PATH)}">${messages.change}</a>
      </p>`
    }
  </section>`;
}

/** For the first page of the shop: its emails wait, and only its people can do something about it. */
export async function mailServerProblem(visit: ShopVisit): Promise<Markup | undefined> {
  const relay = await findRelay(visit.db, visit.shopId);
  if (!relay?.problem) return undefined;
  const messages = visit.messages.settings.mailServer;
  return html`<section class="card" id="mail-server">
    <h2>${messages.waitingTitle}</h2>
    ${relayState(visit, relay)}
    <p class="actions">
      <a class="button" href="${adminPath(visit, MAIL_SERVER_PATH)}">${messages.change}</a>
    </p>
  </section>`;
}
