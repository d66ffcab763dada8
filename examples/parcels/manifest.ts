/** /.well-known/kontor-app.json */
export const manifest = {
  manifest: 1,
  name: 'Parcels',
  description: {
    en: 'Rates at the checkout, labels and return labels, by Sendcloud.',
    de: 'Versandkosten an der Kasse, Versand- und Retourenetiketten, über Sendcloud.',
    fr: 'Tarifs lors de la commande, étiquettes d’envoi et de retour, par Sendcloud.',
  },
  registerUrl: '/kontor/register',
  installUrl: '/kontor/install',
  scopes: ['orders_read', 'orders_write', 'carts_read'],
  blocks: [
    {
      name: 'labels',
      place: 'order',
      title: { en: 'Parcels', de: 'Pakete', fr: 'Colis' },
      url: '/page.html',
      height: 160,
    },
  ],
  actions: [
    {
      name: 'create',
      title: { en: 'Create labels', de: 'Etiketten erstellen', fr: 'Créer des étiquettes' },
      url: '/many.html',
      maxOrders: 50,
    },
  ],
  calls: [
    {
      kind: 'deliveryOptions',
      url: '/kontor/delivery',
      timeoutMs: 800,
      cacheSeconds: 300,
      onFailure: 'hide',
    },
  ],
  settings: [
    { name: 'publicKey', kind: 'text', label: { en: 'Public key of Sendcloud' } },
    { name: 'secretKey', kind: 'secret', label: { en: 'Secret key of Sendcloud' } },
    {
      name: 'options',
      kind: 'text',
      label: { en: 'Shipping options' },
      hint: { en: 'Codes of Sendcloud with commas between them, such as postnl:standard, dhl:parcel.' },
    },
    { name: 'returnOption', kind: 'text', label: { en: 'Shipping option of returns' } },
    { name: 'name', kind: 'text', label: { en: 'Name of the sender' } },
    { name: 'street', kind: 'text', label: { en: 'Street' } },
    { name: 'houseNumber', kind: 'text', label: { en: 'House number' } },
    { name: 'zipCode', kind: 'text', label: { en: 'Postal code' } },
    { name: 'city', kind: 'text', label: { en: 'City' } },
    { name: 'country', kind: 'text', label: { en: 'Country, as two letters' } },
  ],
};
