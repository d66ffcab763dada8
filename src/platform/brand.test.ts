import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant } from '../../test/admin.ts';
import { startDemo } from '../../test/demo.ts';
import { cleanUp, newFolder } from '../../test/process.ts';
import type { Service } from '../../test/service.ts';
import { invitationEmail } from '../admin/users/invitation-email.ts';
import { buildApp } from '../composition/app.ts';
import { startEmails } from '../composition/emails.ts';
import { deactivationEmail } from '../apps/webhooks/deactivation-email.ts';
import { queueEmails } from './email/queue.ts';
import { KONTOR, parseBrand } from './brand.ts';

const FILE = `version: 1
name: Shopwerk & Co
logo: logo.svg
colours:
  accent: '#7A1F5C'
links:
  help: https://help.shopwerk.example
  privacy: https://shopwerk.example/privacy
emails:
  address: noreply@shopwerk.example
`;

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>';

let folder: string;
let service: Service;
beforeAll(async () => {
  folder = await newFolder();
  await writeFile(path.join(folder, 'brand.yaml'), FILE);
  await writeFile(path.join(folder, 'logo.svg'), LOGO);
  service = await startDemo({ BRAND_FILE: path.join(folder, 'brand.yaml') });
});
afterAll(async () => {
  await service.close();
  await cleanUp();
});

const page = async (url: string, cookie = '') => {
  const {
    statusCode: status,
    body,
    headers,
  } = await service.app.inject({
    url,
    headers: { host: 'localhost:8080', cookie },
  });
  return { status, body, policy: String(headers['content-security-policy']) };
};

const assetsOf = (body: string) => ({
  stylesheet: /href="(\/assets\/brand\.[^"]+\.css)"/.exec(body)?.[1],
  logo: /<img src="(\/assets\/brand\.[^"]+\.svg)" alt="Shopwerk &amp; Co"/.exec(body)?.[1],
  icon: /<link rel="icon" href="([^"]+)"/.exec(body)?.[1],
});

