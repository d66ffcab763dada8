import { countMailings, findMailings, type ListedMailing } from '../../content/mailings/queries.ts';
import { createMailing, deleteMailing, getMailing, setMailingState } from '../../content/mailings/routes.ts';
import { MailingBody, MailingText, WANTED_STATES, type MailingState } from '../../content/mailings/schema.ts';
import { queueTest } from '../../content/mailings/worker.ts';
import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { Type } from 'typebox';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { chip, momentText, type ChipKind } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { mailingEditor } from './mailing-editor.ts';
import { mailingSubject, mailingsStep, newsletterChoices, STATE } from './mailing-parts.ts';
import { marketingStep, marketingTabs } from './tabs.ts';

const NEW_MAILING = declareForm(
  {
    body: Type.Object({
      newsletters: MailingBody.properties.newsletters,
      subject: MailingText.properties.subject,
    }),
  },
  ({ mailings }) => ({
    newsletters: { kind: 'ticks', label: mailings.newsletters },
    subject: { label: mailings.subject },
  }),
);

const TEST = declareHidden({ locale: 5 });

/** Tests of one person. */
const TESTS_PER_HOUR = 30;

export function mailingPages(pages: ShopPages): void {
  pages.get('/marketing/mailings', 'newsletters_read', async (visit, request) => {
    const { db, shopId, messages } = visit;
    const columns = mailingColumns(visit);
    const state = listState(request, columns);
    const [rows, results] = await Promise.all([
      findMailings(db, shopId, { ...state, resultsPerPage: state.limit }),
      countMailings(db, shopId),
    ]);
    const hasNewsletters = visit.settings.newsletterCampaigns.length > 0;
    return {
      title: messages.layout.menuEntries.marketing,
      menu: 'marketing',
      actions:
        hasNewsletters &&
        visit.may('coupons_write') &&
        html`<a class="button main" href="${adminPath(visit, '/marketing/mailings/new')}"
          >${messages.mailings.new}</a
        >`,
      main: html`${marketingTabs(visit, 'mailings')}
      ${await listView(visit, request, {
        path: '/marketing/mailings',
        caption: messages.marketing.tabs.mailings,
        columns,
        filters: [],
        rows,
        results,
        href: ({ mailingId }) => adminPath(visit, `/marketing/mailings/${mailingId}`),
        empty: hasNewsletters ? messages.mailings.empty : messages.newsletters.empty,
      })}`,
    };
  });

  pages.form(
    '/marketing/mailings/new',
    { read: 'coupons_write', write: 'coupons_write' },
    {
      show: async (visit, _request, draft) => {
        const { messages } = visit;
        const choices = newsletterChoices(visit);
        const values = choices.length === 1 ? { newsletters: choices.map(({ value }) => value) } : {};
        const field = showFields(NEW_MAILING, visit, { values, draft });
        return {
          title: messages.mailings.new,
          menu: 'marketing',
          breadcrumbs: [marketingStep(visit), mailingsStep(visit)],
          main: html`<form method="post" class="card narrow">
            ${problemOf(draft)} ${field('newsletters', { choices })} ${field('subject')}
            <p class="hint">${messages.mailings.newHint}</p>
            <button class="main">${messages.mailings.create}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { newsletters, subject } = readFields(NEW_MAILING, form, visit);
        const { mailingId } = await visit.call(createMailing, {
          body: { newsletters, texts: [{ locale: visit.settings.defaultLocale, subject, blocks: [] }] },
        });
        return new Redirect(
          adminPath(visit, `/marketing/mailings/${mailingId}`),
          visit.messages.mailings.created,
        );
      },
    },
    optionsOf(NEW_MAILING),
  );

  mailingEditor(pages);

  pages.post('/marketing/mailings/:mailingId/state', 'coupons_write', async (visit, form) => {
    const mailingId = requireId(form);
    const typed = readFields(STATE, form, visit);
    const state = WANTED_STATES.find((one) => one === typed.state);
    if (state === undefined) throw notFound();
    // The input has no time zone, and its label says that it means UTC.
    const sendAt = typed.sendAt?.replace(/^([\dT:-]{16})$/, '$1Z') ?? null;
    await visit.call(setMailingState, {
      params: { mailingId },
      body: { state, sendAt },
    });
    return new Redirect(
      adminPath(visit, `/marketing/mailings/${mailingId}`),
      visit.messages.mailings.done[state],
    );
  });

  pages.post('/marketing/mailings/:mailingId/test', 'coupons_write', async (visit, form) => {
    const mailingId = requireId(form);
    const { texts } = await visit.call(getMailing, { params: { mailingId } });
    const locale = texts
      .map((text) => text.locale)
      .find((one) => one === readFields(TEST, form, visit).locale);
    if (locale === undefined) throw notFound();
    const words = visit.messages.mailings;
    const path = adminPath(visit, `/marketing/mailings/${mailingId}`, { locale });
    const { email } = visit.user.support ?? visit.user;
    if (!(await form.isWithinLimit(`mailing-test/${visit.user.userId}`, TESTS_PER_HOUR)))
      return new Redirect(path, { text: words.tooManyTests, isProblem: true });
    await visit.db.transaction(async (tx) => {
      await queueTest(tx, visit.shopId, { mailingId, to: email, locale });
      await recordAction(tx, visit, '/mailings/:mailingId/test', { mailingId });
    });
    return new Redirect(path, words.testSent({ email }));
  });

  pages.post('/marketing/mailings/:mailingId/copy', 'coupons_write', async (visit, form) => {
    const mailing = await visit.call(getMailing, { params: { mailingId: requireId(form) } });
    const { newsletters, segmentId, couponCampaignId, perHour, texts } = mailing;
    const present = newsletterChoices(visit).map(({ value }) => value);
    const { locales } = visit.settings;
    const { mailingId } = await visit.call(createMailing, {
      body: {
        newsletters: newsletters.filter((id) => present.includes(id)),
        segmentId,
        couponCampaignId,
        perHour,
        texts: texts.filter(({ locale }) => locales.includes(locale)) as MailingBody['texts'],
      },
    });
    return new Redirect(
      adminPath(visit, `/marketing/mailings/${mailingId}`),
      visit.messages.mailings.created,
    );
  });

  pages.post('/marketing/mailings/:mailingId/delete', 'coupons_write', async (visit, form) => {
    await visit.call(deleteMailing, { params: { mailingId: requireId(form) } });
    return new Redirect(adminPath(visit, '/marketing/mailings'), visit.messages.mailings.deleted);
  });
}

function requireId({ params }: Pick<PageRequest | FormRequest, 'params'>): string {
  const mailingId = params['mailingId']!;
  if (!isId(mailingId)) throw notFound();
  return mailingId;
}

const CHIPS: Readonly<Record<MailingState, ChipKind>> = {
  draft: 'neutral',
  scheduled: 'new',
  sending: 'new',
  paused: 'warning',
  sent: 'good',
  cancelled: 'neutral',
};

function mailingColumns(visit: ShopVisit): Column<ListedMailing>[] {
  const { messages, language } = visit;
  const words = messages.mailings;
  return [
    { name: 'subject', title: words.subject, cell: (row) => mailingSubject(visit, row.texts) },
    { name: 'state', title: words.state, cell: ({ state }) => chip(words.states[state], CHIPS[state]) },
    {
      name: 'at',
      title: words.at,
      cell: ({ startedAt, sendAt }) => {
        const moment = startedAt ?? sendAt;
        return moment && momentText(moment, language);
      },
    },
    {
      name: 'sent',
      title: words.results.sent,
      isNumeric: true,
      cell: ({ sent }) => sent.toLocaleString(language),
    },
    {
      name: 'unsubscribed',
      title: words.results.unsubscribed,
      isNumeric: true,
      cell: ({ unsubscribed }) => unsubscribed.toLocaleString(language),
    },
  ];
}
