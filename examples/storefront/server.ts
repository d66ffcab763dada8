/**
 * A storefront of a hundred lines: products, a cart, an order. Start Kontor, then this, and open http://localhost:3000:
 *
 *     npx tsx examples/storefront/server.ts
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createClient, KontorError, type AddressRequest, type Cart, type Product } from '@kontor/client';

const { KONTOR_URL = 'http://localhost:8080', SHOP = 'DemoShop', PORT = '3000' } = process.env;
const { ACCESS_TOKEN = 'demo-all' } = process.env; // with the scope orders_write; it never leaves this server

/** What is asked for an order: the field of the API, and what the form says. */
const ADDRESS = {
  firstName: 'First name',
  lastName: 'Last name',
  street: 'Street and number',
  zipCode: 'Postcode',
  city: 'City',
  country: 'Country (DE, GB, …)',
  emailAddress: 'Email',
} satisfies Partial<Record<keyof AddressRequest, string>>;

export const server = createServer(async (request, response) => {
  try {
    send(response, await answer(request, response));
  } catch (error) {
    const isRefusal = error instanceof KontorError;
    if (!isRefusal) console.error(error);
    response.statusCode = isRefusal ? error.status : 500;
    send(response, `<p>${isRefusal ? escaped(error.message) : 'Something went wrong here.'}</p>`);
  }
}).listen(Number(PORT), () => console.log(`http://localhost:${PORT}`));

/** The content of a page; undefined: the visitor goes on to the cart. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://storefront');
  const { shop, cartId } = shopOf(request, response);
  const cart = { params: { path: { cartId } } };
  const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : undefined;

  if (pathname === '/cart' && form) {
    const line = { productId: form.get('productId') ?? '', quantity: 1 };
    if (cartId === '') await shop.POST('/rs/shops/{shopId}/carts', { body: { lineItems: [line] } });
    else await shop.POST('/rs/shops/{shopId}/carts/{cartId}/line-items', { ...cart, body: line });
    return undefined;
  }
  if (pathname === '/order' && form) {
    const body = Object.fromEntries(Object.keys(ADDRESS).map((field) => [field, form.get(field) ?? '']));
    await shop.PUT('/rs/shops/{shopId}/carts/{cartId}/billing-address', { ...cart, body });
    const { orderNumber } = await shop.POST('/rs/shops/{shopId}/carts/{cartId}/order', cart);
    response.setHeader('set-cookie', 'cart=; Path=/; Max-Age=0');
    return `<h1>Thank you!</h1><p>Your order has the number ${escaped(orderNumber)}.</p>`;
  }
  if (pathname === '/cart' && cartId === '') return '<p>Your cart is empty.</p>';
  if (pathname === '/cart') return cartPage(await shop.GET('/rs/shops/{shopId}/carts/{cartId}', cart));
  const q = searchParams.get('q') ?? '';
  const { items } = await shop.GET('/rs/shops/{shopId}/products', { params: { query: { q } } });
  return `<h1>Products</h1><form><input name="q" value="${escaped(q)}"> <button>Search</button></form>
    <ul>${items.map(productEntry).join('')}</ul>`;
}

/** The visitor's cart and its token are in a cookie, which no script can read: each request has a client of its own. */
function shopOf(request: IncomingMessage, response: ServerResponse) {
  const [, cartId = '', token] = /\bcart=([\w-]+)\.([\w-]+)/.exec(request.headers.cookie ?? '') ?? [];
  const cartTokens = {
    get: (id: string) => (id === cartId ? token : undefined),
    set: (id: string, token: string) =>
      response.setHeader('set-cookie', `cart=${id}.${token}; Path=/; HttpOnly; SameSite=Lax`),
  };
  const options = { baseUrl: KONTOR_URL, shopId: SHOP, accessToken: ACCESS_TOKEN, cartTokens };
  return { shop: createClient(options), cartId };
}

function productEntry({ productId, name, priceInfo, forSale, productVariationType }: Product): string {
  const add = `<button name="productId" value="${escaped(productId)}">Add to cart</button>`;
  // Of a product with variations, one of them would have to be chosen.
  const form = forSale && productVariationType !== 'master' ? add : '';
  return `<li><form method="post" action="/cart">${escaped(name)} ${priceInfo.price?.formatted ?? ''} ${form}</form>`;
}

function cartPage({ lineItemContainer: { productLineItems, shippingPrice, grandTotal } }: Cart): string {
  const lines = productLineItems.map(
    ({ name, quantity, lineItemPrice }) =>
      `<li>${quantity.amount} × ${escaped(name)} ${lineItemPrice.formatted}`,
  );
  const input = ([name, label]: string[]) => `<p><label>${label} <input name="${name}" required></label>`;
  return `<h1>Cart</h1><ul>${lines.join('')}</ul><p>Delivery ${shippingPrice.formatted}
    <p>Total ${grandTotal.formatted}
    <form method="post" action="/order">${Object.entries(ADDRESS).map(input).join('')}<p><button>Buy now</button></form>`;
}

function send(response: ServerResponse, page: string | undefined): void {
  if (page === undefined) return void response.writeHead(303, { location: '/cart' }).end();
  response.setHeader('content-type', 'text/html; charset=utf-8');
  const head = '<meta name="viewport" content="width=device-width"><title>Storefront</title>';
  response.end(`<!doctype html>${head}<a href="/">Shop</a> <a href="/cart">Cart</a> ${page}`);
}

const escaped = (value: string) => value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
