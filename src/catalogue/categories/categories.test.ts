import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { statementsOf } from '../../../test/carts.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { refreshListing } from '../products/listing.ts';

let service: Service;
let token: string;
let reader: string;
let root: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  await service.db.run(sql`
    update shop set locales = ${['en_GB', 'de_DE', 'fr_FR']} where shop_id = 'Harbour'`);
  token = await givenToken(service, 'Harbour');
  reader = await givenToken(service, 'Harbour', ['products_read']);
  root = (await call('GET', '')).body[0].categoryId;
});
afterAll(() => service.close());

const API = 'http://localhost:80/rs/shops/Harbour';
const STOREFRONT = 'http://localhost:80/shop/Harbour/Categories';

const call = (method: string, path: string, options: CallOptions = {}) =>
  service.call(method, `/Harbour/categories${path}`, { token, ...options });
const get = (path: string, as = token) => call('GET', path, { token: as });
const post = (parent: string, body: unknown, query = '') => call('POST', `/${parent}${query}`, { body });
const put = (id: string, body: object, query = '') =>
  call('PUT', `/${id}${query}`, { body: { categoryId: id, ...body } });

const linkTo = (rel: string, id: string, title: string) => ({ rel, href: `${API}/categories/${id}`, title });
const productsOf = (id: string) => [{ rel: 'products', href: `${API}/products?categoryId=${id}` }];

async function givenCategory(alias: string, { parent = root, visible = true, ...facts } = {}) {
  const { status, body } = await post(parent, { alias, ...facts });
  expect(status).toBe(200);
  if (visible) expect((await put(body.categoryId, { alias: body.alias, visible: true })).status).toBe(200);
  return body.categoryId as string;
}

async function givenProduct(number: string, master?: string, shopId = 'Harbour'): Promise<string> {
  const productId = newId(service.db.now);
  await service.db.transaction(async (tx) => {
    await tx.run(sql`
      insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
        visible, facts)
      values (${shopId}, ${productId}, ${number}, ${master ? 'variation' : 'regular'}, ${master ?? null},
        ${master ? { Size: number } : null}, ${tx.now}, 1, true, ${{ name: { en_GB: `Product ${number}` } }})`);
    await refreshListing(tx, shopId, [productId]);
  });
  return productId;
}

const asQuery = (categoryIds: string[], productIds: string[]) =>
  [...categoryIds.map((id) => `categoryId=${id}`), ...productIds.map((id) => `productId=${id}`)].join('&');
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const assign = (categoryIds: string[], productIds: string[]) =>
  service.call('POST', '/Harbour/product-category-assignments', {
    token,
    body: asQuery(categoryIds, productIds),
    headers: form,
  });
const unassign = (categoryIds: string[], productIds: string[]) =>
  service.call('DELETE', `/Harbour/product-category-assignments?${asQuery(categoryIds, productIds)}`, {
    token,
  });

/** The aliases of the categories that the API says a product is in. */
const categoriesOf = async (productId: string, query = '', as = token): Promise<string[]> => {
  const { status, body } = await get(`?productId=${productId}${query}`, as);
  expect(status).toBe(200);
  return body.map(({ alias }: { alias: string }) => alias);
};

const versions = async () =>
  Object.fromEntries(
    (
      await service.db.many<{ number: string; version: number }>(
        sql`select product_number as number, version from product where shop_id = 'Harbour'`,
      )
    ).map(({ number, version }) => [number, version]),
  );
const settingsVersion = async () =>
  (await service.db.one<{ version: number }>(
    sql`select settings_version as version from shop where shop_id = 'Harbour'`,
  ))!.version;
/** What lists keep: the size of each, and which products they hold. */
const lists = async () =>
  (
    await service.db.many<{ line: string }>(sql`
      select category.alias || ' ' || coalesce(sum(size.products), 0) || ' ' || (
        select coalesce(string_agg(product.product_number, ',' order by product.product_number), '-')
        from category_listing entry
        join product on product.shop_id = entry.shop_id and product.product_id = entry.product_id
        where entry.shop_id = 'Harbour' and entry.category_id = category.category_id and entry.locale = 'en_GB'
      ) as line
      from category
      left join listing_size size on size.shop_id = category.shop_id and size.category_id = category.category_id
      where category.shop_id = 'Harbour'
      group by category.category_id, category.alias, category.number order by category.number`)
  ).map(({ line }) => line);

