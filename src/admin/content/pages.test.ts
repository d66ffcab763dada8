import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { startDemo } from '../../../test/demo.ts';
import { editorFields } from '../../../test/editor-fields.ts';
import type { Service } from '../../../test/service.ts';
import { givenVisitor } from '../../../test/visitor.ts';
import type { Block } from '../../content/blocks.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;

beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
});
beforeEach(async () => {
  await service.db.run(sql`delete from page`);
});
afterAll(() => service.close());

async function newPage(fields: Record<string, string> = {}): Promise<string> {
  const created = await merchant.post('/pages/new', {
    kind: 'page',
    title: 'About us',
    category: '',
    ...fields,
  });
  expect(created.status).toBe(303);
  return created.location!.replace('/admin/shops/DemoShop', '');
}

const typesOf = (text: string) =>
  [...text.matchAll(/name="blocks\.\d+\.type" value="(\w+)"/g)].map(([, type]) => type);

const blocksOf = async (locale = 'en_GB') =>
  (
    await service.db.one<{ blocks: Block[] }>(sql`
      select blocks from page_text where shop_id = 'DemoShop' and locale = ${locale}`)
  )?.blocks;

/** Presses a button of the editor, with the fields as they are on the page. */
const press = async (path: string, text: string, step: string, more: Record<string, string> = {}) =>
  merchant.post(path, { ...editorFields(text), ...more, do: step });

test('a page is written with buttons that need no script, and nothing is saved before Save', async () => {
  const path = await newPage();
  let { text } = await merchant.get(path);
  ({ text } = await press(path, text, 'add', { newType: 'heading' }));
  ({ text } = await press(path, text, 'add', { newType: 'faq', 'blocks.0.text': 'Ahoy <you>' }));
  ({ text } = await press(path, text, 'more 1', { 'blocks.1.items.0.question': 'Why?' }));
  ({ text } = await press(path, text, 'up 1', { 'blocks.1.items.1.question': 'How?' }));
  expect(typesOf(text)).toEqual(['faq', 'heading']);
  ({ text } = await press(path, text, 'duplicate 1'));
  expect(typesOf(text)).toEqual(['faq', 'heading', 'heading']);
  ({ text } = await press(path, text, 'down 0'));
  ({ text } = await press(path, text, 'remove 2'));
  expect(typesOf(text)).toEqual(['heading', 'faq']);
  expect(text).toContain('These changes are not saved yet.');
  expect(await blocksOf()).toEqual([]);

  const saved = await merchant.post(path, { ...editorFields(text), published: 'yes' });
  expect([saved.status, saved.location]).toEqual([303, `/admin/shops/DemoShop${path}?locale=en_GB`]);
  expect(await blocksOf()).toEqual([
    { type: 'heading', text: 'Ahoy <you>', level: '2' },
    {
      type: 'faq',
      questions: [
        { question: 'Why?', answer: '' },
        { question: 'How?', answer: '' },
      ],
    },
  ]);
  const shown = await givenVisitor(service, 'DemoShop').get('/pages/about-us');
  expect([shown.status, shown.text.includes('<h2>Ahoy &lt;you&gt;</h2>')]).toEqual([200, true]);
  // What was saved comes back as it was typed.
  expect(editorFields((await merchant.get(path)).text)).toMatchObject({
    'blocks.0.text': 'Ahoy <you>',
    published: 'yes',
  });
});

test('a refused block is named beside its field, and nothing is saved', async () => {
  const path = await newPage();
  let { text } = await merchant.get(path);
  ({ text } = await press(path, text, 'add', { newType: 'button' }));
  const refused = await merchant.post(path, {
    ...editorFields(text),
    'blocks.0.link': 'javascript:alert(1)',
    'blocks.0.linkText': 'Go',
  });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('id="field-blocks.0.link-problem"');
  expect(refused.text).toContain('value="javascript:alert(1)"');
  expect(await blocksOf()).toEqual([]);
});

test('another language begins with the blocks of the first, and has an address of its own', async () => {
  const path = await newPage();
  let { text } = await merchant.get(path);
  ({ text } = await press(path, text, 'add', { newType: 'heading' }));
  await merchant.post(path, { ...editorFields(text), 'blocks.0.text': 'Ahoy' });
  const german = `${path}?locale=de_DE`;
  ({ text } = await merchant.get(german));
  ({ text } = await press(german, text, 'copy', { from: 'en_GB' }));
  expect(typesOf(text)).toEqual(['heading']);
  await merchant.post(german, { ...editorFields(text), title: 'Über uns', 'blocks.0.text': 'Moin' });
  expect(await blocksOf('de_DE')).toEqual([{ type: 'heading', text: 'Moin', level: '2' }]);
  expect(await blocksOf('en_GB')).toEqual([{ type: 'heading', text: 'Ahoy', level: '2' }]);
});

