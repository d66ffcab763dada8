import { readFileSync } from 'node:fs';
import { html, type Markup, type Part } from '../../http/html.ts';
import { brandOf } from '../../platform/brand.ts';
import { EMAIL_QUEUE } from '../../platform/email/queue.ts';
import { countFailedJobs, findWaitingJobs } from '../../platform/jobs/queries.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { chip } from '../components/format.ts';
import type { Pages } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { MAX_COUNTED_JOBS } from './jobs.ts';
import { findDatabaseState } from './queries.ts';
import { hostTabs, megabytes } from './tabs.ts';

const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** An email that has been due for longer than this waits for a worker that does not run. */
const SLOW_QUEUE = 5 * 60_000;

export function health(pages: Pages): void {
  pages.get('/host/health', 'host', async (visit) => {
    const messages = visit.messages.host;
    const startedAt = performance.now();
    const database = (await findDatabaseState(visit.db))!;
    const milliseconds = Math.round(performance.now() - startedAt);
    const [waiting, failed, mediaProblem] = await Promise.all([
      findWaitingJobs(visit.db, EMAIL_QUEUE, MAX_COUNTED_JOBS),
      countFailedJobs(visit.db, MAX_COUNTED_JOBS),
      openMediaStorage(visit.config).problem(),
    ]);
    const delay = waiting.since ? visit.db.now.getTime() - waiting.since.getTime() : 0;
    return {
      title: messages.title,
      main: html`${hostTabs(visit, 'health')}
        <div class="stack">
          <section class="card">
            <h2>${messages.tabs.health}</h2>
            <dl class="pairs">
              ${line(messages.database, true, messages.answersIn({ milliseconds }), visit)}
              ${line(
                messages.queue,
                delay < SLOW_QUEUE,
                delay < SLOW_QUEUE
                  ? messages.waiting({ count: waiting.count })
                  : messages.queueWaits({ minutes: Math.round(delay / 60_000) }),
                visit,
              )}
              ${line(
                messages.failedEmails,
                failed === 0,
                failed === 0
                  ? messages.noneFailed
                  : html`<a href="/admin/host/jobs">${messages.failedCount({ count: failed })}</a>`,
                visit,
              )}
              ${line(messages.mediaStore, mediaProblem === undefined, mediaProblem ?? messages.works, visit)}
            </dl>
          </section>
          <section class="card">
            <h2>${messages.versions}</h2>
            <dl class="pairs">
              <dt>${brandOf(visit.config).name}</dt>
              <dd>${VERSION}</dd>
              <dt>${messages.schema}</dt>
              <dd>${database.schema.replace(/\.sql$/, '')}</dd>
              <dt>PostgreSQL</dt>
              <dd>${database.version} (${megabytes(visit, database.bytes)})</dd>
              <dt>Node</dt>
              <dd>${process.versions.node}</dd>
            </dl>
          </section>
        </div>`,
    };
  });
}

function line(title: string, isGood: boolean, text: Part, { messages }: Visit<'host'>): Markup {
  return html`<dt>${title}</dt>
    <dd>${isGood ? chip(messages.host.good, 'good') : chip(messages.host.bad, 'bad')} ${text}</dd>`;
}