const everything = async () => [
  await service.db.many(sql`select * from category order by shop_id, category_id`),
  await service.db.many(sql`select * from product_category order by shop_id, product_id, category_id`),
  await service.db.many(
    sql`select * from category_listing order by shop_id, category_id, product_id, locale`,
  ),
  await service.db.many(sql`select * from listing_size order by shop_id, category_id, visible`),
  await service.db.many(sql`select shop_id, settings_version from shop order by shop_id`),
  await service.db.many(sql`select shop_id, product_id, version from product order by shop_id, product_id`),
  await service.db.many(sql`select * from counter order by shop_id, name`),
];

/** The status and text of a refusal; on the way it is checked that nothing has changed. */
async function refusal(sent: () => Promise<Answer>): Promise<[status: number, text: string]> {
  const before = await everything();
  const { status, body } = await sent();
  expect(await everything()).toEqual(before);
  return [status, body.message.split(', Request: ')[0]];
}
const problem = (action: string, code: string, field: string) =>
  [400, `${action} failed:\n\tvalidation error ${code} on field ${field}`] as const;
const NOT_FOUND = [404, 'HTTP 404 Not Found'];

describe('reading', () => {
  test('a new shop has one root, called Categories', async () => {
    const { status, body } = await get('', reader);
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        categoryId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
        alias: 'Categories',
        name: 'Home page',
        visible: true,
        visibleInNavigation: true,
        pageTitle: null,
        navigationCaption: null,
        description: null,
        specialOffer: false,
        facetedSearchShowFacetsOnCategory: true,
        facetedSearchCategoryStartDepth: 3,
        images: [],
        parent: null,
        subCategories: [],
        sfUrl: STOREFRONT,
        links: productsOf(root),
      },
    ]);
    expect((await get(`/${root}`)).body).toEqual(body[0]);
  });

  test('shows the parent and the children with their names in the locale', async () => {
    const drinks = await givenCategory('drinks', { name: 'Cold drinks' } as object);
    const cola = await givenCategory('cola', { parent: drinks, name: 'Cola' } as object);
    const plain = await givenCategory('plain', { parent: drinks });
    await put(drinks, { name: 'Kaltgetränke' }, '?locale=de_DE');
    await put(cola, { name: 'Brause' }, '?locale=de_DE');
    await put(root, { name: 'Startseite', alias: 'Categories' }, '?locale=de_DE');

    const english = (await get(`/${drinks}`)).body;
    expect(english).toMatchObject({
      name: 'Cold drinks',
      parent: linkTo('parent', root, 'Home page'),
      subCategories: [linkTo('child', cola, 'Cola'), linkTo('child', plain, 'plain')],
      sfUrl: `${STOREFRONT}/drinks`,
      links: productsOf(drinks),
    });
    expect((await get(`/${drinks}?locale=de_DE`)).body).toEqual({
      ...english,
      name: 'Kaltgetränke',
      parent: linkTo('parent', root, 'Startseite'),
      subCategories: [linkTo('child', cola, 'Brause'), linkTo('child', plain, 'plain')],
    });
    // What a locale lacks is shown in the default one, and so is a locale that the shop does not have.
    expect((await get(`/${drinks}?locale=fr_FR`)).body).toEqual(english);
    expect((await get(`/${drinks}?locale=es_ES`)).body).toEqual(english);
    expect((await get('?locale=DE_de')).body[0].subCategories).toEqual([
      linkTo('child', drinks, 'Kaltgetränke'),
    ]);
  });

  test('a short locale is refused', async () => {
    for (const path of ['?locale=en', `/${root}?locale=en`]) {
      const { status, body } = await get(path);
      expect([status, body.message.split(',')[0]]).toEqual([400, 'expected full locale for example en_US']);
    }
  });

  test('shows the sizes of its picture, without those that are missing', async () => {
    const lamps = await givenCategory('lamps');
    const key = newId(service.db.now);
    const size = (file: string, side: number) => ({ file, width: side, height: side, bytes: side * 10 });
    const sizes = { Large: size('lamp.png', 800), Small: size('lamp_s.png', 100), Medium: null };
    await service.db.run(sql`
      update category set image_key = ${key}, image_sizes = ${sizes} where category_id = ${lamps}`);
    const shown = (file: string, classifier: string, side: number) => ({
      url: `http://localhost:80/media/Harbour/${key}/${file}`,
      classifier,
      isZoomEnabled: false,
      width: side,
      height: side,
      fileSize: side * 10,
    });
    expect((await get(`/${lamps}`)).body.images).toEqual([
      shown('lamp.png', 'Large', 800),
      shown('lamp_s.png', 'Small', 100),
    ]);
  });

  test('hidden ones are shown with includeInvisible and products_write only', async () => {
    const shown = await givenCategory('shown');
    const hidden = await givenCategory('hidden', { visible: false });
    const below = await givenCategory('below', { parent: hidden });
    const aliases = async (query: string, as?: string) => {
      const { body } = await call('GET', query, as === undefined ? { token: '' } : { token: as });
      return body[0].subCategories.map(({ title }: { title: string }) => title);
    };
    expect(await aliases('', token)).toEqual(['shown']);
    expect(await aliases('?includeInvisible=false', token)).toEqual(['shown']);
    expect(await aliases('?includeInvisible=true', reader)).toEqual(['shown']);
    expect(await aliases('?includeInvisible=true', token)).toEqual(['shown', 'hidden']);

    expect((await get(`/${shown}`, reader)).status).toBe(200);
    for (const [query, as] of [
      ['', token],
      ['?includeInvisible=true', reader],
    ] as const) {
      const { status, body } = await get(`/${hidden}${query}`, as);
      expect([status, body.status]).toEqual([404, 'Not Found']);
    }
    expect((await get(`/${hidden}?includeInvisible=true`)).body).toMatchObject({ visible: false });
    // Nothing leads to what can not be opened.
    expect((await get(`/${below}`, reader)).body.parent).toBeNull();
    expect((await get(`/${below}?includeInvisible=true`)).body.parent).toEqual(
      linkTo('parent', hidden, 'hidden'),
    );
  });

  test('without a token, as far as the shop shows its catalogue', async () => {
    await givenCategory('hidden', { visible: false });
    const { status, body } = await service.call('GET', '/Harbour/categories?includeInvisible=true');
    expect([status, body[0].subCategories]).toEqual([200, []]);
    await givenShop(service, 'Closed');
    await service.db.run(sql`update shop set public_catalogue = false where shop_id = 'Closed'`);
    expect((await service.call('GET', '/Closed/categories')).status).toBe(401);
  });

  test('the categories of a product, its main category first', async () => {
    const tea = await givenCategory('tea');
    const green = await givenCategory('green', { parent: tea });
    const hidden = await givenCategory('hidden', { visible: false });
    const product = await givenProduct('TE-1');
    await assign([green], [product]);
    await assign([tea, hidden], [product]);
    expect(await categoriesOf(product)).toEqual(['green', 'tea']);
    expect(await categoriesOf(product.toLowerCase(), '', reader)).toEqual(['green', 'tea']);
    expect(await categoriesOf(product, '&includeInvisible=true', reader)).toEqual(['green', 'tea']);
    expect(await categoriesOf(product, '&includeInvisible=true')).toEqual(['green', 'tea', 'hidden']);
    expect((await get(`?productId=${product}`)).body[0]).toEqual((await get(`/${green}`)).body);
    expect((await call('GET', `/?productId=${product}`)).body).toHaveLength(2);

    expect(await categoriesOf(newId(new Date()))).toEqual([]);
    expect(await categoriesOf('nonsense')).toEqual([]);
    expect(await categoriesOf(await givenProduct('X-1', undefined, 'Other'))).toEqual([]);
    expect(await categoriesOf('')).toEqual(['Categories']);
  });

  test('unknown ids, and those of another shop, are 404', async () => {
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    for (const id of [newId(new Date()), theirs, 'nonsense']) {
      for (const path of [`/${id}`, `/${id}/sequence`]) expect((await get(path)).status).toBe(404);
    }
  });

  test('costs the same number of statements, however many there are', async () => {
    const counted = async (path: string) => {
      const statements = await statementsOf(async () => expect((await get(path)).status).toBe(200));
      return statements.length;
    };
    const product = await givenProduct('P');
    const one = [await givenCategory('one')];
    await assign(one, [product]);
    await get('');
    // The version of the settings and the categories.
    expect([await counted(''), await counted(`?productId=${product}`)]).toEqual([2, 2]);
    const more = await Promise.all(Array.from({ length: 8 }, (_, index) => givenCategory(`more ${index}`)));
    await assign(more, [product]);
    await get('');
    expect([await counted(''), await counted(`?productId=${product}`)]).toEqual([2, 2]);
  });
});

