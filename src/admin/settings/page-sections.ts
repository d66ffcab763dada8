import type { SectionName } from '../../shops/settings/schema.ts';

/** The sections of the settings file that each page shows as one form, in their order. */
export const PAGE_SECTIONS = {
  shop: ['name', 'slogan', 'email', 'country', 'accessibility'],
  invoices: ['invoicing', 'accounting'],
  languages: ['locales', 'currencies'],
  domains: ['domains'],
  taxes: ['taxes', 'taxClasses', 'netPrices'],
  shipping: ['shippingMethods', 'countries', 'deliveryTimes', 'carriers'],
  payments: ['paymentMethods'],
  orders: [
    'minimumCart',
    'basketDiscounts',
    'sellBeyondStock',
    'backorderReadyEmails',
    'maxPerOrder',
    'lowStockLevel',
    'emailNewOrders',
    'mandatoryAddressFields',
    'orderPage',
    'returns',
    'withdrawal',
  ],
  promotions: ['promotions'],
  priceLists: ['priceLists'],
  catalogue: [
    'showFromPrices',
    'categoriesShowSubcategories',
    'publicCatalogue',
    'crossSellingTitle',
    'manufacturers',
    'units',
    'reviews',
  ],
  customers: ['customerGroups', 'visibility', 'quickOrder', 'newsletters'],
  feeds: ['feeds'],
  assistants: ['assistants'],
  theme: ['theme', 'logoUrl'],
  home: ['home'],
  menus: ['menus'],
  emails: ['emailNewOrders', 'dailyEmailsPerRecipient'],
  law: ['producerRegistrations'],
  privacy: ['appScripts'],
} as const satisfies Readonly<Record<string, readonly SectionName[]>>;

export type SectionPageName = keyof typeof PAGE_SECTIONS;