describe('a brand', () => {
  test('is in the admin: name, logo, colours, icon and links, and Kontor is nowhere', async () => {
    const { cookie } = await givenMerchant(service, 'owner');
    const signIn = await page('/admin/sign-in');
    const { stylesheet, logo, icon } = assetsOf(signIn.body);
    expect([icon, signIn.body.includes('| Shopwerk &amp; Co</title>')]).toEqual([logo, true]);
    const css = await service.app.inject({ url: stylesheet! });
    expect([css.statusCode, css.body.split('\n').slice(0, 2)]).toEqual([
      200,
      [
        ':root { --accent: #7a1f5c; --on-accent: #ffffff; }',
        expect.stringMatching(
          /^@media \(prefers-color-scheme: dark\) \{ :root \{ --accent: #[0-9a-f]{6}; --on-accent: #0c1a1c; \} \}$/,
        ),
      ],
    ]);
    const image = await service.app.inject({ url: logo! });
    expect([image.body, image.headers['content-type'], image.headers['content-security-policy']]).toEqual([
      LOGO,
      'image/svg+xml',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    ]);
    for (const url of [
      '/admin/sign-in',
      '/admin/forgotten',
      '/admin/enter',
      '/admin/link?token=x',
      '/admin/account',
      '/admin/nothing',
      '/admin/shops/DemoShop',
      '/admin/shops/DemoShop/orders/bank',
      '/admin/shops/DemoShop/move-in',
      '/admin/shops/DemoShop/support',
      '/admin/shops/DemoShop/nothing',
    ]) {
      const { body } = await page(url, cookie);
      expect([url, body.match(/Kontor/g)]).toEqual([url, null]);
      expect([url, assetsOf(body)]).toEqual([url, { stylesheet, logo, icon }]);
      expect(body).toContain('href="https://help.shopwerk.example"');
      expect(body).toContain('href="https://shopwerk.example/privacy"');
    }
  });

  test('is on the start page and its error pages, within their policy', async () => {
    for (const [url, status] of [
      ['/', 200],
      ['/shop/Nowhere', 404],
    ] as const) {
      const found = await page(url);
      expect([url, found.status, found.body.match(/Kontor/g)]).toEqual([url, status, null]);
      expect(found.body).toContain('alt="Shopwerk &amp; Co"');
      expect(found.body).toContain('--accent: #7a1f5c');
      expect(found.policy).toContain("img-src 'self' data:");
    }
  });

  test('sends the emails that open the admin; those of the shop stay its own', async () => {
    await service.db.transaction(async (tx) => {
      const to = 'mira@shop.example';
      const invited = { by: 'owner@shop.example', linkId: null };
      await queueEmails(tx, 'DemoShop', invitationEmail, [{ to, locale: 'en_GB', facts: invited }]);
      await queueEmails(tx, 'DemoShop', deactivationEmail, [{ to, locale: 'en_GB', facts: SAMPLE as never }]);
    });
    const { db, config } = service;
    const emails = startEmails({
      db,
      config,
      log: service.app.log,
      origin: 'http://localhost:8080',
      pause: 10,
    });
    const mails = path.join(config.KONTOR_DATA, 'mails');
    await mkdir(mails, { recursive: true });
    const filesOf = async () => (await readdir(mails)).filter((name) => name.endsWith('.eml'));
    await expect.poll(filesOf, { timeout: 20_000 }).toHaveLength(2);
    await emails.stop();
    const texts = await Promise.all(
      (await filesOf()).map((name) => readFile(path.join(mails, name), 'utf8')),
    );
    const [invitation, order] = texts.toSorted((one) => (one.includes('Accept the invitation') ? -1 : 1));
    expect(/^From: (.*)$/m.exec(invitation!)![1]).toBe('"Shopwerk & Co" <noreply@shopwerk.example>');
    expect(invitation).not.toMatch(/^Reply-To:/m);
    expect(invitation).toContain('#7a1f5c');
    expect(/^From: (.*)$/m.exec(order!)![1]).not.toContain('shopwerk');
  });

  const SAMPLE =
    typeof deactivationEmail.sample === 'function'
      ? deactivationEmail.sample('en_GB')
      : deactivationEmail.sample;
});

describe('the file', () => {
  const parsed = (text: string) => parseBrand(text, path.join(folder, 'brand.yaml'));
  const problemOf = (text: string): string => {
    try {
      parsed(text);
    } catch (error) {
      return (error as Error).message.replaceAll(`${folder}/`, '');
    }
    return 'none';
  };

  test('is the one of the guide', async () => {
    await writeFile(path.join(folder, 'shopwerk.svg'), LOGO);
    const guide = await readFile(path.join(import.meta.dirname, '../../docs/operations/hosting.md'), 'utf8');
    const [, example] = /## Your brand[^]*?```yaml\n([^]*?)```/.exec(guide)!;
    const { name, colours, links, sender, logo } = parsed(example!);
    expect({ name, colours, links, sender, type: logo?.type }).toEqual({
      name: 'Shopwerk',
      colours: { accent: '#7a1f5c', onAccent: '#ffffff' },
      links: [
        { name: 'help', href: 'https://help.shopwerk.example' },
        { name: 'imprint', href: 'https://shopwerk.example/imprint' },
        { name: 'privacy', href: 'https://shopwerk.example/privacy' },
      ],
      sender: { name: 'Shopwerk', address: 'noreply@shopwerk.example' },
      type: 'image/svg+xml',
    });
  });

  test('may have a name alone', () => {
    expect(parsed('version: 1\nname: Shopwerk')).toEqual({ ...KONTOR, name: 'Shopwerk' });
  });

  test('takes the sender from its name, and shades that can be read', () => {
    const { sender, colours } = parsed(
      "version: 1\nname: S\ncolours: { accent: '#00f', dark: '#8af' }\nemails: { address: a@b.example }",
    );
    expect([sender, colours]).toEqual([
      { name: 'S', address: 'a@b.example' },
      { accent: '#0000ff', onAccent: '#ffffff' },
    ]);
  });

  test.each([
    ['version: 1', "brand.yaml: the file must have required property 'name'"],
    ['name: S', "brand.yaml: the file must have required property 'version'"],
    ['version: 2\nname: S', 'brand.yaml: version must be equal to constant'],
    ['version: 1\nname: S\nfont: x', 'brand.yaml: the file must NOT have additional properties (font)'],
    ['version: 1\nname: "a\\nb"', expect.stringContaining('brand.yaml: name must match pattern')],
    ['version: 1\nname: S\nlinks: { help: "javascript:alert(1)" }', expect.stringContaining('links.help')],
    ['version: 1\nname: S\nlinks: { help: "http://x.example" }', expect.stringContaining('links.help')],
    ['version: 1\nname: S\nemails: { address: "a" }', expect.stringContaining('emails.address')],
    [
      "version: 1\nname: S\ncolours: { accent: '#fc0' }",
      'brand.yaml: colours.accent is #ffcc00, whose contrast with #efede8 is 1.29:1, expected 4.5:1 or more',
    ],
    [
      "version: 1\nname: S\ncolours: { accent: '#00f', dark: '#00f' }",
      'brand.yaml: colours.dark is #0000ff, whose contrast with #1a2125 is 1.89:1, expected 4.5:1 or more',
    ],
    ['version: 1\nname: S\nlogo: none.svg', expect.stringContaining('brand.yaml: logo cannot be read')],
    ['version: 1\nname: S\nlogo: brand.yaml', 'brand.yaml: logo is neither an SVG nor a PNG image'],
    ['[', expect.stringContaining('brand.yaml is not YAML')],
    [`version: 1\nname: ${'x'.repeat(10_000)}`, 'brand.yaml is too long for a brand.'],
  ])('is refused in one line: %s', (text, problem) => {
    expect(problemOf(text)).toEqual(problem);
  });

  test.each([
    '<svg><script>alert(1)</script></svg>',
    '<svg onload="alert(1)"></svg>',
    '<svg><foreignObject/></svg>',
    '<svg><image href="https://evil.example/x.png"/></svg>',
    '<!DOCTYPE svg [<!ENTITY x "y">]><svg/>',
  ])('has no logo that does more than draw: %s', async (logo) => {
    await writeFile(path.join(folder, 'active.svg'), logo);
    expect(problemOf('version: 1\nname: S\nlogo: active.svg')).toMatch(
      /^brand\.yaml: logo (?:contains|is neither)/,
    );
  });

  test('that is wrong ends the start', async () => {
    const config = { ...service.config, BRAND_FILE: path.join(folder, 'nothing.yaml') };
    await expect(buildApp({ config, db: service.db, log: service.app.log })).rejects.toThrow(
      /^BRAND_FILE cannot be read/,
    );
  });
});