describe('creating', () => {
  test('a new subcategory is hidden and its alias counts up', async () => {
    const before = await settingsVersion();
    const { status, body } = await post(root, {
      name: 'Accessories',
      alias: 'Accessories',
      pageTitle: 'All accessories',
      description: '<p>Small things</p>',
      navigationCaption: 'Small things',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      categoryId: expect.stringMatching(/^[0-9A-F-]{36}$/),
      alias: 'Accessories',
      name: 'Accessories',
      visible: false,
      visibleInNavigation: true,
      pageTitle: 'All accessories',
      navigationCaption: 'Small things',
      description: '<p>Small things</p>',
      facetedSearchShowFacetsOnCategory: true,
      facetedSearchCategoryStartDepth: 3,
      parent: linkTo('parent', root, 'Home page'),
      sfUrl: `${STOREFRONT}/Accessories`,
      links: productsOf(body.categoryId),
    });
    expect(await settingsVersion()).toBe(before + 1);
    const next = async () => {
      const { alias, sfUrl } = (await post(root, { alias: 'Accessories' })).body;
      expect(sfUrl).toBe(`${STOREFRONT}/${alias}`);
      return alias;
    };
    expect([await next(), await next()]).toEqual(['Accessories1', 'Accessories2']);
    expect((await post(root, { alias: 'Categories' })).body.alias).toBe('Categories1');
    // Another shop has aliases of its own.
    const other = await givenToken(service, 'Other');
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    const made = await service.call('POST', `/Other/categories/${theirs}`, {
      token: other,
      body: { alias: 'Accessories' },
    });
    expect(made.body.alias).toBe('Accessories');
  });

  test('many at once all get an alias and a place of their own', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => post(root, { name: 'Tea' })));
    const aliases = ['Tea', ...Array.from({ length: 11 }, (_, index) => `Tea${index + 1}`)];
    expect(made.map(({ status }) => status)).toEqual(aliases.map(() => 200));
    expect((await get(`/${root}/sequence`)).body).toEqual(aliases);
    const rows = await service.db.many<{ number: number; position: number }>(sql`
      select number, position from category where shop_id = 'Harbour' and parent_id = ${root} order by number`);
    expect(rows).toEqual(aliases.map((_, index) => ({ number: index + 2, position: index })));
  });

  test('everything is optional, and null or blank is as good as absent', async () => {
    expect((await post(root, {})).body).toMatchObject({
      alias: 'category',
      name: 'category',
      pageTitle: null,
      navigationCaption: null,
      description: null,
    });
    const nothing = { name: null, alias: null, pageTitle: '', description: ' ', navigationCaption: null };
    expect((await post(root, nothing)).body).toMatchObject({
      alias: 'category1',
      name: 'category1',
      pageTitle: null,
      description: null,
    });
  });

  test.each([
    ['Cold drinks', 'Cold_drinks'],
    ['Gemüse & Obst', 'Gemüse_Obst'],
    ['a-b_c 2', 'a-b_c_2'],
    ['  !  ', 'category'],
    ['コーヒー', 'コーヒー'],
    ['x'.repeat(255), 'x'.repeat(200)],
  ])('makes an alias of the name %s', async (name, alias) => {
    const { body } = await post(root, { name });
    expect(body.alias).toBe(alias);
    expect(body.sfUrl).toBe(`${STOREFRONT}/${encodeURIComponent(alias)}`);
  });

  test('an alias of full length still counts up', async () => {
    const alias = 'x'.repeat(200);
    const made = [];
    for (let count = 0; count < 12; count++) made.push((await post(root, { alias })).body.alias);
    expect(made.slice(0, 3)).toEqual([alias, `${'x'.repeat(199)}1`, `${'x'.repeat(199)}2`]);
    expect(made.at(-1)).toBe(`${'x'.repeat(198)}11`);
  });

  test('an alias is cut between characters, never inside of one', async () => {
    const alias = '⚓'.repeat(100) + '🛟'.repeat(100);
    await post(root, { alias });
    expect((await post(root, { alias })).body.alias).toBe(`${'⚓'.repeat(100)}${'🛟'.repeat(99)}1`);
  });

  test('writes texts in the locale of the call', async () => {
    const { body } = await post(root, { name: 'Tee', alias: 'tea', description: 'Warm' }, '?locale=de_DE');
    expect(body).toMatchObject({ name: 'Tee', description: 'Warm' });
    const shown = (locale: string) =>
      get(`/${body.categoryId}?includeInvisible=true&locale=${locale}`).then((answer) => answer.body);
    expect(await shown('de_DE')).toMatchObject({ name: 'Tee', description: 'Warm' });
    expect(await shown('en_GB')).toMatchObject({ name: 'tea', description: null });
  });

  test('refuses a parent, a locale or a value that is none', async () => {
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    expect(await refusal(() => post(theirs, {}))).toEqual(NOT_FOUND);
    expect(await refusal(() => post(newId(new Date()), {}))).toEqual(NOT_FOUND);
    expect((await refusal(() => post(root, {}, '?locale=es_ES')))[0]).toBe(400);
    expect(await refusal(() => post(root, { alias: 'x'.repeat(201) }))).toEqual(
      problem('Create subcategory', 'TOO_LONG', 'alias'),
    );
    expect(await refusal(() => post(root, { name: 7 }))).toEqual(
      problem('Create subcategory', 'WRONG_TYPE', 'name'),
    );
    expect(await refusal(() => post(root, undefined))).toEqual(
      problem('Create subcategory', 'WRONG_TYPE', 'body'),
    );
  });
});

