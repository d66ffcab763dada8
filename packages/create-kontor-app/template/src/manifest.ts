/** What the app is called, what it may see, and what it adds to a shop: /.well-known/kontor-app.json. */
export const manifest = {
  manifest: 1,
  name: '{{NAME}}',
  description: { en: 'Shows the newest orders, and offers a delivery by bike.' },
  registerUrl: '/kontor/register',
  installUrl: '/kontor/install',
  scopes: ['orders_read', 'carts_read'],
  webhooks: [{ eventType: 'ORDER_CREATE', url: '/kontor/hook' }],
  pages: [{ name: 'orders', title: { en: 'Newest orders' }, url: '/page.html' }],
  calls: [
    {
      kind: 'deliveryOptions',
      url: '/kontor/delivery',
      timeoutMs: 500,
      cacheSeconds: 60,
      onFailure: 'hide',
    },
  ],
};
