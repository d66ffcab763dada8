import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { EMAIL_QUEUE } from '../../platform/email/queue.ts';
import { findFailedJobs, findWaitingJobs, retryJob, type FailedJob } from '../../platform/jobs/queries.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { hostTabs } from './tabs.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_SHOWN = 100;
/** More are not counted. */
export const MAX_COUNTED_JOBS = 10_000;

/** Work done after responses were sent: emails. */
export function jobs(pages: Pages): void {
  pages.get('/host/jobs', 'host', async (visit) => {
    const messages = visit.messages.host;
    const [waiting, failed] = await Promise.all([
      findWaitingJobs(visit.db, EMAIL_QUEUE, MAX_COUNTED_JOBS),
      findFailedJobs(visit.db, MAX_SHOWN),
    ]);
    return {
      title: messages.title,
      ...(failed.length > 0 && {
        actions: buttonForm({ action: '/admin/host/jobs/retry', text: messages.retryAll }),
      }),
      main: html`${hostTabs(visit, 'jobs')}
        <p>${messages.waiting({ count: waiting.count })}</p>
        ${
          failed.length === 0
            ? html`<div class="list"><div class="empty">${messages.noneFailed}</div></div>`
            : html`<div class="list">${failedTable(visit, failed)}</div>`
        }`,
    };
  });

  pages.post('/host/jobs/retry', 'host', async (visit) => {
    const failed = await findFailedJobs(visit.db, MAX_SHOWN);
    let count = 0;
    for (const job of failed) if (await retryJob(visit.db, job)) count++;
    return new Redirect('/admin/host/jobs', visit.messages.host.retried({ count }));
  });

  pages.post('/host/jobs/:shopId/:jobId/retry', 'host', async (visit, form) => {
    const { shopId, jobId } = form.params;
    const isRetried = isId(jobId!) && (await retryJob(visit.db, { shopId: shopId!, id: jobId! }));
    if (!isRetried) throw notFound();
    return new Redirect('/admin/host/jobs', visit.messages.host.retried({ count: 1 }));
  });
}

function failedTable(visit: Visit<'host'>, failed: readonly FailedJob[]): Markup {
  const messages = visit.messages.host;
  const titles = [messages.failedEmail, messages.shop, messages.failedAt, messages.reason];
  return html`<table>
    <caption class="hidden">
      ${messages.failedEmails}
    </caption>
    <thead>
      <tr>
        ${titles.map((title) => html`<th scope="col">${title}</th>`)}
        <th scope="col"><span class="hidden">${messages.actions}</span></th>
      </tr>
    </thead>
    <tbody>
      ${failed.map(
        ({ shopId, id, template, to, failedAt, error, attempts }) =>
          html`<tr>
            <td data-title="${messages.failedEmail}">
              ${template ?? ''} <span class="quiet">${to ?? ''}</span>
            </td>
            <td data-title="${messages.shop}">${shopId}</td>
            <td data-title="${messages.failedAt}">
              ${momentText(failedAt, visit.language)}
              <span class="quiet">${messages.attempts({ count: attempts })}</span>
            </td>
            <td data-title="${messages.reason}">${error}</td>
            <td>${buttonForm({ action: `/admin/host/jobs/${shopId}/${id}/retry`, text: messages.retry })}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
