import { dayOf } from '../../http/dates.ts';
import { displayName } from '../../kernel/display-names.ts';
import { listNewsletterCampaigns } from '../../people/newsletters/routes.ts';
import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { unsubscribeFrom } from '../../people/newsletters/queries.ts';
import { checkedRows } from '../components/list-table.ts';
import { chip, dayText } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findListedSubscribers, findSubscribersAfter, type ListedSubscriber } from './newsletter-queries.ts';
import { marketingStep, marketingTabs } from './tabs.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

const MAX_CHOSEN = 100;

export function newsletterPages(pages: ShopPages): void {
  pages.get('/marketing/newsletters', 'newsletters_read', async (visit) => {
    const messages = visit.messages.newsletters;
    const { items } = await visit.call(listNewsletterCampaigns, {
      query: { resultsPerPage: 100 },
    });
    return {
      title: visit.messages.layout.menuEntries.marketing,
      menu: 'marketing',
      main: html`${marketingTabs(visit, 'newsletters')}
        <p class="intro">${messages.intro}</p>
        ${
          items.length === 0
            ? html`<p class="list empty">${messages.empty}</p>`
            : html`<ul class="cards">
                ${items.map(
                  ({ campaignId, name, language, numberOfSubscribers }) =>
                    html`<li class="card">
                      <h2>
                        <a href="${adminPath(visit, `/marketing/newsletters/${campaignId}`)}">${name}</a>
                      </h2>
                      <dl class="pairs">
                        <dt>${messages.subscribers}</dt>
                        <dd>${numberOfSubscribers.toLocaleString(visit.language)}</dd>
                        <dt>${messages.inLanguage}</dt>
                        <dd>${displayName(language, 'language', visit.language)}</dd>
                      </dl>
                    </li>`,
                )}
              </ul>`
        }`,
    };
  });

  pages.get('/marketing/newsletters/:campaignId', 'newsletters_read', async (visit, request) => {
    const messages = visit.messages.newsletters;
    const { campaignId, name } = requireNewsletter(visit, request);
    const columns = subscriberColumns(visit);
    const state = listState(request, columns);
    const rows = await findListedSubscribers(visit.db, visit.shopId, campaignId, {
      text: state.filter('q').trim().toLowerCase(),
      limit: state.limit + 1,
      offset: state.offset,
    });
    const path = `/marketing/newsletters/${campaignId}`;
    const shown = rows.slice(0, state.limit);
    return {
      title: name,
      menu: 'marketing',
      breadcrumbs: [
        marketingStep(visit),
        { href: adminPath(visit, '/marketing/newsletters'), text: visit.messages.marketing.tabs.newsletters },
      ],
      main: await listView(visit, request, {
        path,
        caption: messages.subscribers,
        columns,
        filters: [{ kind: 'search', name: 'q', label: messages.search }],
        rows: shown,
        results: state.offset + shown.length,
        isMore: rows.length > shown.length,
        href: ({ email }) => `mailto:${email}`,
        idOf: ({ email }) => email,
        bulk: visit.may('customers_write')
          ? [{ action: `${path}/unsubscribe`, text: messages.unsubscribe, kind: 'danger' }]
          : [],
        exportPath: `${path}/export.csv`,
        empty: messages.noSubscribers,
      }),
    };
  });

  // There is no scope for writing newsletters: users who may change customers may unsubscribe them.
  pages.post('/marketing/newsletters/:campaignId/unsubscribe', 'customers_write', async (visit, form) => {
    const { campaignId } = requireNewsletter(visit, form);
    const emails = checkedRows(form).slice(0, MAX_CHOSEN);
    const count = await visit.db.transaction(async (tx) => {
      const done = await unsubscribeFrom(tx, visit.shopId, campaignId, emails);
      await recordAction(tx, visit, '/newsletters/:campaignId/unsubscribe');
      return done;
    });
    return new Redirect(
      adminPath(visit, `/marketing/newsletters/${campaignId}`),
      visit.messages.newsletters.done({ count }),
    );
  });

  pages.file('/marketing/newsletters/:campaignId/export.csv', 'newsletters_read', async (visit, request) => {
    const { campaignId, identifier } = requireNewsletter(visit, request);
    await visit.db.transaction((tx) =>
      recordAction(tx, visit, '/newsletters/:campaignId/export.csv', {}, 'GET'),
    );
    return {
      type: 'text/csv; charset=utf-8',
      fileName: `${identifier}.csv`,
      content: Readable.from(fileText(visit, campaignId), { objectMode: false, highWaterMark: 65_536 }),
    };
  });
}

function requireNewsletter({ settings }: ShopVisit, { params }: Pick<PageRequest, 'params'>) {
  const wanted = params['campaignId']!.toUpperCase();
  const campaign = settings.newsletterCampaigns.find(({ campaignId }) => campaignId === wanted);
  if (!campaign) throw notFound();
  return campaign;
}

function subscriberColumns({ messages, language }: ShopVisit): Column<ListedSubscriber>[] {
  const titles = messages.newsletters;
  return [
    { name: 'email', title: titles.email, cell: ({ email }) => email },
    { name: 'name', title: titles.name, cell: ({ name }) => name },
    {
      name: 'state',
      title: titles.state,
      cell: ({ subscribed }) =>
        subscribed ? chip(titles.subscribed, 'good') : chip(titles.unsubscribed, 'neutral'),
    },
    { name: 'since', title: titles.since, cell: ({ createdAt }) => dayText(createdAt, language) },
  ];
}

const AT_ONCE = 2_000;

/** Only active subscribers, so that no one writes to the others by mistake. */
async function* fileText({ db, shopId, messages }: ShopVisit, campaignId: string): AsyncGenerator<string> {
  const titles = messages.newsletters;
  yield `\u{feff}${csvLine([titles.email, titles.name, titles.since])}`;
  let after = '';
  for (;;) {
    const rows = await findSubscribersAfter(db, shopId, campaignId, { after, limit: AT_ONCE });
    yield rows
      .map(({ email, name, createdAt }) =>
        csvLine([escapeFormula(email), escapeFormula(name), dayOf(createdAt)]),
      )
      .join('');
    if (rows.length < AT_ONCE) return;
    after = rows.at(-1)!.email;
  }
}
