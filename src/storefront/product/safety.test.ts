import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenProduct, givenSmallShop, NOW, type Shop } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { givenVisitor, mainOf } from '../../../test/visitor.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';

let service: Service;
let shop: Shop;

const RESPONSIBLE = {
  name: 'Harbour Imports GmbH',
  address: 'Kai 4\n20457 Hamburg',
  contact: 'eu@harbour.example',
};

beforeAll(async () => {
  service = await startService();
  service.setClock(NOW);
  shop = await givenSmallShop(service, {
    locales: { default: 'en_GB', items: ['en_GB', 'de_DE'] },
    manufacturers: [
      {
        name: 'Beacon',
        company: 'Beacon Appliances Ltd',
        address: '4 Quay Road, Dover',
        contact: 'https://beacon.example/safety',
        responsiblePerson: RESPONSIBLE,
        safetyText: { en_GB: 'Gets hot.', de_DE: 'Wird heiß.' },
      },
    ],
  });
});
afterAll(() => service.close());

let numbers = 0;

/** The product as the API shows it, and its page. */
async function shown(facts: ProductFacts, language = '') {
  const number = `S-${++numbers}`;
  const id = await givenProduct(shop, { number, facts });
  const { body } = await service.call('GET', `/${shop.shopId}/products/${id}`);
  const page = await givenVisitor(service, shop.shopId).get(`/Products/${number}${language}`);
  return { safetyInfo: body.safetyInfo, page, text: mainOf(page) };
}

describe('the safety data of a product', () => {
  test('are those of its manufacturer', async () => {
    const { safetyInfo, text, page } = await shown({ manufacturer: 'BEACON' });
    expect(safetyInfo).toEqual({
      manufacturer: {
        name: 'Beacon Appliances Ltd',
        address: '4 Quay Road, Dover',
        contact: 'https://beacon.example/safety',
      },
      responsiblePerson: RESPONSIBLE,
      text: 'Gets hot.',
    });
    expect(text).toContain(
      'Product safety Gets hot. Manufacturer Beacon Appliances Ltd 4 Quay Road, Dover https://beacon.example/safety Responsible person in the EU Harbour Imports GmbH Kai 4 20457 Hamburg eu@harbour.example',
    );
    expect(page.text).toContain('<a href="mailto:eu@harbour.example">');
  });

  test.each([
    ['', 'Pier 1 Hamburg Germany'],
    ['?locale=de_DE', 'Pier 1 Hamburg Deutschland'],
  ])('name the country in the language of the page%s', async (language, address) => {
    const manufacturer = { name: 'Tide', address: 'Pier 1\nHamburg\nGermany', contact: 'tide@mail.example' };
    const { text } = await shown({ safety: { manufacturer } }, language);
    expect(text).toContain(`Tide ${address} tide@mail.example`);
  });

  test('are its own, where it has any, and nothing is linked that is no address', async () => {
    const manufacturer = { name: 'Tide <b>', address: 'Pier 1', contact: 'javascript:alert(1)' };
    const { safetyInfo, page } = await shown({ manufacturer: 'Beacon', safety: { manufacturer } });
    expect(safetyInfo).toMatchObject({ manufacturer, responsiblePerson: RESPONSIBLE, text: 'Gets hot.' });
    expect(page.text).toContain('Tide &lt;b&gt;');
    expect(page.text).not.toContain('href="javascript');
  });

  test('are nothing where nobody has said anything', async () => {
    const { safetyInfo, text } = await shown({ manufacturer: 'Another' });
    expect(safetyInfo).toBeUndefined();
    expect(text).not.toContain('Product safety');
  });
});