describe('updating', () => {
  test('takes what reading shows: special offers and facets', async () => {
    const tea = await givenCategory('tea');
    const flags = {
      specialOffer: true,
      facetedSearchShowFacetsOnCategory: false,
      facetedSearchCategoryStartDepth: 1,
    };
    const path = `/Harbour/categories/${tea}`;
    const body = { categoryId: tea, alias: 'tea', ...flags };
    expect((await service.call('PUT', path, { token, body })).body).toMatchObject(flags);
    const left = { categoryId: tea, alias: 'tea' };
    expect((await service.call('PUT', path, { token, body: left })).body).toMatchObject(flags);
    for (const depth of [-1, 101, 1.5]) {
      const wrong = { ...body, facetedSearchCategoryStartDepth: depth };
      expect((await refusal(() => service.call('PUT', path, { token, body: wrong })))[0]).toBe(400);
    }
  });

  test('needs the id of the path, and an alias', async () => {
    const tea = await givenCategory('tea');
    const other = await givenCategory('other');
    const send = (body: unknown) => () => call('PUT', `/${tea}`, { body });
    expect(await refusal(send({ categoryId: other, alias: 'tea' }))).toEqual(
      problem('Update category', 'UNKNOWN_VALUE', 'categoryId'),
    );
    expect(await refusal(send({ alias: 'tea' }))).toEqual(
      problem('Update category', 'MISSING', 'categoryId'),
    );
    expect(await refusal(send({}))).toEqual(problem('Update category', 'MISSING', 'categoryId'));
    expect(await refusal(send(undefined))).toEqual(problem('Update category', 'WRONG_TYPE', 'body'));
    for (const lacking of [{}, { alias: null }, { name: null }, { name: ' ' }, { visible: true }]) {
      expect(await refusal(send({ categoryId: tea, ...lacking }))).toEqual(
        problem('Update category', 'MISSING', 'alias'),
      );
    }
    expect(await refusal(send({ categoryId: tea, alias: '' }))).toEqual(
      problem('Update category', 'STRING_EMPTY', 'alias'),
    );
    expect((await put(tea, { categoryId: tea.toLowerCase(), alias: 'Tea' })).body.alias).toBe('Tea');
  });

  test('changes what is sent, in one locale, and keeps the rest', async () => {
    const before = await settingsVersion();
    const tea = await givenCategory('tea', { name: 'Tea', visible: false } as object);
    const full = { alias: 'teas', name: 'Teas', navigationCaption: 'N', pageTitle: 'P', description: 'D' };
    const { body } = await put(tea, { ...full, visible: true, visibleInNavigation: false });
    expect(body).toEqual({
      categoryId: tea,
      ...full,
      visible: true,
      visibleInNavigation: false,
      specialOffer: false,
      facetedSearchShowFacetsOnCategory: true,
      facetedSearchCategoryStartDepth: 3,
      images: [],
      parent: linkTo('parent', root, 'Home page'),
      subCategories: [],
      sfUrl: `${STOREFRONT}/teas`,
      links: productsOf(tea),
    });
    expect((await get(`/${tea}`)).body).toEqual(body);
    expect(await settingsVersion()).toBe(before + 2);

    expect((await put(tea, { alias: 'teas' })).body).toEqual(body);
    const german = (await put(tea, { name: 'Tees', description: null }, '?locale=de_DE')).body;
    expect(german).toEqual({ ...body, name: 'Tees' });
    expect((await get(`/${tea}`)).body).toEqual(body);
    // Without an alias: as some clients do.
    expect((await put(tea, { name: 'Fine teas', description: null })).body).toEqual({
      ...body,
      name: 'Fine teas',
      description: null,
    });
    expect((await put(tea, { alias: 'teas', name: null, visible: null })).body).toMatchObject({
      name: 'teas',
      visible: true,
    });
    expect((await get(`/${tea}?locale=de_DE`)).body.name).toBe('Tees');
  });

  test('an alias that another category has is a conflict', async () => {
    const tea = await givenCategory('tea');
    await givenCategory('coffee');
    expect(await refusal(() => put(tea, { alias: 'coffee', name: 'x' }))).toEqual([
      409,
      'This alias is taken',
    ]);
    expect(await refusal(() => put(tea, { alias: 'Categories' }))).toEqual([409, 'This alias is taken']);
  });

  test('the root keeps its alias', async () => {
    expect(await refusal(() => put(root, { alias: 'Start' }))).toEqual([
      409,
      'The alias of the root category can not be changed',
    ]);
    expect((await put(root, { alias: 'Categories', name: 'Start' })).body).toMatchObject({
      name: 'Start',
      sfUrl: STOREFRONT,
    });
  });

  test('refuses what is not there', async () => {
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    expect(await refusal(() => put(theirs, { alias: 'x' }))).toEqual(NOT_FOUND);
    expect(await refusal(() => put(newId(new Date()), { alias: 'x' }))).toEqual(NOT_FOUND);
    expect((await refusal(() => put(root, { name: 'x' }, '?locale=es_ES')))[0]).toBe(400);
  });
});

