import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenShop } from '../../../test/builders.ts';
import { changesNothing, done, givenFullCart, givenProduct, givenSmallShop } from '../../../test/carts.ts';
import {
  createCertificateAuthority,
  type Certificate,
  type CertificateAuthority,
} from '../../../test/certificates.ts';
import { waitFor } from '../../../test/process.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../../test/smtp.ts';
import { availabilityEmail } from '../../catalogue/products/availability-email.ts';
import { startEmails } from '../../composition/emails.ts';
import { readConfig } from '../../config.ts';
import { sql } from '../../db/sql.ts';
import { invitationEmail } from '../../admin/users/invitation-email.ts';
import type { Resolve } from '../../http/public-address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { sendByRelay } from '../../platform/email/relay.ts';
import { relayProblemOf } from '../../platform/email/outcome.ts';
import { JOB_STATE } from '../../platform/jobs/queries.ts';

const DAY = 86_400_000;

let service: Service;
let owner: Merchant;
/** That of the installation, and that of the shop. */
let ofService: SmtpServer;
let own: SmtpServer;
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0' });
  for (const shopId of ['Harbour', 'Other']) {
    await givenShop(service, shopId, { name: shopId, email: `hello@${shopId.toLowerCase()}.example` });
  }
  owner = await givenMerchant(service, 'owner', 'Harbour', 'owner@harbour.example');
});
afterAll(() => service.close());
beforeEach(async () => {
  [ofService, own] = await Promise.all([startSmtp(), startSmtp()]);
  await service.db.run(sql`delete from job`);
  await service.db.run(sql`delete from email_relay`);
  await service.db.run(sql`delete from email_problem`);
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  await Promise.all([ofService.close(), own.close()]);
});

function start(environment: Record<string, string> = {}, resolve?: Resolve): void {
  const config = { ...readConfig({ SMTP_URL: `smtp://${ofService.host}`, ...environment }) };
  workers.push(
    startEmails({
      db: service.db,
      config: { ...config, KONTOR_DATA: service.config.KONTOR_DATA },
      log: pino({ level: 'silent' }),
      origin: 'https://shop.example',
      pause: 10,
      ...(resolve && { resolve }),
    }),
  );
}

const queue = (shopId: string, ...to: string[]) =>
  service.db.transaction((tx) =>
    queueEmails(
      tx,
      shopId,
      availabilityEmail,
      to.map((address) => ({
        to: address,
        locale: 'en_GB',
        facts: { productName: 'Ginger tea', productNumber: 'TE-120' },
      })),
    ),
  );

const form = (changes: Record<string, string> = {}) => ({
  host: '127.0.0.1',
  port: own.host.split(':')[1]!,
  tls: 'none',
  user: 'harbour',
  password: 's3cret words',
  sender: 'shop@harbour.example',
  ...changes,
});

const SERVER = '/settings/emails/server';
const enter = async (changes: Record<string, string> = {}) => {
  const answer = await owner.post(SERVER, form(changes));
  expect([answer.status, answer.location]).toEqual([303, `/admin/shops/Harbour${SERVER}`]);
};

const jobs = () =>
  service.db.many<{
    shopId: string;
    state: string;
    attempts: number;
    held: boolean;
    error: string | null;
  }>(sql`
    select shop_id as "shopId", ${JOB_STATE} as state, attempts, held_at is not null as held, error
    from job order by shop_id, job_id`);
const isIdle = async () => (await jobs()).length === 0;
const relay = () =>
  service.db.one(sql`
    select host, user_name as user, problem, answer, failures, failing_since is not null as failing
    from email_relay where shop_id = 'Harbour'`);
const recipients = (smtp: SmtpServer) => smtp.taken.flatMap(({ to }) => to).toSorted();

