import type { Page } from 'playwright-core';
import type { Browsing } from '../browser.ts';
import { givenCart } from '../carts.ts';
import type { Service } from '../service.ts';

/** What the summary of a cart or an order says, from the goods to the tax. */
export async function sums(page: Page): Promise<Record<string, string>> {
  const list = page.locator('dl.summary').last();
  const texts = async (tag: 'dt' | 'dd') =>
    (await list.locator(tag).allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' '));
  const [names, prices] = await Promise.all([texts('dt'), texts('dd')]);
  return Object.fromEntries(names.map((name, index) => [name, prices[index]!]));
}

export async function typeAddress(page: Page, address: Record<string, string>): Promise<void> {
  for (const [field, text] of Object.entries(address)) {
    await page.locator(`[name="billing.${field}"]`).fill(text);
  }
}

export const ADA = {
  emailAddress: 'ada.lindqvist@mail.example',
  firstName: 'Ada',
  lastName: 'Lindqvist',
  street: 'Kai 7',
  zipCode: '20457',
  city: 'Hamburg',
};

/** A cart that an app has made through the API, with products of the demo shop by their numbers. */
async function givenDemoCart(service: Service, quantities: Readonly<Record<string, number>>) {
  const ids: Record<string, string> = {};
  for (const number of Object.keys(quantities)) {
    const { body } = await service.call('GET', `/DemoShop/products?q=${number}`);
    ids[number] = body.items[0].productId;
  }
  return givenCart({ service, shopId: 'DemoShop', token: 'demo-all', ids }, quantities);
}

/** An order of Ada's, of two products, to be paid in advance. */
export async function givenOrder(service: Service): Promise<{ orderId: string; orderNumber: string }> {
  const cart = await givenDemoCart(service, { 'KN-110': 1, 'TE-100': 2 });
  const at = `/DemoShop/carts/${cart.id}`;
  const options = { token: 'demo-all', cartToken: cart.token };
  await service.call('PUT', `${at}/billing-address`, { ...options, body: { ...ADA, country: 'DE' } });
  return (await service.call('POST', `${at}/order`, options)).body;
}

/** The link to a cart that an app has made through the API. */
export async function checkoutUrlOf(
  { service, origin }: Browsing,
  quantities: Readonly<Record<string, number>>,
): Promise<string> {
  const { body } = await givenDemoCart(service, quantities);
  // The call came from no host, so the link names none that listens.
  const { pathname, search } = new URL(body.checkoutUrl);
  return origin + pathname + search;
}