describe('deleting', () => {
  test('takes the categories below along and loses no product', async () => {
    const tea = await givenCategory('tea');
    const green = await givenCategory('green', { parent: tea });
    const sencha = await givenCategory('sencha', { parent: green });
    const gifts = await givenCategory('gifts');
    const [a, b, c] = [await givenProduct('A'), await givenProduct('B'), await givenProduct('C')];
    await assign([tea, sencha, gifts], [a]);
    await assign([green], [b]);
    await assign([gifts], [c]);
    const before = await versions();
    const settings = await settingsVersion();
    expect(await lists()).toEqual(['Categories 0 -', 'tea 1 A', 'green 1 B', 'sencha 1 A', 'gifts 2 A,C']);

    const { status, text } = await call('DELETE', `/${tea}`);
    expect([status, text]).toEqual([204, '']);
    for (const id of [tea, green, sencha]) {
      expect((await get(`/${id}?includeInvisible=true`)).status).toBe(404);
    }
    expect((await get(`/${root}/sequence`)).body).toEqual(['gifts']);
    expect([await categoriesOf(a), await categoriesOf(b), await categoriesOf(c)]).toEqual([
      ['gifts'],
      [],
      ['gifts'],
    ]);
    expect(await versions()).toEqual({ ...before, A: before['A']! + 1, B: before['B']! + 1 });
    expect(await settingsVersion()).toBe(settings + 1);
    expect(await lists()).toEqual(['Categories 0 -', 'gifts 2 A,C']);
    const left = await service.db.many(sql`
      select category_id from category_listing where shop_id = 'Harbour' and category_id <> ${gifts}
      union all
      select category_id from listing_size where shop_id = 'Harbour'
        and category_id not in (${gifts}, '00000000-0000-0000-0000-000000000000')`);
    expect(left).toEqual([]);
    expect((await call('DELETE', `/${tea}`)).status).toBe(404);
  });

  test('more products than go in one batch', async () => {
    const tea = await givenCategory('tea');
    await service.db.transaction(async (tx) => {
      await tx.run(sql`
        insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, facts)
        select 'Harbour', md5(number::text)::uuid, number, 'regular', ${tx.now}, 1, true, '{}'
        from generate_series(1, 1100) as number`);
      await tx.run(sql`
        insert into product_category (shop_id, product_id, category_id, position)
        select shop_id, product_id, ${tea}, 0 from product where shop_id = 'Harbour'`);
      const rows = await tx.many<{ id: string }>(sql`select product_id as id from product`);
      await refreshListing(
        tx,
        'Harbour',
        rows.map(({ id }) => id),
      );
    });
    expect((await call('DELETE', `/${tea}`)).status).toBe(204);
    const counted = await service.db.one(sql`
      select count(*) as products, count(*) filter (where version = 2) as touched, (
        select products from listing_size where shop_id = 'Harbour' and visible
      ) as listed, (select count(*) from category_listing) as "inCategories"
      from product where shop_id = 'Harbour'`);
    expect(counted).toEqual({ products: 1100, touched: 1100, listed: 1100, inCategories: 0 });
  });

  test('refuses the root, and what is not there', async () => {
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    expect(await refusal(() => call('DELETE', `/${root}`))).toEqual([
      409,
      'The root category can not be deleted',
    ]);
    expect(await refusal(() => call('DELETE', `/${theirs}`))).toEqual(NOT_FOUND);
    expect(await refusal(() => call('DELETE', `/${newId(new Date())}`))).toEqual(NOT_FOUND);
  });

  test('while products are being assigned leaves nothing behind', async () => {
    const products = await Promise.all(Array.from({ length: 5 }, (_, index) => givenProduct(`P${index}`)));
    const tea = await givenCategory('tea');
    const below = await givenCategory('below', { parent: tea });
    const answers = await Promise.all([
      ...products.map((product) => assign([tea, below], [product])),
      call('DELETE', `/${tea}`),
      post(tea, {}),
    ]);
    for (const { status } of answers) expect(status).toBeOneOf([200, 204, 404]);
    expect(answers[5]!.status).toBe(204);
    expect(await lists()).toEqual(['Categories 0 -']);
    expect(await service.db.many(sql`select * from product_category`)).toEqual([]);
    expect(await service.db.many(sql`select * from category_listing`)).toEqual([]);
    expect(Object.keys(await versions())).toHaveLength(5);
  });
});

