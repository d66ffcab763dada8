import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tooManyRequests } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { openBackup } from '../../platform/backup/content.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { to, type ShopVisit } from '../visit.ts';
import { settingsTrail } from './section-page.ts';

const DOWNLOADS_PER_HOUR = 10;

/** Milliseconds: a browser that reads more slowly would hold a snapshot of the database for too long. */
const LONGEST_DOWNLOAD = 3_600_000;

export function data(pages: ShopPages): void {
  pages.get(
    '/settings/data',
    'shop_write',
    async (visit) => {
      const words = visit.words.settings.dataView;
      return {
        title: visit.words.settings.pages.data,
        menu: 'settings',
        trail: settingsTrail(visit),
        main: html`<div class="cards">
          <section class="card">
            <h2>${words.backup}</h2>
            <p>${words.backupAbout}</p>
            ${buttonForm({
              action: to(visit, '/settings/data/backup'),
              text: words.backupButton,
              kind: 'main',
            })}
          </section>
          <section class="card">
            <h2>${visit.words.settings.pages.file}</h2>
            <p>${words.fileAbout}</p>
            <a class="button" href="${to(visit, '/settings/file/download')}"
              >${visit.words.settings.fileView.download}</a
            >
          </section>
        </div>`,
      };
    },
    { asksAgain: true },
  );

  pages.post(
    '/settings/data/backup',
    'shop_write',
    async (visit, form) => {
      const { shopId } = visit;
      if (!(await form.isWithinLimit(`backup/${shopId}`, DOWNLOADS_PER_HOUR))) {
        throw tooManyRequests(DOWNLOADS_PER_HOUR, 3600, 'downloads');
      }
      // It gives the data of all customers away, which the merchant should see.
      await visit.db.transaction((tx) => recordAction(tx, visit, '/settings/data/backup'));
      const day = visit.db.now.toISOString().slice(0, 10);
      return {
        type: 'application/octet-stream',
        content: backupStream(visit),
        fileName: `${shopId}-${day}.kontor`,
      };
    },
    { asksAgain: true },
  );
}

/** The bytes as they are read. An error ends the download, and the file then lacks its end, which a restore notices. */
function backupStream({ db, config, shopId }: ShopVisit): Readable {
  const download = new PassThrough();
  db.transaction(
    async (tx) => {
      const content = await openBackup(tx, config, shopId);
      const signal = AbortSignal.timeout(LONGEST_DOWNLOAD);
      if (content) await pipeline(content.bytes, download, { signal });
    },
    { isolation: 'repeatable read' },
  ).catch((error: Error) => download.destroy(error));
  return download;
}