test('the preview shows what was typed in two frames, and saves nothing', async () => {
  const path = await newPage();
  let { text } = await merchant.get(path);
  ({ text } = await press(path, text, 'add', { newType: 'heading' }));
  const preview = await press(path, text, 'preview', { 'blocks.0.text': 'Not yet' });
  expect(preview.status).toBe(200);
  const frames = [...preview.text.matchAll(/<iframe[^>]*src="([^"]*)"/g)].map(([, address]) => address!);
  expect(frames).toHaveLength(2);
  expect(preview.headers['content-security-policy']).toContain("frame-src 'self' http://");
  const shown = await givenVisitor(service, 'DemoShop').get(frames[0]!.replace(/^.*(?=\/page-preview)/, ''));
  expect(shown.text).toContain('<h2>Not yet</h2>');
  expect(await blocksOf()).toEqual([]);
});

test('an older version comes back, and the page stays public', async () => {
  const path = await newPage();
  let { text } = await merchant.get(path);
  ({ text } = await press(path, text, 'add', { newType: 'heading' }));
  await merchant.post(path, { ...editorFields(text), 'blocks.0.text': 'First' });
  ({ text } = await merchant.get(path));
  await merchant.post(path, { ...editorFields(text), 'blocks.0.text': 'Second', published: 'yes' });
  const restored = await merchant.post(`${path}/restore`, { version: '2' });
  expect(restored.status).toBe(303);
  expect(await blocksOf()).toEqual([{ type: 'heading', text: 'First', level: '2' }]);
  expect((await givenVisitor(service, 'DemoShop').get('/pages/about-us')).status).toBe(200);
  expect((await merchant.post(`${path}/restore`, { version: '99' })).status).toBe(404);
  expect((await merchant.post(`${path}/restore`, { version: '0' })).status).toBe(404);
});

test('a front page begins with what the built-in one shows', async () => {
  const visitor = givenVisitor(service, 'DemoShop');
  const before = await visitor.get('');
  const path = await newPage({ kind: 'home', title: '' });
  const { text } = await merchant.get(path);
  expect(typesOf(text)).toContain('hero');
  await merchant.post(path, { ...editorFields(text), published: 'yes' });
  const main = (page: string) => /<main[\s\S]*<\/main>/.exec(page)![0];
  expect(main((await visitor.get('')).text)).toBe(main(before.text));
});

test('a change of another person is not overwritten', async () => {
  const path = await newPage();
  const { text } = await merchant.get(path);
  await merchant.post(path, { ...editorFields(text), title: 'Theirs' });
  const refused = await merchant.post(path, { ...editorFields(text), title: 'Mine' });
  expect(refused.status).toBe(409);
  expect((await merchant.get('/pages')).text).toContain('>Theirs</a>');
});

test('staff without the right to write see the page and no buttons', async () => {
  const path = await newPage();
  const reader = await givenMerchant(service, 'accountant');
  const page = await reader.get(path);
  expect([page.status, page.text.includes('name="do"')]).toEqual([200, false]);
  expect((await reader.post(path, editorFields(page.text))).status).toBe(403);
  expect((await reader.get('/pages/new')).status).toBe(403);
});

