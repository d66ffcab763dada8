import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { placeholderMeanings, sampleFacts, type EmailKind } from '../../platform/email/kind.ts';
import { createEmailShopLoader } from '../../shops/email/shop.ts';
import { SettingsProblem } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { MAX_EMAIL_SUBJECT_LENGTH, MAX_EMAIL_TEXT_LENGTH } from '../../shops/settings/schema/texts.ts';
import type { MailTexts } from '../../shops/settings/settings.ts';
import { chip } from '../components/format.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { languageName } from '../components/language-name.ts';
import { isUnchanged, versionField } from '../components/version.ts';
import { SETTINGS_SCRIPT } from '../layout/assets.ts';
import type { AdminFile, AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { emailSignaturePages, signatureCard } from './email-signature.ts';
import { mailServerCard, mailServerPages } from './mail-server.ts';
import { translatedProblems } from './problem-text.ts';
import { savedNotice, saveSettings } from './save.ts';
import { sectionPage, settingsBreadcrumbs } from './section-page.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

const TEXTS = declareForm(
  {
    body: Type.Object({
      subject: Type.String({ maxLength: MAX_EMAIL_SUBJECT_LENGTH }),
      text: Type.String({ maxLength: MAX_EMAIL_TEXT_LENGTH }),
    }),
  },
  ({ settings: { emailView: messages } }) => ({
    subject: { label: messages.subject },
    text: { kind: 'long text', label: messages.text, hint: messages.textHint, rows: 16 },
  }),
);

interface Refused {
  subject: string;
  text: string;
  problems: SettingsProblem['places'];
  lines: readonly string[];
  status: number;
}

export function emails(pages: ShopPages, format: SettingsFormat, kinds: readonly EmailKind[]): void {
  sectionPage(pages, format, {
    name: 'emails',
    beside: async (visit) =>
      html`<div class="stack">
        ${await mailServerCard(visit)} ${await signatureCard(visit)} ${kindList(visit, kinds)}
      </div>`,
  });
  mailServerPages(pages);
  emailSignaturePages(pages);

  const kindOf = ({ params }: PageRequest): EmailKind => {
    const kind = kinds.find(({ name }) => name === params['kind']);
    if (!kind) throw notFound();
    return kind;
  };

  pages.form(
    '/settings/emails/:kind',
    { read: 'settings_read', write: 'settings_write' },
    {
      show: (visit, request) => kindPage(visit, request, kindOf(request)),
      save: async (visit, form) => {
        const kind = kindOf(form);
        const locale = localeOf(visit, form);
        const typed = typedTexts(visit, form);
        const refuse = (refused: Pick<Refused, 'problems' | 'lines' | 'status'>) =>
          kindPage(visit, form, kind, { ...typed, ...refused });
        const { mailTexts } = visit.settings;
        if (!isUnchanged(form, mailTexts[kind.name] ?? null)) {
          return refuse({ problems: [], lines: [visit.messages.layout.changedMeanwhile], status: 409 });
        }
        try {
          const mails = withWords(mailTexts, kind, locale, typed);
          const applied = await saveSettings(visit, { mails }, format);
          const path = adminPath(visit, `/settings/emails/${kind.name}`, { locale });
          return new Redirect(path, await savedNotice(visit, applied));
        } catch (error) {
          if (!(error instanceof SettingsProblem)) throw error;
          return refuse({ ...translatedProblems(error, visit), status: 422 });
        }
      },
    },
    optionsOf(TEXTS),
  );

  pages.file('/settings/emails/:kind/preview', 'settings_read', async (visit, request) =>
    preview(visit, kindOf(request), localeOf(visit, request), visit.settings.mailTexts),
  );

  pages.post(
    '/settings/emails/:kind/preview',
    'settings_read',
    async (visit, form) => {
      const kind = kindOf(form);
      const locale = localeOf(visit, form);
      const texts = withWords(visit.settings.mailTexts, kind, locale, typedTexts(visit, form));
      return preview(visit, kind, locale, texts);
    },
    optionsOf(TEXTS),
  );
}

function typedTexts(visit: ShopVisit, form: FormRequest) {
  const { subject, text } = readFields(TEXTS, form, visit);
  return { subject, text: text.replaceAll('\r\n', '\n') };
}

const localeOf = ({ settings, locale }: ShopVisit, { query }: PageRequest | FormRequest): string =>
  settings.locales.find((one) => one === query('locale')) ?? locale;

/** The shop's own texts with these replacing the former ones; the built-in ones are not stored. */
function withWords(
  texts: MailTexts,
  kind: EmailKind,
  locale: string,
  typed: { subject: string; text: string },
): MailTexts {
  const builtIn = kind.messages(messagesIn(locale).email);
  const own = {
    ...(typed.subject !== '' && typed.subject !== builtIn.subject && { subject: typed.subject }),
    ...(typed.text !== '' && typed.text !== builtIn.text.trim() && { text: typed.text }),
  };
  const { [locale]: _former, ...others } = texts[kind.name] ?? {};
  const all = { ...others, ...(Object.keys(own).length > 0 && { [locale]: own }) };
  const { [kind.name]: _texts, ...rest } = texts;
  return Object.keys(all).length > 0 ? { ...rest, [kind.name]: all } : rest;
}

const nameOf = (visit: ShopVisit, { name }: EmailKind): string =>
  (visit.messages.settings.emailKinds as Readonly<Record<string, string>>)[name] ?? name;

function kindList(visit: ShopVisit, kinds: readonly EmailKind[]): Markup {
  const messages = visit.messages.settings.emailView;
  return html`<section class="card above-form">
    <h2>${messages.kinds}</h2>
    <ul class="kinds">
      ${kinds.map(
        (kind) =>
          html`<li>
            <a href="${adminPath(visit, `/settings/emails/${kind.name}`)}">${nameOf(visit, kind)}</a>
            ${visit.settings.mailTexts[kind.name] !== undefined && chip(messages.own, 'good')}
          </li>`,
      )}
    </ul>
  </section>`;
}

async function kindPage(
  visit: ShopVisit,
  request: PageRequest,
  kind: EmailKind,
  refused?: Refused,
): Promise<AdminPage> {
  const messages = visit.messages.settings.emailView;
  const locale = localeOf(visit, request);
  const { mailTexts, locales } = visit.settings;
  const builtIn = kind.messages(messagesIn(locale).email);
  const own = mailTexts[kind.name]?.[locale];
  const isDisabled = !visit.may('settings_write');
  const previewPath = adminPath(visit, `/settings/emails/${kind.name}/preview`, { locale });
  const problemAt = (field: string) =>
    refused?.problems
      .filter(({ path }) => path.at(-1) === field)
      .map(({ text }) => text)
      .join(' ') || undefined;
  const field = showFields(TEXTS, visit, {
    values: {
      subject: refused?.subject ?? own?.subject ?? builtIn.subject,
      text: refused?.text ?? own?.text ?? builtIn.text.trim(),
    },
    isDisabled,
    draft: undefined,
  });
  const nameOfLanguage = (one: string) => languageName(one, visit.language, visit.settings.locales);
  return {
    title: nameOf(visit, kind),
    menu: 'settings',
    breadcrumbs: [
      ...settingsBreadcrumbs(visit),
      { href: adminPath(visit, '/settings/emails'), text: visit.messages.settings.pages.emails },
    ],
    scripts: [SETTINGS_SCRIPT],
    ...(refused && { status: refused.status }),
    main: html`<nav class="tabs" aria-label="${messages.languages}">
        ${locales.map(
          (one) =>
            html`<a
              href="${adminPath(visit, `/settings/emails/${kind.name}`, { locale: one })}"
              ${one === locale && html`aria-current="page"`}
              >${nameOfLanguage(one)}</a
            >`,
        )}
      </nav>
      <div class="sides even">
        <form method="post" class="settings-form" data-settings>
          ${
            refused &&
            html`<div class="problem" role="alert">
              <ul>
                ${refused.lines.map((line) => html`<li>${line}</li>`)}
                ${refused.problems.map(({ text }) => html`<li>${text}</li>`)}
              </ul>
            </div>`
          }
          ${versionField(mailTexts[kind.name] ?? null)}
          <div class="card">
            ${field('subject', { problem: problemAt('subject') })}
            ${field('text', { problem: problemAt('text') })}
            ${
              !isDisabled &&
              html`<div class="actions">
                <button class="main">${visit.messages.form.save}</button>
                <button class="without-script" formaction="${previewPath}" formtarget="preview">
                  ${visit.messages.settings.preview.show}
                </button>
              </div>`
            }
          </div>
          <details class="card">
            <summary>${messages.placeholders}</summary>
            <dl class="pairs">
              ${Object.entries(placeholderMeanings(kind)).map(
                ([name, meaning]) =>
                  html`<dt><code>{${name}}</code></dt>
                    <dd>${meaning}</dd>`,
              )}
            </dl>
          </details>
        </form>
        <section class="card stay">
          <h2>${visit.messages.settings.preview.title}</h2>
          <iframe
            class="preview"
            name="preview"
            title="${visit.messages.settings.preview.title}"
            src="${previewPath}"
            data-preview="${previewPath}"
            sandbox=""
          ></iframe>
          <p class="hint">${messages.made}</p>
        </section>
      </div>`,
  };
}

/** The email with these texts, about a made-up order: it shows no customer data. */
async function preview(
  { db, config, shopId, origin, settings }: ShopVisit,
  kind: EmailKind,
  locale: string,
  tried: MailTexts,
): Promise<AdminFile> {
  const load = createEmailShopLoader({ db, config, origin, logo: 'in the page' });
  const shop = (await load(shopId, tried))!;
  const email = { shopId, template: kind.name, to: settings.email, locale, facts: sampleFacts(kind, locale) };
  return { type: 'text/html; charset=utf-8', content: shop.render(kind, email).html };
}