describe('a mail server of its own', () => {
  test('takes the emails of its shop and of no other, one connection for each', async () => {
    await enter();
    start();
    await queue('Harbour', 'ada@mail.example', 'ben@mail.example');
    await queue('Other', 'cleo@mail.example');
    await waitFor(isIdle);
    expect(recipients(own)).toEqual(['ada@mail.example', 'ben@mail.example']);
    expect(own.taken[0]!.from).toBe('shop@harbour.example');
    expect(own.taken[0]!.text).toContain('From: Harbour <shop@harbour.example>');
    expect(own.taken[0]!.text).toContain('Reply-To: hello@harbour.example');
    expect(own.credentials).toEqual(['\0harbour\0s3cret words', '\0harbour\0s3cret words']);
    expect(own.connections).toBe(2);
    expect(recipients(ofService)).toEqual(['cleo@mail.example']);
  });

  test('takes no invitations: those of the service go by the server of the service', async () => {
    await enter();
    start();
    await service.db.transaction((tx) =>
      queueEmails(tx, 'Harbour', invitationEmail, [
        { to: 'ben@mail.example', locale: 'en_GB', facts: { by: 'owner@harbour.example', linkId: null } },
      ]),
    );
    await waitFor(isIdle);
    expect([recipients(ofService), recipients(own)]).toEqual([['ben@mail.example'], []]);
    expect(ofService.taken[0]!.from).toBe('hello@harbour.example');
  });

  test('its password is sealed, and neither shown nor sent to another server', async () => {
    await enter();
    const row = await service.db.one<{ sealed: Buffer }>(sql`
      select password_sealed as sealed from email_relay where shop_id = 'Harbour'`);
    expect(row!.sealed.includes('s3cret')).toBe(false);
    for (const path of [SERVER, '/settings/emails']) {
      expect((await owner.get(path)).text).not.toContain('s3cret');
    }
    // The password stays with what it was entered for.
    await enter({ password: '', sender: 'other@harbour.example' });
    await changesNothing(service, async () => {
      for (const changes of [{ host: 'localhost' }, { user: 'somebody' }]) {
        const { status, text } = await owner.post(SERVER, form({ ...changes, password: '' }));
        expect(status).toBe(400);
        expect(text).toContain('Enter the password: it is needed for a new server or user name.');
      }
    });
  });

  test.each([
    [{ host: '' }, 'Enter the host name of the server'],
    [{ host: '10.0.0.1' }, 'Enter the host name of the server'],
    [{ host: 'mail server.example' }, 'Enter the host name of the server'],
    [{ host: `${'x'.repeat(64)}.example` }, 'Enter the host name of the server'],
    [{ host: 'smtp.mail.example', port: '22', tls: 'starttls' }, 'The port must be 25, 465, 587 or 2525.'],
    [{ host: 'smtp.mail.example', port: '587', tls: 'none' }, 'Choose an encryption.'],
    [{ port: '0' }, 'The port must be'],
    [{ port: '1e3x' }, 'The port must be'],
    [{ tls: 'ssl' }, 'Choose an encryption.'],
    [{ password: 'a\tb' }, 'The password contains a character'],
    [{ user: 'x'.repeat(300) }, 'User name is too long.'],
    [{ password: 'x'.repeat(501) }, 'Password is too long.'],
    [{ sender: 'nobody' }, 'Enter an email address.'],
    [{ sender: 'a@b.example\r\nBcc: c@d.example' }, ''],
  ])('%j is refused', async (changes, message) => {
    await changesNothing(service, async () => {
      const { status, text } = await owner.post(SERVER, form(changes));
      expect(status).toBe(400);
      expect(text).toContain(message);
    });
  });

  test('is entered by who may change settings, and nobody else', async () => {
    const reader = await givenMerchant(service, 'orders', 'Harbour');
    await changesNothing(service, async () => {
      for (const path of [SERVER, `${SERVER}/test`, `${SERVER}/remove`]) {
        expect((await reader.post(path, form())).status).toBe(403);
      }
    });
  });

  test('is removed, and what has waited for it goes by the server of the service', async () => {
    await enter();
    own.answers.set('AUTH', '535 5.7.8 wrong password');
    start();
    await queue('Harbour', 'ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.held === true);
    expect((await owner.post(`${SERVER}/remove`)).status).toBe(303);
    await waitFor(isIdle);
    expect([recipients(ofService), recipients(own)]).toEqual([['ada@mail.example'], []]);
  });
});

describe('a test', () => {
  const tested = async () => {
    const { status, headers } = await owner.post(`${SERVER}/test`);
    expect(status).toBe(303);
    const cookie = String(headers['set-cookie']).split(';')[0]!;
    const page = await service.app.inject({
      method: 'GET',
      url: `/admin/shops/Harbour${SERVER}`,
      headers: { host: 'localhost:8080', cookie: `${owner.cookie}; ${cookie}`, 'accept-language': 'en' },
    });
    return /<div id="notices"[^>]*>(.*?)<\/div>\s*<\/div>/s
      .exec(page.body)![1]!
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  };

  test('goes to who asked for it, and says so', async () => {
    await enter();
    expect(await tested()).toBe(
      'The mail server has taken the test. Look for it in the mailbox of owner@harbour.example.',
    );
    expect(own.taken).toEqual([
      expect.objectContaining({
        from: 'shop@harbour.example',
        to: ['owner@harbour.example'],
        text: expect.stringContaining('Subject: Test of your mail server'),
      }),
    ]);
  });

  test.each([
    [
      'AUTH',
      '535 5.7.8 wrong <b>password</b>',
      'The server refuses the user name or the password. Check both; some providers need a password for apps. The server said: 535 5.7.8 wrong &lt;b&gt;password&lt;/b&gt;',
    ],
    [
      'MAIL',
      '550 5.7.1 not your address',
      'The server does not allow the sender address. Allow it at your provider, or enter another one. The server said: 550 5.7.1 not your address',
    ],
    [
      'RCPT',
      '550 5.1.1 nobody here',
      'The server works, but has refused the test to your address. The server said: 550 5.1.1 nobody here',
    ],
    [
      'MAIL',
      '451 try later',
      'The server takes no emails at the moment. It is tried again by itself. The server said: 451 try later',
    ],
  ])('that is refused at %s says %s', async (verb, answer, words) => {
    await enter();
    own.answers.set(verb, answer);
    expect(await tested()).toBe(words);
    expect(own.taken).toEqual([]);
  });

  test('without the encryption that it demands sends no password', async () => {
    await enter({ tls: 'starttls' });
    expect(await tested()).toMatch(/^The connection cannot be encrypted\. /);
    expect(own.credentials).toEqual([]);
  });

  test('lets emails go that have waited', async () => {
    await enter();
    own.answers.set('AUTH', '535 5.7.8 wrong password');
    start();
    await queue('Harbour', 'ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.held === true);
    own.answers.clear();
    await owner.post(`${SERVER}/test`);
    await waitFor(isIdle);
    expect(recipients(own)).toEqual(['ada@mail.example', 'owner@harbour.example']);
    expect(await relay()).toMatchObject({ problem: null, answer: null, failures: 0, failing: false });
  });
});

describe('a mail server that takes nothing', () => {
  test('is asked once, its emails wait without an attempt, and the admin says what to do', async () => {
    await enter();
    own.answers.set('AUTH', '535 5.7.8 wrong password');
    start();
    await queue('Harbour', ...Array.from({ length: 30 }, (_, index) => `${index}@mail.example`));
    await waitFor(async () => (await jobs()).every(({ held }) => held));
    expect(await jobs()).toEqual(
      Array.from({ length: 30 }, () => expect.objectContaining({ attempts: 0, held: true })),
    );
    expect(own.connections).toBe(1);
    expect(await relay()).toMatchObject({ problem: 'auth', failures: 1, failing: true });
    const { text } = await owner.get('');
    expect(text).toContain('Your emails are waiting');
    expect(text).toContain('The server said: ');
    expect(text).toContain('535 5.7.8 wrong password');
  });

  test('never delays the emails of other shops', async () => {
    own.answers.set('EHLO', '');
    await enter();
    start();
    await queue('Harbour', ...Array.from({ length: 40 }, (_, index) => `${index}@mail.example`));
    await waitFor(async () => own.connections === 1);
    await queue('Other', 'cleo@mail.example');
    await waitFor(async () => ofService.taken.length === 1);
    expect(own.connections).toBe(1);
    expect((await jobs()).filter(({ shopId }) => shopId === 'Harbour')).toHaveLength(40);
  });

  test('its emails have failed after three days, and not before', async () => {
    await enter();
    own.answers.set('AUTH', '535 5.7.8 wrong password');
    start();
    await queue('Harbour', 'ada@mail.example', 'ben@mail.example');
    await waitFor(async () => (await jobs()).every(({ held }) => held));
    const [old, young] = await service.db.many<{ id: string }>(
      sql`select job_id as id from job order by job_id`,
    );
    const before = (days: number) => new Date(service.db.now.getTime() - days * DAY);
    await service.db.run(
      sql`update job set held_at = ${before(3.1)}, run_at = created_at where job_id = ${old!.id}`,
    );
    await service.db.run(
      sql`update job set held_at = ${before(2.9)}, run_at = created_at where job_id = ${young!.id}`,
    );
    await waitFor(async () => (await jobs()).some(({ state }) => state === 'failed'));
    expect(await jobs()).toEqual([
      expect.objectContaining({
        state: 'failed',
        error: expect.stringContaining('did not take emails for three days'),
      }),
      expect.objectContaining({ state: 'created', held: true }),
    ]);
  });
});

describe('the certificate of a mail server', () => {
  let authority: CertificateAuthority;
  beforeAll(async () => {
    authority = await createCertificateAuthority();
  });
  afterAll(() => authority.close());

  const raw = Buffer.from('Subject: Tea\r\n\r\nIt is there.');
  const people = { from: { name: '', address: 'a@b.example' }, to: { name: '', address: 'c@d.example' } };

  /** Sends an email with a password to `smtp.mail.example`, which has this certificate. */
  async function sendTo(certificate: Certificate, authorities?: string) {
    const server = await startSmtp(certificate);
    const relay = {
      host: 'smtp.mail.example',
      port: Number(server.host.split(':')[1]),
      tls: 'starttls' as const,
      user: 'harbour',
      password: 's3cret words',
      updatedAt: new Date(0),
    };
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const policy = { isLocalAllowed: async () => true, resolve, authorities };
    const problem = await sendByRelay(relay, policy, { envelope: people, raw }).then(
      () => undefined,
      (error: unknown) => relayProblemOf(error),
    );
    await server.close();
    const { taken, credentials, encrypted, connections } = server;
    return { problem, recipients: taken.flatMap(({ to }) => to), credentials, encrypted, connections };
  }

  test('of an authority that is trusted, for its name: the password and the email cross encrypted', async () => {
    const certificate = await authority.issue('smtp.mail.example');
    expect(await sendTo(certificate, authority.cert)).toEqual({
      problem: undefined,
      recipients: ['c@d.example'],
      credentials: ['\0harbour\0s3cret words'],
      encrypted: 1,
      connections: 1,
    });
  });

  test.each([
    ['for another name', () => authority.issue('smtp.other.example'), () => authority.cert],
    ['for a name below it', () => authority.issue('mx.smtp.mail.example'), () => authority.cert],
    ['signed by itself', () => authority.selfSigned('smtp.mail.example'), () => authority.cert],
    ['of an authority that is not trusted', () => authority.issue('smtp.mail.example'), () => undefined],
  ])('%s: neither the password nor the email is sent', async (_what, issue, trusted) => {
    expect(await sendTo(await issue(), trusted())).toMatchObject({
      problem: 'tls',
      recipients: [],
      credentials: [],
      connections: 1,
    });
  });
});

describe('addresses of mail servers', () => {
  const email = {
    envelope: { from: { name: '', address: 'a@b.example' }, to: { name: '', address: 'c@d.example' } },
  };
  const attempt = (
    host: string,
    port: number,
    addresses: string[],
    { isLocalAllowed = false, deadline = 300 } = {},
  ) =>
    sendByRelay(
      { host, port, tls: 'starttls', user: null, password: null, updatedAt: new Date(0) },
      {
        isLocalAllowed: async () => isLocalAllowed,
        resolve: async () => addresses.map((address) => ({ address, family: 4 })),
      },
      { envelope: email.envelope, raw: Buffer.from('Subject: x\r\n\r\nx') },
      { deadline },
    );

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
  ])('a name that leads to %s is not called', async (address) => {
    const port = Number(own.host.split(':')[1]);
    for (const one of [25, 587, port]) {
      await expect(attempt('smtp.mail.example', one, [address])).rejects.toMatchObject({ code: 'EADDRESS' });
    }
    expect(own.connections).toBe(0);
  });

  test('a port of another service is not called, also at a public address', async () => {
    await expect(attempt('smtp.mail.example', 6379, ['203.0.113.1'])).rejects.toMatchObject({
      code: 'EADDRESS',
    });
    await expect(attempt('smtp.mail.example', 443, ['8.8.8.8'])).rejects.toMatchObject({ code: 'EADDRESS' });
  });

  test('where others can call, a saved local server is not called any more', async () => {
    await enter();
    start({ PUBLIC_URL: 'https://shops.example' });
    await queue('Harbour', 'ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.held === true);
    expect(own.connections).toBe(0);
    expect(await relay()).toMatchObject({ problem: 'address' });
  });

  test('a server that sends without end is left', async () => {
    let sent = 0;
    const server = createServer((socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write('x'.repeat(10_000))) sent += 10_000;
      };
      socket.on('drain', write).on('error', () => {});
      write();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const began = performance.now();
    const options = { isLocalAllowed: true, deadline: 5_000 };
    await expect(attempt('127.0.0.1', port, ['127.0.0.1'], options)).rejects.toThrow();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(sent).toBeLessThan(20_000_000);
    server.close();
  });

  test('a server that never ends its answers is left in time', async () => {
    own.answers.set('EHLO', '');
    const port = Number(own.host.split(':')[1]);
    const error = await attempt('127.0.0.1', port, ['127.0.0.1'], { isLocalAllowed: true }).catch(
      (reason: unknown) => reason,
    );
    expect(relayProblemOf(error)).toBe('timeout');
  });
});

describe('an address that gets no emails', () => {
  test('is shown with what the server said, until it gets one', async () => {
    start();
    ofService.unknown.set('ada@mail.example', '550 5.1.1 <script>no such user</script>');
    await queue('Harbour', 'Ada@mail.example'.toLowerCase());
    await waitFor(isIdle);
    const problems = () =>
      service.db.many(sql`select email, kind, template, answer from email_problem where shop_id = 'Harbour'`);
    expect(await problems()).toEqual([
      {
        email: 'ada@mail.example',
        kind: 'bounced',
        template: 'availability',
        answer: '550 5.1.1 <script>no such user</script>',
      },
    ]);
    ofService.unknown.clear();
    await queue('Harbour', 'ada@mail.example');
    await waitFor(isIdle);
    expect(await problems()).toEqual([]);
  });

  test('is named on the pages of its order and its customer', async () => {
    const shop = await givenSmallShop(service);
    const cart = await givenFullCart(shop, { [await givenProduct(shop)]: 1 });
    const { orderId } = await done(cart, 'POST', '/order');
    const row = await service.db.one<{ customerId: string; email: string }>(sql`
      select upper(customer_id::text) as "customerId", billing_address ->> 'emailAddress' as email
      from customer_order where shop_id = ${shop.shopId} and order_id = ${orderId}`);
    ofService.unknown.set(row!.email, '550 5.1.1 <b>unknown</b>');
    start();
    await waitFor(isIdle);
    const merchant = await givenMerchant(service, 'owner', shop.shopId);
    for (const path of [`/orders/${orderId}`, `/customers/${row!.customerId}`]) {
      const { text } = await merchant.get(path);
      expect(text).toContain(`the address ${row!.email} does not exist`);
      expect(text).toContain('The server said: 550 5.1.1 &lt;b&gt;unknown&lt;/b&gt;');
    }
    expect((await owner.get('')).text).not.toContain('5.1.1');
  });

  test('is tried again where the server only refuses this email', async () => {
    start();
    ofService.unknown.set('ada@mail.example', '550 5.7.1 not from you');
    await queue('Harbour', 'ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.state === 'retry');
    expect(await service.db.many(sql`select email, kind from email_problem`)).toEqual([
      { email: 'ada@mail.example', kind: 'refused' },
    ]);
  });
});
