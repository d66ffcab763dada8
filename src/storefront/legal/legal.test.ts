import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import { sql } from '../../db/sql.ts';
import { PAGES } from '../../shops/legal/schema.ts';

let service: Service;

beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

const read = (path: string, shopId = 'DemoShop') => givenVisitor(service, shopId).get(path);

async function put(shopId: string, page: string, locale: string, content: object): Promise<void> {
  await service.db.run(sql`
    insert into legal_page (shop_id, page, locale, content) values (${shopId}, ${page}, ${locale}, ${content})
    on conflict (shop_id, page, locale) do update set content = excluded.content`);
  await service.db.run(sql`
    update shop set settings_version = settings_version + 1 where shop_id = ${shopId}`);
}

describe('a legal page', () => {
  test.each(PAGES.map(({ page }) => page))('%s has its name as heading and its text', async (page) => {
    const { content } = (await service.db.one<{ content: { name: string; description: string } }>(sql`
      select content from legal_page where shop_id = 'DemoShop' and page = ${page} and locale = 'en_GB'`))!;
    const answer = await read(`/legal/${page}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`<h1>${content.name}</h1>`);
    expect(answer.text).toContain(content.description);
    expect(answer.text).toContain(
      `<link rel="canonical" href="http://localhost/shop/DemoShop/legal/${page}" />`,
    );
  });

  test('is in the language that is asked for', async () => {
    const { status, text } = await read('/legal/contact-information?locale=de_DE');
    expect(status).toBe(200);
    expect(text).toContain('<html lang="de-DE">');
    expect(text).toContain('<h1>Impressum</h1>');
    expect(text).toContain('<p>Wir antworten innerhalb eines Werktags.</p>');
  });

  test('about contacts says whom to ask and where', async () => {
    const answer = await read('/legal/contact-information');
    expect(mainOf(answer)).toBe(
      'Contact information We answer within one working day. Address Harbour & Hearth Speicherweg 4 20457 Hamburg ' +
        'Germany Contact person Ina Feldkamp, Owner Phone +49 40 5550150 Email hello@harbour-hearth.example ' +
        'Harbour & Hearth, owner: Ina Feldkamp. VAT id DE811907980.',
    );
    expect(answer.text).toContain('href="tel:+49405550150"');
    expect(answer.text).toContain('href="mailto:hello@harbour-hearth.example"');
  });

  test('without a text in this language says so and offers the default one', async () => {
    const answer = await read('/legal/shipping-information?locale=fr_FR');
    expect(answer.status).toBe(200);
    expect(mainOf(answer)).toBe(
      'Livraison Cette page n’a pas de texte dans cette langue. Lire cette page dans cette langue : anglais',
    );
    expect(answer.text).toContain('href="/shop/DemoShop/legal/shipping-information?locale=en_GB"');
    expect(answer.text).toContain('<meta name="robots" content="noindex" />');
  });

  test('without a text in any language offers none', async () => {
    const answer = await read('/legal/privacy-policy', 'EmptyShop');
    expect(answer.status).toBe(200);
    expect(mainOf(answer)).toBe('Datenschutz Diese Seite hat in dieser Sprache keinen Text.');
  });

  test('shows a change at once', async () => {
    await put('DemoShop', 'cookie-policy', 'en_GB', {
      name: 'Biscuits',
      description: '<p>We bake them.</p>',
    });
    const answer = await read('/legal/cookie-policy');
    expect(mainOf(answer)).toBe('Biscuits We bake them.');
    expect(answer.text).toContain('>Biscuits</a>');
  });

  test('holds no scripts, whatever the merchant wrote', async () => {
    await givenShop(service, 'Pier');
    await put('Pier', 'contact-information', 'en_GB', {
      name: 'Ask <b>us</b>',
      company: '<script>alert(1)</script>',
      address: '<p>Quay 1<img src=x onerror=alert(1)></p>',
      email: '"><script>alert(1)</script>@x',
      description:
        '<p onclick="alert(1)">Come <em>in</em>.</p><script>alert(1)</script><a href="javascript:alert(1)">x</a>',
    });
    const { text } = await read('/legal/contact-information', 'Pier');
    expect(text).toContain('<h1>Ask &lt;b&gt;us&lt;/b&gt;</h1>');
    expect(text).toContain('<p>Come <em>in</em>.</p>');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toMatch(/<script>|onerror|onclick|javascript:/);
  });

  test.each(['/legal/unknown', '/legal/', '/legal/privacy-policy%00', '/legal/constructor'])(
    '%s does not exist',
    async (path) => {
      expect((await read(path)).status).toBe(404);
    },
  );

  test("of a shop that does not exist, or of another shop's text, is not shown", async () => {
    expect((await read('/legal/privacy-policy', 'Unknown')).status).toBe(404);
    expect((await read('/legal/contact-information', 'EmptyShop')).text).not.toContain('Ina Feldkamp');
  });
});
