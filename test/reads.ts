import type { Shop } from './operations.ts';

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  cartToken?: string;
}

/** Everything that can be read of a shop like the demo shop, thing by thing. */
export async function readsOf({ service, shopId, token }: Shop): Promise<Request[]> {
  const get = (path: string): Request => ({ method: 'GET', path: `/${shopId}${path}` });
  const manage = (path: string): Request => ({ method: 'GET', path: `/manage/shops/${shopId}${path}` });

  const idsIn = async (path: string, name: string) => {
    const { body } = await service.call('GET', `/${shopId}${path}`, { token });
    return [body.items ?? body].flat().map((item: Record<string, string>) => item[name]!);
  };
  const products = await idsIn('/products?resultsPerPage=100', 'productId');
  const orders = await idsIn('/orders?resultsPerPage=100', 'orderId');
  const customers = await idsIn('/customers?resultsPerPage=100', 'customerId');
  const [root] = await idsIn('/categories', 'categoryId');
  return [
    get(''),
    get('/products?resultsPerPage=100'),
    get('/products?resultsPerPage=100&locale=de_DE&currency=GBP&sort=price'),
    get('/products?q=coffee'),
    get('/search/product-suggest?query=cof'),
    { method: 'POST', path: `/${shopId}/search/products`, body: { query: 'coffee' } },
    get('/categories'),
    get(`/categories/${root}`),
    get('/producttypes'),
    get('/orders?resultsPerPage=100&include=lineItems'),
    get('/customers?resultsPerPage=100'),
    get('/carts'),
    get('/sales'),
    get('/tax-model'),
    get('/tax-classes'),
    get('/shipping-methods'),
    get('/currencies'),
    get('/locales'),
    get('/countries'),
    get('/legal'),
    get('/newsletter-campaigns'),
    get('/script-tags'),
    get('/watched-products'),
    get('/products/export'),
    ...products.flatMap((id) => [
      get(`/products/${id}`),
      get(`/products/${id}?locale=de_DE&currency=GBP`),
      get(`/products/${id}/variations`),
      get(`/products/${id}/crossselling`),
      get(`/products/${id}/slideshow`),
      get(`/products/${id}/custom-attributes`),
      get(`/products/${id}/lowest-price`),
    ]),
    ...orders.flatMap((id) => [
      get(`/orders/${id}`),
      get(`/orders/${id}/documents`),
      manage(`/orders/${id}`),
      manage(`/orders/${id}/history`),
    ]),
    ...customers.map((id) => get(`/customers/${id}`)),
  ];
}