describe('the menus', () => {
  const visitor = () => givenVisitor(service, 'DemoShop');
  /** The texts and addresses of the navigation with this name, in their order. */
  const linksOf = (text: string, name: string) => {
    const [nav] = text.slice(text.indexOf(`<nav aria-label="${name}">`)).split('</nav>') as [string];
    return [...nav.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map(
      ([, href, label]) => `${label} ${href!.replace('/shop/DemoShop', '')}`,
    );
  };
  const headerLinks = async () => linksOf((await visitor().get('/Categories/kitchen')).text, 'Menu');
  const save = async (fields: Record<string, string>) => {
    const { text } = await merchant.get('/settings/menus');
    const version = /name="version" value="([^"]*)"/.exec(text)![1]!;
    return merchant.post('/settings/menus', { version, ...fields });
  };
  const entry = (at: string, text: string, link: string) => ({
    [`menus.${at}.text.en_GB`]: text,
    [`menus.${at}.link`]: link,
  });
  const createPage = (published: boolean, publishAt?: string) =>
    service.call('POST', '/manage/shops/DemoShop/pages', {
      token: 'demo-all',
      body: {
        kind: 'page',
        published,
        publishAt,
        texts: [
          { locale: 'en_GB', title: 'Roastery', blocks: [] },
          { locale: 'de_DE', title: 'Rösterei', blocks: [] },
        ],
      },
    });
  afterEach(async () => {
    service.setClock(undefined);
    await save({});
  });

  test('lead to categories, products, pages and addresses, and leave out what visitors do not see', async () => {
    const before = (await visitor().get('/Categories/kitchen')).text;
    const categories = linksOf(before, 'Categories');
    expect(categories.length).toBeGreaterThan(2);
    const information = linksOf(before, 'Information');
    const { body: page } = await createPage(true);
    const saved = await save({
      ...entry('header.0', 'Cooking', '/Categories/kitchen'),
      'menus.header.0.text.de_DE': 'Kochen',
      ...entry('header.0.entries.0', 'Knife', '/Products/KN-100'),
      ...entry('header.0.entries.1', 'Missing', '/Products/NO-SUCH'),
      ...entry('header.1', 'How we roast', '/pages/roesterei'),
      ...entry('header.2', 'Gone', '/Categories/no-such'),
      ...entry('header.2.entries.0', 'Below', '/'),
      ...entry('footer.0', 'Our <blog>', 'https://blog.example/harbour'),
    });
    expect([saved.status, saved.location]).toEqual([303, '/admin/shops/DemoShop/settings/menus']);
    const all = ['Cooking /Categories/kitchen', 'Knife /Products/KN-100', 'How we roast /pages/roastery'];
    expect(await headerLinks()).toEqual(all);
    const { text } = await visitor().get('/Categories/kitchen');
    expect(text).not.toContain('<nav aria-label="Categories">');
    expect(linksOf(text, 'Information')).toEqual([
      'Our &lt;blog&gt; https://blog.example/harbour',
      ...information,
    ]);
    const german = (await visitor().get('/Categories/kitchen?locale=de_DE')).text;
    expect(linksOf(german, 'Menü').map((link) => link.replace(/\?.*/, ''))).toEqual([
      'Kochen /Categories/kitchen',
      'Knife /Products/KN-100',
      'How we roast /pages/roesterei',
    ]);

    // A product is hidden without a change of the settings.
    const visible = (isVisible: boolean) =>
      service.db.run(sql`
        update product set visible = ${isVisible} where shop_id = 'DemoShop' and product_number = 'KN-100'`);
    await visible(false);
    expect(await headerLinks()).toEqual(all.filter((link) => !link.startsWith('Knife')));
    await visible(true);
    expect(await headerLinks()).toEqual(all);
    await service.call('DELETE', `/manage/shops/DemoShop/pages/${page.pageId}`, { token: 'demo-all' });
    expect(await headerLinks()).toEqual(all.slice(0, 2));

    expect((await save({})).status).toBe(303);
    const { text: after } = await visitor().get('/Categories/kitchen');
    expect([linksOf(after, 'Categories'), linksOf(after, 'Information')]).toEqual([categories, information]);
  });

  test('name a page from the moment of its publication on', async () => {
    const start = new Date();
    service.setClock(start);
    const inAnHour = new Date(start.getTime() + 3_600_000);
    await createPage(true, `${inAnHour.toISOString().slice(0, 19)}Z`);
    await save({
      ...entry('header.0', 'Start', '/'),
      ...entry('header.1', 'How we roast', '/pages/roastery'),
    });
    expect(await headerLinks()).toEqual(['Start ']);
    service.setClock(new Date(inAnHour.getTime() + 1_000));
    expect(await headerLinks()).toEqual(['Start ', 'How we roast /pages/roastery']);
  });

  test('take no address that a browser would run, and no more entries than fit', async () => {
    const refused = await save(entry('footer.0', 'Click', 'javascript:alert(1)'));
    expect([refused.status, refused.text.includes('href="#field-menus.footer.0.link"')]).toEqual([422, true]);
    const many = Object.assign(
      {},
      ...Array.from({ length: 21 }, (_, index) => entry(`header.${index}`, `Entry ${index}`, '/')),
    );
    expect((await save(many)).status).toBe(422);
    expect((await visitor().get('/Categories/kitchen')).text).toContain('<nav aria-label="Categories">');
  });
});