describe('the sequence', () => {
  test('is changed by naming all subcategories in another order', async () => {
    for (const alias of ['coffee', 'tea', 'drinks']) await givenCategory(alias);
    const hidden = await givenCategory('hidden', { visible: false });
    expect((await get(`/${root}/sequence`)).body).toEqual(['coffee', 'tea', 'drinks', 'hidden']);
    const order = ['drinks', 'hidden', 'coffee', 'tea'];
    const { status, body } = await call('PUT', `/${root}/sequence`, { body: order });
    expect([status, body]).toEqual([200, order]);
    expect((await get(`/${root}/sequence`)).body).toEqual(order);
    const titles = (await get('?includeInvisible=true')).body[0].subCategories.map(
      ({ title }: { title: string }) => title,
    );
    expect(titles).toEqual(order);
    // A leaf has none, and a new one comes last.
    expect((await get(`/${hidden}/sequence`)).body).toEqual([]);
    expect((await call('PUT', `/${hidden}/sequence`, { body: [] })).body).toEqual([]);
    await givenCategory('new');
    expect((await get(`/${root}/sequence`)).body).toEqual([...order, 'new']);
  });

  test('refuses to add, repeat or leave out, and what is no list', async () => {
    const tea = await givenCategory('tea');
    await givenCategory('green', { parent: tea });
    await givenCategory('coffee');
    const send = (body: unknown) => refusal(() => call('PUT', `/${root}/sequence`, { body }));
    const wrong = (code: string, field: string) => problem('Update category sequence', code, field);
    expect(await send(['tea', 'coffee', 'green'])).toEqual(wrong('UNKNOWN_VALUE', '2'));
    expect(await send(['tea', 'tea', 'coffee'])).toEqual(wrong('UNKNOWN_VALUE', '1'));
    expect(await send(['Tea', 'coffee'])).toEqual(wrong('UNKNOWN_VALUE', '0'));
    expect(await send(['tea'])).toEqual(wrong('MISSING', 'body'));
    expect(await send([])).toEqual(wrong('MISSING', 'body'));
    expect(await send({})).toEqual(wrong('WRONG_TYPE', 'body'));
    expect(await send([7, 'tea'])).toEqual(wrong('WRONG_TYPE', '0'));
    const nobody = newId(new Date());
    expect(await refusal(() => call('PUT', `/${nobody}/sequence`, { body: [] }))).toEqual(NOT_FOUND);
  });
});

