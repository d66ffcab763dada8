import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import { recordStatements } from '../../../test/recorded-statements.ts';
import type { Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { BLOCK_TYPES, type Block } from '../../content/blocks.ts';
import { pagePreviews } from '../../content/pages/preview.ts';
import { sql } from '../../db/sql.ts';
import { installationKey } from '../../platform/sealing.ts';

let service: Service;
let token: string;

const KETTLE = 'Beacon Kettle 1.7 l';

beforeAll(async () => {
  service = await startDemo();
  token = await givenToken(service, 'DemoShop');
});
beforeEach(async () => {
  await service.db.run(sql`delete from page`);
  await service.db.run(sql`update shop set settings_version = settings_version + 1`);
  service.setClock(undefined);
});
afterAll(() => service.close());

const read = (path: string) => givenVisitor(service, 'DemoShop').get(path);

async function given(body: object): Promise<string> {
  const answer = await service.call('POST', '/manage/shops/DemoShop/pages', { token, body });
  expect([answer.status, answer.body.message]).toEqual([201, undefined]);
  return answer.body.pageId;
}

const pageWith = (...blocks: Block[]) => ({
  kind: 'page',
  published: true,
  texts: [{ locale: 'en_GB', title: 'About us', blocks }],
});

/** One block of each kind. */
const ALL: Block[] = [
  { type: 'hero', title: 'Ahoy', html: '<p>From the sea.</p>', link: '/', linkText: 'Go home' },
  { type: 'promises', promises: ['Free returns'] },
  { type: 'heading', text: 'How we roast', level: '2' },
  { type: 'richText', html: '<p>Slowly.<script>alert(1)</script></p>' },
  { type: 'picture', picture: 'https://pictures.example/a.jpg', alt: 'A boat', caption: 'Our boat' },
  { type: 'gallery', title: 'Gallery', pictures: [{ picture: '/media/DemoShop/x.png', alt: 'A rope' }] },
  { type: 'pictureText', picture: '/media/DemoShop/y.png', side: 'right', html: '<p>Beside.</p>' },
  { type: 'products', title: 'Chosen', source: 'chosen', numbers: ['AP-100', 'unknown'] },
  { type: 'categories', title: 'Ranges' },
  { type: 'video', video: 'https://youtu.be/aqz-KE-bpKQ', title: 'A film' },
  { type: 'faq', title: 'Questions', questions: [{ question: 'Why?', answer: '<p>Because.</p>' }] },
  { type: 'quote', text: 'Best kettle\never', source: 'Ada' },
  { type: 'button', link: '/Categories/tea', linkText: 'Tea' },
  { type: 'contactForm', title: 'Write to us' },
  { type: 'newsletter', title: 'Letters' },
  { type: 'columns', columns: [{ title: 'One', html: '<p>1</p>' }, { title: 'Two' }] },
  { type: 'spacer', size: 'large', line: true },
  { type: 'app', block: 'unknown.example/advisor' },
];

describe('a page', () => {
  test('shows every kind of block', async () => {
    expect(ALL.map(({ type }) => type).toSorted()).toEqual([...BLOCK_TYPES].toSorted());
    await given(pageWith(...ALL));
    const { status, text, headers } = await read('/pages/about-us');
    expect(status).toBe(200);
    for (const part of [
      '<h1>Ahoy</h1>',
      '<h2>How we roast</h2>',
      '<p>Slowly.</p>',
      'alt="A boat"',
      '<figcaption>Our boat</figcaption>',
      'alt="A rope"',
      'class="beside right"',
      KETTLE,
      '<h2>Ranges</h2>',
      'data-video="https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ?autoplay=1"',
      '<summary>Why?</summary>',
      '"@type":"FAQPage"',
      'Best kettle<br />ever',
      'href="/shop/DemoShop/Categories/tea"',
      '<textarea',
      'action="/shop/DemoShop/newsletter"',
      '<h2>One</h2>',
      '<div class="spacer large"><hr /></div>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text).not.toContain('alert(1)');
    expect(text).not.toContain('<iframe');
    expect(headers['content-security-policy']).toContain('frame-src https://www.youtube-nocookie.com;');
  });

  test('without a hero begins with its title, and describes itself by its first text', async () => {
    await given(pageWith({ type: 'richText', html: '<p>We are three.</p>' }));
    const answer = await read('/pages/about-us');
    expect(mainOf(answer)).toBe('About us We are three.');
    expect(answer.text).toContain('<meta name="description" content="We are three." />');
    expect(answer.text).toContain('<title>About us | Harbour &amp; Hearth</title>');
    expect(answer.headers['content-security-policy']).toContain("frame-src 'none'");
  });

  test('shows a change at once, of a product too', async () => {
    const pageId = await given(pageWith({ type: 'products', source: 'chosen', numbers: ['AP-100'] }));
    expect((await read('/pages/about-us')).text).toContain(KETTLE);
    const { productId } = (await service.db.one<{ productId: string }>(sql`
      select product_id as "productId" from product where shop_id = 'DemoShop' and product_number = 'AP-100'`))!;
    const patched = await service.call('PATCH', `/DemoShop/products/${productId}`, {
      token,
      body: [{ op: 'replace', path: '/name', value: 'Cutter' }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(patched.status).toBe(200);
    const renamed = await read('/pages/about-us');
    expect(renamed.text).toContain('Cutter');
    await service.call('PUT', `/manage/shops/DemoShop/pages/${pageId}`, {
      token,
      body: pageWith({ type: 'heading', text: 'New', level: '3' }),
    });
    expect(mainOf(await read('/pages/about-us'))).toBe('About us New');
    await service.call('PATCH', `/DemoShop/products/${productId}`, {
      token,
      body: [{ op: 'replace', path: '/name', value: KETTLE }],
      headers: { 'content-type': 'application/json-patch+json' },
    });
  });

  test.each(['category', 'newest', 'offers', 'best sellers'] as const)(
    'lists products: %s',
    async (source) => {
      await given(pageWith({ type: 'products', source, category: 'knives', count: 2 }));
      const { text } = await read('/pages/about-us');
      expect(text.match(/data-product="/g)).toHaveLength(2);
    },
  );

  test('is hidden as a draft, and appears at its moment without any change', async () => {
    service.setClock(new Date('2026-11-18T10:00:00Z'));
    await given({
      ...pageWith({ type: 'richText', html: '<p>Open</p>' }),
      publishAt: '2026-11-18T12:00:00Z',
    });
    expect((await read('/pages/about-us')).status).toBe(404);
    service.setClock(new Date('2026-11-18T12:00:00Z'));
    expect((await read('/pages/about-us')).status).toBe(200);
    service.setClock(undefined);
    await service.db.run(sql`delete from page`);
    await given({ ...pageWith(), published: false });
    expect((await read('/pages/about-us')).status).toBe(404);
  });

  test('has an address in each of its languages', async () => {
    const texts = [
      { locale: 'en_GB', title: 'About us', blocks: [] },
      { locale: 'de_DE', title: 'Über uns', blocks: [] },
    ];
    await given({ kind: 'page', published: true, texts });
    const german = await read('/pages/ueber-uns?locale=de_DE');
    expect(mainOf(german)).toBe('Über uns');
    for (const address of [
      '<link rel="canonical" href="http://localhost/shop/DemoShop/pages/ueber-uns?locale=de_DE" />',
      '<link rel="alternate" hreflang="en-GB" href="http://localhost/shop/DemoShop/pages/about-us" />',
      '<link rel="alternate" hreflang="x-default" href="http://localhost/shop/DemoShop/pages/about-us" />',
    ]) {
      expect(german.text).toContain(address);
    }
    expect(german.text).not.toContain('hreflang="fr-FR"');
    const other = await read('/pages/about-us?locale=de_DE');
    expect([other.status, other.headers.location]).toEqual([
      303,
      '/shop/DemoShop/pages/ueber-uns?locale=de_DE',
    ]);
    const unnamed = await read('/pages/ueber-uns');
    expect([unnamed.status, unnamed.headers.location]).toEqual([303, '/shop/DemoShop/pages/about-us']);
    expect((await read('/pages/about-us?locale=fr_FR')).status).toBe(404);
    const { text } = await read('/sitemap/0.xml');
    expect(text).toContain('<loc>http://localhost/shop/DemoShop/pages/ueber-uns?locale=de_DE</loc>');
    expect(text).toContain('<loc>http://localhost/shop/DemoShop/pages/about-us</loc>');
  });

  test.each(['/pages/unknown', '/pages/', '/pages/%00', '/posts/about-us'])(
    '%s does not exist',
    async (path) => {
      await given(pageWith());
      expect((await read(path)).status).toBe(404);
    },
  );

  test('is previewed with a link that works for an hour, for this page only', async () => {
    service.setClock(new Date('2026-11-18T10:00:00Z'));
    const pageId = await given({ ...pageWith({ type: 'richText', html: '<p>Soon</p>' }), published: false });
    const { token: tokenOf } = pagePreviews(await installationKey(service.config));
    const link = (id: string, made: string) => `/page-preview/${id}/${made}`;
    const made = tokenOf('DemoShop', pageId, service.db.now);
    const shown = await read(link(pageId, made));
    expect([shown.status, mainOf(shown)]).toEqual([200, 'About us Soon']);
    expect(shown.headers['cache-control']).toBe('no-store');
    expect(shown.headers['content-security-policy']).toContain('frame-ancestors http://localhost');
    expect(shown.headers['x-frame-options']).toBeUndefined();
    expect(shown.text).toContain('<meta name="robots" content="noindex" />');
    const other = await given({ ...pageWith(), kind: 'post' });
    expect((await read(link(other, made))).status).toBe(404);
    expect((await read(link(pageId, `${made}x`))).status).toBe(404);
    service.setClock(new Date('2026-11-18T11:00:01Z'));
    expect((await read(link(pageId, made))).status).toBe(404);
  });
});

describe('the contact form', () => {
  let visitors = 0;
  const values = { name: 'Ada', email: 'ada@mail.example', message: 'Do you repair kettles?' };
  const queued = () =>
    service.db.many<{ content: { to: string; facts: object } }>(sql`
      select content from job where shop_id = 'DemoShop' and content ->> 'template' = 'contact'`);
  const send = (body: Record<string, string>) =>
    givenVisitor(service, 'DemoShop', `10.1.1.${++visitors}`).post('/contact', body);

  beforeEach(async () => {
    await service.db.run(sql`delete from job where content ->> 'template' = 'contact'`);
  });

  test('sends an email to the shop and to nobody else', async () => {
    await given(pageWith({ type: 'contactForm' }));
    const sent = await send({ ...values, to: 'victim@mail.example' });
    expect([sent.status, sent.headers.location]).toEqual([303, '/shop/DemoShop/contact/sent']);
    expect((await queued()).map(({ content }) => [content.to, content.facts])).toEqual([
      ['hello@harbour-hearth.example', values],
    ]);
  });

  test.each([
    ['without an address', { ...values, email: 'ada' }, 'Please enter an email address'],
    ['without a message', { ...values, message: ' ' }, 'Please write a message.'],
    ['with a second address', { ...values, email: 'a@b.example\nBcc: c@d.example' }, 'Please enter an email'],
  ])('%s is shown again with what was typed', async (_, body, problem) => {
    await given(pageWith({ type: 'contactForm' }));
    const refused = await send(body);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(problem);
    expect(refused.text).toContain('value="Ada"');
    expect(await queued()).toEqual([]);
  });

  test('drops the message of a program that fills in every field', async () => {
    await given(pageWith({ type: 'contactForm' }));
    expect((await send({ ...values, website: 'https://spam.example' })).status).toBe(303);
    expect(await queued()).toEqual([]);
  });

  test('exists only where a public page has one', async () => {
    expect((await send(values)).status).toBe(404);
    expect((await read('/contact')).status).toBe(404);
    await given({ ...pageWith({ type: 'contactForm' }), published: false });
    expect((await send(values)).status).toBe(404);
    expect(await queued()).toEqual([]);
  });
});

describe('the front page', () => {
  test('of its own replaces the built-in one, in a language that it has', async () => {
    const before = await read('');
    const pageId = await given({
      kind: 'home',
      published: true,
      texts: [{ locale: 'en_GB', blocks: [{ type: 'hero', title: 'Ahoy' }] }],
    });
    const own = await read('');
    expect(mainOf(own)).toBe('Ahoy');
    expect(own.text).toContain('<title>Harbour &amp; Hearth</title>');
    expect(mainOf(await read('?locale=de_DE'))).toBe('Ahoy');
    await service.call('DELETE', `/manage/shops/DemoShop/pages/${pageId}`, { token });
    expect(mainOf(await read(''))).toBe(mainOf(before));
  });

  test('without a hero has its heading all the same', async () => {
    await given({ kind: 'home', published: true, texts: [{ locale: 'en_GB', blocks: [] }] });
    expect((await read('')).text).toContain('<h1 class="visually-hidden">Harbour &amp; Hearth</h1>');
  });
});

describe('posts', () => {
  const post = (title: string, publishAt: string, more: object = {}) => ({
    kind: 'post',
    published: true,
    publishAt,
    author: 'Ina & Co',
    picture: '/media/DemoShop/x.png',
    texts: [{ locale: 'en_GB', title, summary: `About <${title}>`, blocks: [] }],
    ...more,
  });

  test('are listed with the newest first, and are in the feed', async () => {
    service.setClock(new Date('2026-11-18T10:00:00Z'));
    const older = await given(post('Older', '2026-11-01T08:00:00Z'));
    await given(post('Newer', '2026-11-02T08:00:00Z'));
    await given(post('Later', '2026-11-19T08:00:00Z'));
    await given(post('Draft', '2026-11-02T08:00:00Z', { published: false }));
    const list = await read('/posts');
    expect(mainOf(list)).toBe(
      'News Newer 2 November 2026 by Ina & Co About <Newer> Older 1 November 2026 by Ina & Co About <Older> ' +
        'Feed of the news (Atom)',
    );
    const feed = await read('/posts.atom');
    expect([feed.status, feed.headers['content-type']]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    expect([...feed.text.matchAll(/<entry>.*?<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
      'Newer',
      'Older',
    ]);
    for (const part of [
      `<id>urn:uuid:${older.toLowerCase()}</id>`,
      '<summary>About &lt;Older&gt;</summary>',
      '<name>Ina &amp; Co</name>',
      '<published>2026-11-01T08:00:00Z</published>',
      '<link rel="alternate" href="http://localhost/shop/DemoShop/posts/older"/>',
      '<updated>2026-11-18T10:00:00Z</updated>',
    ]) {
      expect(feed.text).toContain(part);
    }
    expect(mainOf(await read('/posts/older'))).toContain('Older 1 November 2026 by Ina & Co');
    service.setClock(new Date('2026-11-19T08:00:00Z'));
    expect(mainOf(await read('/posts'))).toMatch(/^News Later/);
  });

  test('without any there is neither a list nor a feed', async () => {
    for (const path of ['/posts', '/posts.atom', '/posts?page=0', '/posts?page=x'])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
  });
});

test('the top of a category shows blocks above its first page', async () => {
  await given({
    kind: 'category',
    category: 'tea',
    published: true,
    texts: [{ locale: 'en_GB', blocks: [{ type: 'hero', title: 'All the tea' }] }],
  });
  const { text } = await read('/Categories/tea');
  expect(text).toContain('<h2>All the tea</h2>');
  expect(text.match(/<h1/g)).toHaveLength(1);
  expect((await read('/Categories/coffee')).text).not.toContain('All the tea');
});

describe('the search of the shop', () => {
  const page = (title: string, html: string, more: object = {}) => ({
    kind: 'page',
    published: true,
    texts: [
      { locale: 'en_GB', title, blocks: [{ type: 'richText', html }] },
      {
        locale: 'de_DE',
        title: `${title} auf Deutsch`,
        blocks: [{ type: 'richText', html: '<p>Häfen</p>' }],
      },
    ],
    ...more,
  });
  const found = async (query: string, locale = 'en_GB') => {
    const { text } = await read(`/search?q=${encodeURIComponent(query)}&locale=${locale}`);
    const [section = ''] = text.split(/<h2>(?:Pages|Seiten)<\/h2>/)[1]?.split('</section>') ?? [];
    return [...section.matchAll(/<a href="[^"]*\/((?:pages|posts)\/[^"?]*)[^"]*">([^<]*)</g)].map(
      ([, path, title]) => `${path} ${title}`,
    );
  };

  test('finds public pages by their words, in the language of the visitor', async () => {
    await given(page('Our harbour', '<p>Roasting <b>slowly</b> &amp; well.</p>'));
    const draft = await given(page('Secret harbours', '<p>x</p>', { published: false }));
    await given({ ...page('Harbour walk', '<p>slow</p>'), kind: 'post' });
    expect((await found('harbours')).toSorted()).toEqual([
      'pages/our-harbour Our harbour',
      'posts/harbour-walk Harbour walk',
    ]);
    // All words, in any form, and beginnings of words.
    expect(await found('roast slow')).toEqual(['pages/our-harbour Our harbour']);
    expect(await found('roasted p')).toEqual([]);
    expect(await found('Hafen', 'de_DE')).toHaveLength(2);
    expect(await found('harbour auf deutsch')).toEqual([]);
    const { text } = await read('/search?q=roasting');
    expect(text).toContain('<p class="hint">Roasting slowly &amp; well.</p>');
    expect(text).toContain('<h1>Results for “roasting”</h1>');

    await service.call('PUT', `/manage/shops/DemoShop/pages/${draft}`, {
      token,
      body: page('Secret quays', '<p>x</p>', { publishAt: '2030-01-01T08:00:00Z' }),
    });
    expect(await found('quays')).toEqual([]);
    service.setClock(new Date('2030-01-01T08:00:01Z'));
    expect(await found('quays')).toEqual(['pages/secret-quays Secret quays']);
  });

  test('lists a few of them, and asks nothing for a search that it knows', async () => {
    for (let index = 0; index < 7; index++) await given(page(`Quay ${index}`, '<p>Rope</p>'));
    expect(await found('rope')).toHaveLength(5);
    const { named } = recordStatements(service.db);
    expect(await found('rope')).toHaveLength(5);
    expect([...named].filter((text) => text.includes('search_words'))).toEqual([]);
  });

  test.each(["'", "a' | b:*", '\\', '"rope & !', ':* & (', '%', '\u{1f4a3}\u0301'])(
    'takes %j as words',
    async (query) => {
      expect((await read(`/search?q=${encodeURIComponent(query)}`)).status).toBe(200);
    },
  );
});
