import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase, type Database } from '../src/db/database.ts';
import { attachEmbedded } from '../src/db/embedded.ts';
import { sql } from '../src/db/sql.ts';
import { availabilityEmail } from '../src/catalogue/products/availability-email.ts';
import { JOB_STATE } from '../src/platform/jobs/queries.ts';
import { queueEmails } from '../src/platform/email/queue.ts';
import { kontorHere } from './command.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, newFolder, startKontor, waitFor } from './process.ts';
import { startSmtp, type SmtpServer } from './smtp.ts';

/** Mails that are under way when the service ends, in order or not. */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterAll(cleanUp);

let smtp: SmtpServer;
let data: string;
beforeEach(async () => {
  smtp = await startSmtp();
});
afterEach(() => smtp.close());

async function withDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const embedded = await attachEmbedded(data, { log: () => {} });
  const db = openDatabase({ connection: embedded.connection });
  await work(db);
  await db.close();
  await embedded.stop();
}

const queueMail = (db: Database) =>
  db.transaction((tx) =>
    queueEmails(tx, 'DemoShop', availabilityEmail, [
      {
        to: 'ada@mail.example',
        locale: 'en_GB',
        facts: { productName: 'Ginger tea', productNumber: 'TE-120' },
      },
    ]),
  );

const jobs = (db: Database) =>
  db.many<{ id: string; state: string }>(sql`select job_id as id, ${JOB_STATE} as state from job`);

const messageId = (text: string) => /^Message-ID: (\S+)$/im.exec(text.replaceAll('\r', ''))?.[1];

test('kontor db migrate leaves a database in which mails can wait', async () => {
  data = await newFolder();
  expect(await kontorHere(['db', 'migrate'], { KONTOR_DATA: data })).toMatchObject({ code: 0 });
  expect(await kontorHere(['shop', 'create', 'DemoShop'], { KONTOR_DATA: data })).toMatchObject({ code: 0 });
  await withDatabase(async (db) => {
    await queueMail(db);
    expect(await jobs(db)).toEqual([{ id: expect.any(String), state: 'created' }]);
  });
});

test('kill -9 while a mail is sent: the next process sends it, once', async () => {
  smtp.refusals = [''];
  data = await newStartedFolder();
  const first = await startKontor({ KONTOR_DATA: data, SMTP_URL: `smtp://${smtp.host}` });
  await withDatabase(queueMail);
  await waitFor(() => smtp.ends === 1);
  first.kill('SIGKILL');
  await first.ended;
  let id = '';
  await withDatabase(async (db) => {
    const found = await jobs(db);
    expect(found).toEqual([{ id: expect.any(String), state: 'active' }]);
    id = found[0]!.id;
    // It counts as lost after a minute, which has passed now.
    await db.run(sql`update job set run_at = taken_at`);
  });

  const second = await startKontor({ KONTOR_DATA: data });
  await withDatabase((db) => waitFor(async () => (await jobs(db)).length === 0));
  const folder = path.join(data, 'mails');
  expect(await readdir(folder)).toEqual([`${id}.eml`]);
  const text = await readFile(path.join(folder, `${id}.eml`), 'utf8');
  expect(messageId(text)).toBe(`<${id}@localhost>`);
  expect(text).toContain(`${second.address}/shop/DemoShop/Products/TE-120`);
  expect(await second.stop()).toMatchObject({ code: 0 });
});

test('a server that does not answer does not keep the service from ending', async () => {
  smtp.refusals = [''];
  data = await newStartedFolder();
  const service = await startKontor({ KONTOR_DATA: data, SMTP_URL: `smtp://${smtp.host}` });
  await withDatabase(queueMail);
  await waitFor(() => smtp.ends === 1);
  expect(await service.stop()).toMatchObject({ code: 0 });
  await withDatabase(async (db) => {
    expect(await jobs(db)).toEqual([{ id: expect.any(String), state: 'retry' }]);
  });
});