describe('assignments', () => {
  test('every product to every category, and back', async () => {
    const [tea, gifts] = [await givenCategory('tea'), await givenCategory('gifts')];
    const [a, b, c] = [await givenProduct('A'), await givenProduct('B'), await givenProduct('C')];
    const { status, text } = await assign([tea, gifts.toLowerCase(), tea], [a, b.toLowerCase()]);
    expect([status, text]).toEqual([204, '']);
    expect(await categoriesOf(a)).toEqual(['tea', 'gifts']);
    expect(await categoriesOf(b)).toEqual(['tea', 'gifts']);
    expect(await categoriesOf(c)).toEqual([]);
    expect(await lists()).toEqual(['Categories 0 -', 'tea 2 A,B', 'gifts 2 A,B']);
    expect(await versions()).toEqual({ A: 2, B: 2, C: 1 });

    // Only what was not assigned yet is a change.
    expect((await assign([tea], [a, b, c])).status).toBe(204);
    expect(await versions()).toEqual({ A: 2, B: 2, C: 2 });
    expect(await lists()).toEqual(['Categories 0 -', 'tea 3 A,B,C', 'gifts 2 A,B']);

    expect((await unassign([tea], [a, c])).status).toBe(204);
    expect(await categoriesOf(a)).toEqual(['gifts']);
    expect(await versions()).toEqual({ A: 3, B: 2, C: 3 });
    expect(await lists()).toEqual(['Categories 0 -', 'tea 1 B', 'gifts 2 A,B']);
    expect((await unassign([tea], [a])).status).toBe(204);
    expect(await versions()).toEqual({ A: 3, B: 2, C: 3 });
    // The next one is the last, whatever was taken away before.
    await assign([tea], [a]);
    expect(await categoriesOf(a)).toEqual(['gifts', 'tea']);
  });

  test('as JSON, with one id or a list of them', async () => {
    const [tea, gifts] = [await givenCategory('tea'), await givenCategory('gifts')];
    const product = await givenProduct('A');
    const send = (body: unknown) =>
      service.call('POST', '/Harbour/product-category-assignments', { token, body });
    expect((await send({ categoryId: gifts, productId: product })).status).toBe(204);
    expect((await send({ categoryId: [gifts, tea], productId: [product] })).status).toBe(204);
    expect(await categoriesOf(product)).toEqual(['gifts', 'tea']);
  });

  test('an unknown id refuses all of it, a missing one is named', async () => {
    const tea = await givenCategory('tea');
    const product = await givenProduct('A');
    const nobody = newId(new Date());
    const theirs = (await service.call('GET', '/Other/categories')).body[0].categoryId;
    const theirProduct = await givenProduct('X', undefined, 'Other');
    for (const send of [assign, unassign]) {
      for (const id of [nobody, 'nonsense', '']) {
        expect(await refusal(() => send([tea, id], [product]))).toEqual(NOT_FOUND);
        expect(await refusal(() => send([tea], [product, id]))).toEqual(NOT_FOUND);
      }
      expect(await refusal(() => send([tea, theirs], [product]))).toEqual(NOT_FOUND);
      expect(await refusal(() => send([tea], [product, theirProduct]))).toEqual(NOT_FOUND);
      const action = send === assign ? 'Assign products' : 'Unassign products';
      expect(await refusal(() => send([tea], []))).toEqual(problem(action, 'MISSING', 'productId'));
      expect(await refusal(() => send([], [product]))).toEqual(problem(action, 'MISSING', 'categoryId'));
    }
  });

  test('a variation stands for its master', async () => {
    const [tea, gifts] = [await givenCategory('tea'), await givenCategory('gifts')];
    const master = await givenProduct('M');
    await service.db.run(sql`update product set kind = 'master' where product_id = ${master}`);
    const [small, large] = [await givenProduct('S', master), await givenProduct('L', master)];
    await assign([tea, gifts], [small, large]);
    expect([await categoriesOf(small), await categoriesOf(master)]).toEqual([
      ['tea', 'gifts'],
      ['tea', 'gifts'],
    ]);
    expect(await lists()).toEqual(['Categories 0 -', 'tea 1 M', 'gifts 1 M']);
    expect(await versions()).toMatchObject({ M: 2 });
    await unassign([tea], [large]);
    expect(await categoriesOf(small)).toEqual(['gifts']);
  });

  test('up to 1,000 ids each, and 10,000 pairs', async () => {
    const tea = await givenCategory('tea');
    const product = await givenProduct('A');
    const repeated = (id: string, count: number) => Array.from({ length: count }, () => id);
    expect((await assign(repeated(tea, 1000), repeated(product, 1000))).status).toBe(204);
    expect(await categoriesOf(product)).toEqual(['tea']);
    expect(await refusal(() => assign(repeated(tea, 1001), [product]))).toEqual(
      problem('Assign products', 'TOO_LONG', 'categoryId'),
    );
    expect(await refusal(() => assign([tea], repeated(product, 1001)))).toEqual(
      problem('Assign products', 'TOO_LONG', 'productId'),
    );
    const strangers = (count: number) => Array.from({ length: count }, () => newId(new Date()));
    expect(await refusal(() => assign(strangers(101), strangers(100)))).toEqual([
      400,
      'These are more than 10000 pairs of a category and a product',
    ]);
  });

  test('at once keep an order, and lists that are true', async () => {
    const categories = [];
    for (let index = 0; index < 6; index++) categories.push(await givenCategory(`c${index}`));
    const [a, b] = [await givenProduct('A'), await givenProduct('B')];
    const answers = await Promise.all(
      categories.flatMap((id) => [assign([id], [a, b]), assign([id], [b, a]), unassign([id], [a])]),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204));
    const positions = await service.db.many<{ position: number }>(sql`
      select position from product_category where product_id = ${b} order by position`);
    expect(new Set(positions.map(({ position }) => position)).size).toBe(6);
    expect(await categoriesOf(b)).toHaveLength(6);
    const inOf = await categoriesOf(a);
    expect(await lists()).toEqual([
      'Categories 0 -',
      ...[0, 1, 2, 3, 4, 5].map((index) =>
        inOf.includes(`c${index}`) ? `c${index} 2 A,B` : `c${index} 1 B`,
      ),
    ]);
  });
});
